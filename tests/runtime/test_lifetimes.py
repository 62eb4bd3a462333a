"""Starts and durations as times; what AlterLifetime's expressions show.  Paper: Definition 12.  Readings: R31, R36."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from cedr.model.time import BEGINNING, FOREVER
from cedr.plan import logical
from cedr.plan.analyses import starts
from cedr.plan.compile import compile_text
from cedr.runtime.expressions.vector import of_values
from cedr.runtime.operators.algebra.lifetimes import lifetimes_of
from cedr.testing import strategies as some


def lifetimes(pairs: list[tuple[object, object]]) -> list[tuple[int, int, int]]:
    start, duration = (of_values(list(column)) for column in zip(*pairs, strict=True))  # type: ignore[arg-type]
    found = lifetimes_of(start, duration)
    return list(zip(found.places.tolist(), found.vs.tolist(), found.ve.tolist(), strict=True))


def test_no_lifetime_drops_the_row() -> None:
    assert lifetimes([(1, 0), (1, -1), (FOREVER, 5), (None, 5), (1, None), (1, 1)]) == [(5, 1, 2)]


def test_what_is_no_number_has_no_time() -> None:
    assert lifetimes([("a", 5), ("b", 5)]) == []
    assert lifetimes([(1, float("nan")), (float("nan"), 1)]) == []


def test_ends_stop_at_forever() -> None:
    assert lifetimes([(5, FOREVER), (FOREVER - 2, 5), (-5, FOREVER)]) == [
        (0, 5, FOREVER),
        (1, FOREVER - 2, FOREVER),
        (2, -5, FOREVER),
    ]


def test_numbers_are_rounded_down() -> None:
    assert lifetimes([(1.9, 2.5), (-1.5, 1.0)]) == [(0, 1, 3), (1, -2, -1)]
    assert lifetimes([(Decimal("1.9"), 2), (Decimal("-1.5"), 1)]) == [(0, 1, 3), (1, -2, -1)]


@pytest.mark.parametrize("huge", [1e300, float("inf"), Decimal("1e30"), 2**70])
def test_numbers_that_no_time_reaches(huge: object) -> None:
    assert lifetimes([(1, huge)]) == [(0, 1, FOREVER)]
    assert lifetimes([(huge, 1)]) == []
    assert lifetimes([(-huge, 1)]) == [(0, BEGINNING, BEGINNING + 1)]  # type: ignore[operator]


def altered(window: str) -> logical.AlterLifetime:
    plan = compile_text(f"EVENT Q FROM A AS a WINDOW {window}", some.small_catalog("A")).queries["Q"].plan
    return next(node for node in logical.walk(plan) if isinstance(node, logical.AlterLifetime))


@pytest.mark.parametrize(
    ("window", "before", "latest", "pins"),
    [
        ("MOVING 3", 7, 0, False),
        ("TUMBLING 3", 8, 3, False),  # an event at 8 is told at 9
        ("HOPPING 5 EVERY 2", 8, 2, False),
        ("DELETES", 7, 0, False),
        ("LIFETIME a.Vs - 2, 5", 5, -2, False),
        ("LIFETIME a.Vs + a.v, 5", BEGINNING, None, False),
        ("LIFETIME a.Vs, a.Ve - a.Vs - 5", 7, 0, True),
        ("LIFETIME GREATEST(a.Vs, a.Ve - 5), 5", 7, 0, True),
    ],
)
def test_what_expressions_show(window: str, before: int, latest: int | None, pins: bool) -> None:
    node = altered(window)
    assert (starts.last_before(node, 7), starts.latest_start(node), starts.pins_ends(node)) == (before, latest, pins)


@pytest.mark.parametrize("window", ["MOVING 3", "TUMBLING 3", "HOPPING 5 EVERY 2", "LIFETIME a.Vs + 5, 5"])
def test_nothing_starts_after_the_end_of_time(window: str) -> None:
    """R36: a start beyond all times is none, so that what was guaranteed for ever is guaranteed for ever."""
    assert starts.last_before(altered(window), FOREVER - 1) >= FOREVER - 1


def test_empty_columns() -> None:
    nothing = of_values([])
    assert not len(lifetimes_of(nothing, nothing).places)
    assert lifetimes_of(nothing, nothing).vs.dtype == np.int64
