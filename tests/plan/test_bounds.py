"""Scope, blocking, state and guarantees of each operator at each level (Figures 8 and 9; R15, R33 to R37)."""

from __future__ import annotations

import pytest

from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.time import FOREVER, HOUR, MINUTE, SECOND
from cedr.plan import logical
from cedr.plan.analyses.bounds import bounds_of, guarantee, in_words, longest_blocking, scope, state_held, undecided_for
from cedr.plan.analyses.lifetimes import lifetime
from cedr.plan.compile import compile_text
from cedr.plan.logical import Node

DIAL = ConsistencyLevel(Bound(2 * SECOND), Bound(10 * MINUTE))
SERVER = ConsistencyLevel(Bound(2 * SECOND, cedr_time=True), Bound(10 * MINUTE, cedr_time=True))
REVISABLE = "TYPE R (k INTEGER) REVISABLE FOR 1 hour; TYPE S (k INTEGER) REVISABLE;"


def operator(text: str) -> Node:
    """The topmost operator of a query that is no OUTPUT."""
    plan = list(compile_text(text, EventTypes(open=True)).queries.values())[-1].plan
    return next(n for n in logical.walk(plan) if not isinstance(n, logical.Query | logical.Project))


def when(pattern: str) -> Node:
    return operator(f"{REVISABLE} EVENT E WHEN {pattern}")


def over(body: str) -> Node:
    return operator(f"{REVISABLE} EVENT E FROM {body}")


SCOPES = {
    "SEQUENCE(A a, B b, 5)": 5,
    "SEQUENCE(A a, SEQUENCE(B b, C c, 7), 5)": 12,
    "UNLESS(SEQUENCE(A a, B b, 12 hours), C c, 5 minutes)": 12 * HOUR + 5 * MINUTE,
    "UNLESS(A a, SEQUENCE(B b, C c, 7), 1, 5)": 12,
    "NOT(C c, SEQUENCE(A a, B b, 5))": 5,
    "NOT(SEQUENCE(C c, D d, 3), SEQUENCE(A a, B b, 5))": 8,
    "CANCEL-WHEN(SEQUENCE(A a, B b, 5), C c)": 5,
    "CANCEL-WHEN(A a, C c)": 0,
    "ATMOST(2, A a, B b, 5)": 5,
    "ANY(A a, B b)": None,
    "ATLEAST(1, A a, B b, 5)": None,
    "ALL(A a, B b, FOREVER)": FOREVER,
}


@pytest.mark.parametrize(("pattern", "expected"), SCOPES.items())
def test_r37_scopes_are_added_up(pattern: str, expected: int | None) -> None:
    assert scope(when(pattern)) == expected


LIFETIMES = {
    "A AS a": FOREVER,
    "A AS a WINDOW MOVING 5": 5,
    "A AS a WINDOW HOPPING 6 EVERY 2": 6,
    "A AS a WINDOW HOPPING 5 EVERY 2": 6,
    "A AS a WINDOW TUMBLING 6": 6,
    "A AS a WINDOW INSERTS": FOREVER,
    "A AS a WINDOW LIFETIME a.Ve, 3": 3,
    "A AS a WINDOW LIFETIME a.Vs, a.Ve - a.Vs": FOREVER,
    "A AS a WINDOW LIFETIME a.Vs, a.length": FOREVER,
    "(FROM A AS a WINDOW MOVING 5 OUTPUT a.k AS k) AS s JOIN B AS b ON s.k = b.k": 5,
    "(FROM A AS a WINDOW MOVING 5 OUTPUT a.k AS k) AS s UNION B AS b": FOREVER,
    "A AS a GROUP BY a.k OUTPUT COUNT(*) AS n": FOREVER,
}


@pytest.mark.parametrize(("body", "expected"), LIFETIMES.items())
def test_r31_how_long_rows_can_live(body: str, expected: int) -> None:
    assert lifetime(over(body)) == expected


