"""Bounds of starts and lifetimes, held against what AlterLifetime gives (Definition 12; R19, R31)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.evaluate import evaluate
from cedr.expression.tree import Attribute, Binary, Call, Expression, Header, HeaderField, Literal
from cedr.model.event import primitive
from cedr.model.modes import JoinKind, Valid
from cedr.model.schema import DataType
from cedr.model.time import FOREVER
from cedr.plan import logical
from cedr.plan.analyses.lifetimes import (
    earliest_start,
    latest_start,
    lifetime,
    open_end,
    reads_open_end,
    starts_no_earlier,
)
from cedr.plan.logical import ROW
from cedr.plan.windows import altered
from tests.plan.plans import number
from tests.plan.templates import VE, VS, A, B, C, join, parameter, sequence, ticks


def whole(count: int) -> Literal:
    return Literal(count, DataType.INTEGER)


@st.composite
def starts(draw: st.DrawFn, depth: int = 2) -> Expression:
    """Expressions of the shapes that windows have."""
    if depth == 0:
        return draw(st.sampled_from((VS, VE, Header("x", HeaderField.VS), ticks(3))))
    inner, constant = draw(starts(depth - 1)), draw(st.integers(-4, 4))
    hop = draw(st.integers(1, 4))
    floored = Binary("DIV", inner, ticks(hop))
    return draw(
        st.sampled_from(
            (
                Binary("+", inner, ticks(constant)),
                Binary("+", ticks(constant), inner),
                Binary("-", inner, ticks(constant)),
                Binary("*", Binary("+", floored, whole(constant)), ticks(hop)),
                Binary("*", ticks(hop), Binary("-", floored, whole(constant))),
                Binary("*", floored, ticks(hop + 1)),
                Call("LEAST", (inner, draw(starts(depth - 1)))),
                Call("GREATEST", (inner, draw(starts(depth - 1)))),
            )
        )
    )


@given(start=starts(), vs=st.integers(-20, 20), length=st.integers(0, 9))
def test_starts_lie_between_their_bounds(start: Expression, vs: int, length: int) -> None:
    node = logical.AlterLifetime(A, start, ticks(1))
    event = primitive("A", "a", vs, vs + length)
    value = evaluate(start, {ROW: event, "x": event})
    assert isinstance(value, int)
    lowest, highest = earliest_start(node), latest_start(node)
    assert lowest is None or vs + lowest <= value
    assert highest is None or value <= vs + highest


@given(vs=st.integers(-20, 20), size=st.integers(1, 9), hop=st.integers(1, 9))
def test_hopping_windows_live_as_long_as_is_said(vs: int, size: int, hop: int) -> None:
    window = altered(A, "HOPPING", size, hop)
    assert isinstance(window, logical.AlterLifetime)
    event = primitive("A", "a", vs)
    duration = evaluate(window.duration, {ROW: event})
    assert isinstance(duration, int)
    assert duration <= lifetime(window) < size + hop
    assert starts_no_earlier(window)


LENGTHS: dict[str, tuple[Expression, int]] = {
    "constant": (ticks(4), 4),
    "none": (ticks(-4), 0),
    "lifetime": (Binary("-", VE, VS), 4),
    "from another start": (Binary("-", VE, Binary("-", VS, ticks(1))), FOREVER),
    "least": (Call("LEAST", (Binary("-", VE, VS), ticks(2))), 2),
    "between two bounds": (Binary("-", Binary("+", VS, ticks(5)), VS), 5),
    "of payload": (Attribute("x", "k", DataType.INTEGER), FOREVER),
    "of payload, minus": (Binary("-", Attribute("x", "k", DataType.INTEGER), ticks(1)), FOREVER),
    "hops of payload": (
        Binary("*", Binary("+", Binary("-", Attribute("x", "k"), Attribute("x", "v")), whole(1)), ticks(2)),
        FOREVER,
    ),
    "by payload": (Binary("*", Binary("+", Binary("-", VS, VS), whole(1)), Attribute("x", "k")), FOREVER),
}


@pytest.mark.parametrize(("duration", "expected"), LENGTHS.values(), ids=LENGTHS)
def test_r31_the_longest_lifetime_of_a_window(duration: Expression, expected: int) -> None:
    assert lifetime(logical.AlterLifetime(sequence(parameter(A), parameter(B)), VS, duration)) == expected


ON = number(1)
ENDS: dict[str, tuple[logical.Node, bool]] = {
    "a source's events may be shortened": (A, True),
    "a composite's end is said with it": (sequence(parameter(A), parameter(B)), False),
    "UNLESS too": (logical.Unless(A, B, 5), False),
    "NOT has the end of its sequence": (logical.Not(A, sequence(parameter(B), parameter(C))), False),
    "CANCEL-WHEN that of its first": (logical.CancelWhen(A, B), True),
    "VALID FOREVER": (logical.SetValid(A, Valid.FOREVER), False),
    "VALID WITH LAST": (logical.SetValid(sequence(parameter(A), parameter(B)), Valid.WITH_LAST), True),
    "a moving window": (altered(A, "MOVING", 5), True),
    "inserts never end": (altered(A, "INSERTS"), False),
    "deletes begin at an end": (altered(A, "DELETES"), True),
    "a join": (join(JoinKind.INNER, ON), True),
    "an anti join": (join(JoinKind.ANTI, ON), True),
    "a difference": (logical.Difference(A, B), True),
}


@pytest.mark.parametrize(("node", "expected"), ENDS.values(), ids=ENDS)
def test_r33_which_ends_may_still_move(node: logical.Node, expected: bool) -> None:
    assert open_end(node) is expected


def test_r36_whose_open_end_is_read() -> None:
    composite = logical.Rename(sequence(parameter(A), parameter(B)), "s")
    assert reads_open_end(Header("x", HeaderField.VE), composite)
    assert not reads_open_end(Header("s", HeaderField.VE), composite)
    assert not reads_open_end(Header("x", HeaderField.VS), composite)
    assert not reads_open_end(VE, composite)
    assert reads_open_end(VE, A)