def test_lifetimes_of_patterns_are_their_scopes() -> None:
    assert lifetime(when("SEQUENCE(A a, B b, 5)")) == 5
    assert lifetime(when("ANY(A a)")) == 1
    assert lifetime(when("NOT(C c, SEQUENCE(A a, B b, 5))")) == 5
    assert lifetime(when("SEQUENCE(A a, B b, 5) VALID FOREVER")) == FOREVER


BLOCKING = {
    "SEQUENCE(A a, B b, 5 minutes)": "until the guarantee reaches it",
    "UNLESS(A a, B b, 5 minutes)": "until the guarantee is 5 minutes past it",
    "UNLESS(A a, B b, 1, 5 minutes)": "until the guarantee reaches it",
    "SEQUENCE(A a, LAST B b, 5 minutes)": "until the guarantee is 5 minutes past it",
    "SEQUENCE(LAST A a, B b, 5 minutes)": "until the guarantee reaches it",
    "ALL(LAST A a, B b, 5 minutes)": "until the guarantee is 5 minutes past it",
    "UNLESS(UNLESS(A a, B b, 9 minutes), C c, 5 minutes)": "until the guarantee is 9 minutes past it",
    "UNLESS(A a, UNLESS(B b, C c, 9 minutes), 5 minutes)": "until the guarantee is 14 minutes past it",
    "SEQUENCE(A a, B b, 5) WHERE {a.Ve > b.Ve}": "until the guarantee reaches its end",
}


@pytest.mark.parametrize(("pattern", "expected"), BLOCKING.items())
def test_r33_strong_waits_for_guarantees(pattern: str, expected: str) -> None:
    assert longest_blocking(when(pattern), STRONG).text == expected


def test_r33_other_levels_wait_at_most_b() -> None:
    unless = when("UNLESS(A a, B b, 5 minutes)")
    assert longest_blocking(unless, MIDDLE).text == "none"
    assert longest_blocking(unless, WEAK).duration == 0
    assert longest_blocking(unless, DIAL).text == "at most 2 seconds"
    assert longest_blocking(unless, SERVER).text == "at most 2 seconds OF CEDR TIME"
    larger = ConsistencyLevel(Bound(FOREVER), Bound(MINUTE))
    assert longest_blocking(unless, larger).text == "at most 1 minute"


def test_r33_a_window_s_result_lies_ahead_of_its_events() -> None:
    """The first window that holds an event ends at most one hop after it; of a tumbling one that is its size."""
    window = over("A AS a WINDOW HOPPING 1 hour EVERY 5 minutes")
    assert longest_blocking(window, MIDDLE).text == "none; results begin up to 5 minutes after their events"
    assert "up to 5 minutes after" in longest_blocking(window, STRONG).text
    assert longest_blocking(window, DIAL).duration == 5 * MINUTE + 2 * SECOND
    assert longest_blocking(over("A AS a WINDOW TUMBLING 1 hour"), MIDDLE).duration == HOUR


STATE = {
    "SEQUENCE(A a, B b, 5 minutes)": ("5 minutes behind the guarantee", "15 minutes behind the newest Sync"),
    "ATMOST(2, A a, 5 minutes)": ("5 minutes behind the guarantee", "20 minutes behind the newest Sync"),
    "UNLESS(A a, B b, 1, 5 minutes)": ("5 minutes behind the guarantee", "20 minutes behind the newest Sync"),
    "ALL(FIRST A a, B b, 5 minutes)": ("15 minutes behind the guarantee", "25 minutes behind the newest Sync"),
    "SEQUENCE(R r, B b, 5 minutes)": ("1 hour 5 minutes behind the guarantee", "1 hour 5 minutes behind the guarantee"),
    "SEQUENCE(S s, B b, 5 minutes)": (
        "for ever: an input is REVISABLE without FOR",
        "for ever: an input is REVISABLE without FOR",
    ),
    "SEQUENCE(A a, B b, FOREVER)": ("for ever: the scope has no bound", "for ever: the scope has no bound"),
    "SEQUENCE(A a CONSUME, B b, 5 minutes)": ("5 minutes behind the guarantee", "5 minutes behind the guarantee"),
    "SEQUENCE(A a, B b, 5 minutes) DISJOINT": ("5 minutes behind the guarantee", "5 minutes behind the guarantee"),
    "ANY(A a)": ("none", "10 minutes behind the newest Sync"),
}


@pytest.mark.parametrize(("pattern", "remembering", "forgetting"), [(p, *s) for p, s in STATE.items()])
def test_r34_r37_how_long_state_is_held(pattern: str, remembering: str, forgetting: str) -> None:
    node = when(pattern)
    assert state_held(node, STRONG).text == state_held(node, MIDDLE).text == remembering
    assert state_held(node, DIAL).text == forgetting


def test_r34_memory_in_cedr_time() -> None:
    text = state_held(when("SEQUENCE(A a, B b, 5 minutes)"), SERVER).text
    assert text == "at most 10 minutes OF CEDR TIME + 5 minutes behind the newest Sync"


def test_state_of_the_algebra_is_what_is_alive() -> None:
    assert (
        state_held(over("A AS a GROUP BY a.k OUTPUT COUNT(*) AS n"), MIDDLE).text == "for as long as its rows are alive"
    )
    windowed = over("A AS a WINDOW MOVING 5 minutes GROUP BY a.k OUTPUT COUNT(*) AS n")
    assert state_held(windowed, MIDDLE).text == "5 minutes behind the guarantee"
    assert state_held(over("A AS a WINDOW MOVING 5"), MIDDLE).text == "none"


GUARANTEES = {
    "SEQUENCE(A a, B b, 5)": "g",
    "SEQUENCE(FIRST A a CONSUME, B b, 5) DISJOINT": "g",
    "NOT(C c, SEQUENCE(A a, B b, 5))": "g",
    "CANCEL-WHEN(A a, B b)": "g",
    "ATMOST(1, A a, 5)": "g",
    "UNLESS(A a, B b, 1, 5)": "g",
    "UNLESS(A a, B b, 5)": "min(g, smallest Sync of an undecided e1 - 1)",
    "SEQUENCE(A a, LAST B b, 5)": "min(g, smallest Sync of an undecided choice - 1)",
    "SEQUENCE(LAST A a, B b, 5)": "g",
    "ATLEAST(2, LAST A a, B b, C c, 5)": "min(g, smallest Sync of an undecided choice - 1)",
    "SEQUENCE(A a, B b, 5) WHERE {a.Ve > b.Vs}": "min(g, smallest Sync of a row whose open Ve is read - 1)",
}

WINDOW_GUARANTEES = {
    "MOVING 5": "g",
    "HOPPING 6 EVERY 2": "g",
    "DELETES": "g",
    "LIFETIME a.Vs - 3, 2": "g - 3",
    "LIFETIME GREATEST(a.Vs, 10), 2": "g",
    "LIFETIME a.Vs DIV 2 + 0, 2": "min(g, smallest start of an event with Vs > g - 1)",
    "LIFETIME a.due, 2": "none: the start depends on payload",
    "SESSION 5": "min(g, smallest Sync of an open session - 1)",
}


@pytest.mark.parametrize(("pattern", "expected"), GUARANTEES.items())
def test_r36_guarantees_of_patterns(pattern: str, expected: str) -> None:
    assert guarantee(when(pattern)) == expected


@pytest.mark.parametrize(("window", "expected"), WINDOW_GUARANTEES.items())
def test_r36_guarantees_of_windows(window: str, expected: str) -> None:
    due = "TYPE A (k INTEGER, due TIMESTAMP);"
    assert guarantee(operator(f"{due} EVENT E FROM A AS a WINDOW {window}")) == expected


def test_bounds_come_together() -> None:
    found = bounds_of(when("UNLESS(A a, B b, 5)"), MIDDLE)
    assert (found.scope, found.longest_blocking.duration, found.state_held.duration) == (5, 0, 5)
    assert undecided_for(when("UNLESS(A a, B b, 5)")) == 5


def test_durations_in_words() -> None:
    assert [in_words(d) for d in (0, 7, 90 * SECOND, 36 * HOUR, FOREVER, -HOUR)] == [
        "0",
        "7",
        "1 minute 30 seconds",
        "1 day 12 hours",
        "FOREVER",
        "-1 hours",
    ]
