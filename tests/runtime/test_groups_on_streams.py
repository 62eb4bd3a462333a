"""Operators that act by group, on hand-made streams: boundaries, revisions, and what is forgotten.

Paper: Section 6.  Readings: R9, R10, R29, R30, R31, R37, R45.  What is expected is written out; that the oracle says
the same is checked beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from cedr.model.event import primitive
from cedr.model.stream import Guarantee, Insert, Message, Retract
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan.compile import compile_text
from cedr.runtime.operators.contract import Line, Operator
from cedr.semantics.evaluate import evaluate
from cedr.testing import strategies as some
from tests.conformance.driving import Admission, Driven, look

CATALOG = some.small_catalog("A", "B", "C", revisable=FOREVER)
STEADY = some.small_catalog("A", "B", "C")

LEAST = "FROM A AS a GROUP BY a.k OUTPUT a.k AS k, MIN(a.v) AS least"
PRESENT = "FROM A AS a OUTPUT DISTINCT a.k AS k"
EXCEPT = "FROM (FROM A AS a OUTPUT a.k AS k) AS x EXCEPT (FROM B AS b OUTPUT b.k AS k) AS y"
SESSION = "FROM A AS a WINDOW SESSION 3 OUTPUT a.v AS v"
COALESCED = "FROM (FROM A AS a OUTPUT a.k AS k) AS x WINDOW COALESCED OUTPUT x.k AS k"
TOP = "FROM A AS a TOP 1 BY a.v OUTPUT a.v AS v"

Row = tuple[object, ...]


def event(name: str, vs: Time, ve: Time = FOREVER, k: int | None = 1, v: int = 1, os: Time | None = None) -> Insert:
    """A row of an event, which is named by its type and a number."""
    start = vs if os is None else os
    payload = {"k": k, "v": v, "s": "x"}
    return Insert(primitive(name[0], name, vs, ve, occurrence_start=start, payload=payload), f"{name}@{start}")


def closed(name: str, os: Time, *, ve: Time | None = None, oe: Time | None = None) -> Retract:
    """A row gets a smaller Ve, or a smaller Oe."""
    return Retract(f"{name}@{os}", oe, ve)


class Standing:
    """A query that runs, beside the oracle."""

    def __init__(self, text: str, *, revisable: bool = True) -> None:
        catalog = CATALOG if revisable else STEADY
        self.plan = compile_text(f"EVENT Q {text}", catalog).queries["Q"].plan
        self.driven = Driven(self.plan, Admission(catalog))
        self._time = 0

    def step(self, *messages: Message) -> Counter[Row]:
        """Take a batch in; the rows of the latest belief, as lifetime and payload."""
        self._time += 1
        self.driven.step(self.driven.admission.take(messages, self._time))
        meant = Counter(look(row) for row in evaluate(self.plan, self.driven.admission.tables()))
        assert self.driven.table() == meant
        return self.rows()

    def rows(self) -> Counter[Row]:
        """The rows of the latest belief."""
        latest = (row for row in self.driven.events() if row.occurrence_end == FOREVER)
        return Counter((row.valid_start, row.valid_end, *row.payload.values()) for row in latest)

    @property
    def operator(self) -> Operator:
        """What acts by group."""
        return next(v.operator for v in self.driven.dataflow.vertices if hasattr(v.operator, "groups"))


def rows(*expected: Sequence[object]) -> Counter[Row]:
    """Rows as tuples."""
    return Counter(map(tuple, expected))


# -- GROUP BY and DISTINCT --------------------------------------------------------------------------------------------


def test_rows_that_meet_and_have_equal_values_are_one() -> None:
    """Maximal intervals of equal value.  Reading: R30."""
    query = Standing(LEAST)
    assert query.step(event("A1", 1, 5, v=2), event("A2", 5, 9, v=2)) == rows((1, 9, 1, 2))
    assert query.step(event("A3", 3, 6, v=1)) == rows((1, 3, 1, 2), (3, 6, 1, 1), (6, 9, 1, 2))
    assert query.step(closed("A3", 3, ve=3)) == rows((1, 9, 1, 2))


def test_a_gap_between_rows_stays_a_gap() -> None:
    """No row where nothing is alive: the end is not part of a lifetime."""
    query = Standing(PRESENT)
    assert query.step(event("A1", 1, 4), event("A2", 5, 7)) == rows((1, 4, 1), (5, 7, 1))
    assert query.step(event("A3", 4, 5)) == rows((1, 7, 1))


def test_an_empty_lifetime_takes_no_part() -> None:
    """It is never alive."""
    assert Standing(LEAST).step(event("A1", 1, 5, v=2), event("A2", 3, 3, v=1)) == rows((1, 5, 1, 2))
    assert not Standing(PRESENT).step(event("A1", 3, 3))


def test_rows_that_end_together_leave_together() -> None:
    """The value changes once."""
    query = Standing(LEAST)
    assert query.step(event("A1", 1, 6, v=3), event("A2", 2, 6, v=2)) == rows((1, 2, 1, 3), (2, 6, 1, 2))


def test_null_is_a_group() -> None:
    """As in SQL."""
    query = Standing(LEAST)
    assert query.step(event("A1", 1, 6, k=None), event("A2", 2, 4, k=None, v=0)) == rows(
        (1, 2, None, 1), (2, 4, None, 0), (4, 6, None, 1)
    )


def test_a_late_row_changes_the_middle() -> None:
    """What lies before it and after it stays."""
    query = Standing(LEAST)
    before = query.step(event("A1", 1, v=5), event("A2", 10, v=4), event("A3", 20, v=3))
    kept = {look(row)[0]: row for row in query.driven.events()}
    after = query.step(event("A4", 12, 15, v=1))
    assert before == rows((1, 10, 1, 5), (10, 20, 1, 4), (20, FOREVER, 1, 3))
    assert after == rows((1, 10, 1, 5), (10, 12, 1, 4), (12, 15, 1, 1), (15, 20, 1, 4), (20, FOREVER, 1, 3))
    unchanged = [row for row in query.driven.events() if kept.get(row.id) == row]
    assert {row.valid_start for row in unchanged} == {1, 20}


def test_a_revision_moves_a_row_to_another_group() -> None:
    """The first version is believed up to the second one's Os.  Readings: R9, R10."""
    query = Standing(LEAST)
    query.step(event("A1", 1, 9, k=1), event("A2", 2, 8, k=2, v=4))
    assert query.step(event("A1", 1, 9, k=2, os=5)) == rows((1, 9, 2, 1))
    table = {
        (row.valid_start, row.valid_end, row.occurrence_start, row.occurrence_end) for row in query.driven.events()
    }
    assert table == {(1, 9, 1, 5), (2, 8, 2, 5), (1, 9, 5, FOREVER)}
    assert query.step(closed("A1", 5, oe=5)) == rows((1, 9, 1, 1), (2, 8, 2, 4))


def test_a_group_is_plain_again_when_its_revision_is_withdrawn() -> None:
    """Retracted to Oe = Os, it never was."""
    query = Standing(LEAST)
    query.step(event("A1", 1, 9, v=2))
    query.step(event("A1", 1, 9, v=1, os=4))
    query.step(event("A2", 3, 5, v=0))
    assert query.step(closed("A1", 4, oe=4)) == rows((1, 3, 1, 2), (3, 5, 1, 0), (5, 9, 1, 2))
    assert query.step(event("A3", 2, 6, v=1)) == rows(
        (1, 2, 1, 2), (2, 3, 1, 1), (3, 5, 1, 0), (5, 6, 1, 1), (6, 9, 1, 2)
    )


def test_ends_are_retracted() -> None:
    """A smaller Ve shortens, a Ve of Vs removes."""
    query = Standing(LEAST)
    query.step(event("A1", 1, v=2), event("A2", 3, v=1))
    assert query.step(closed("A2", 3, ve=6)) == rows((1, 3, 1, 2), (3, 6, 1, 1), (6, FOREVER, 1, 2))
    assert query.step(closed("A1", 1, ve=1)) == rows((3, 6, 1, 1))


# -- EXCEPT -----------------------------------------------------------------------------------------------------------


def test_except_is_per_instant() -> None:
    """The right covers up to its end, which is not part of it."""
    query = Standing(EXCEPT)
    query.step(event("A1", 1, 9), event("B1", 3, 5), event("B2", 5, 6), event("B3", 2, 8, k=2))
    assert query.rows() == rows((1, 3, 1), (6, 9, 1))
    assert query.step(closed("B2", 5, ve=5)) == rows((1, 3, 1), (5, 9, 1))
    assert query.step(event("B4", 0, 20)) == rows()
    assert query.step(closed("B4", 0, ve=9)) == rows()
    assert query.step(closed("B4", 0, ve=7)) == rows((7, 9, 1))


def test_equal_left_rows_are_each_there() -> None:
    """A bag: each left row by itself."""
    query = Standing(EXCEPT)
    assert query.step(event("A1", 1, 9), event("A2", 1, 9), event("B1", 4, 5)) == rows(
        (1, 4, 1), (1, 4, 1), (5, 9, 1), (5, 9, 1)
    )


def test_a_revision_on_the_right_uncovers() -> None:
    """From the Os of the new version on.  Reading: R9."""
    query = Standing(EXCEPT)
    query.step(event("A1", 1, 9), event("B1", 3, 7))
    assert query.step(event("B1", 3, 7, k=2, os=4)) == rows((1, 9, 1))


# -- SESSION ----------------------------------------------------------------------------------------------------------


def test_a_late_event_joins_two_sessions_and_its_removal_splits_them() -> None:
    """Less than the gap apart; at the gap a new session begins.  Reading: R31."""
    query = Standing(SESSION)
    assert query.step(event("A1", 1, v=1), event("A2", 5, v=2)) == rows((1, 4, 1), (5, 8, 2))
    assert query.step(event("A3", 3, v=3)) == rows((1, 8, 1), (1, 8, 2), (1, 8, 3))
    assert query.step(closed("A3", 3, ve=4)) == rows((1, 8, 1), (1, 8, 2), (1, 8, 3))  # it began all the same
    assert query.step(closed("A3", 3, oe=3)) == rows((1, 4, 1), (5, 8, 2))
    assert query.step(event("A4", 8, v=4)) == rows((1, 4, 1), (5, 8, 2), (8, 11, 4))


# -- COALESCED --------------------------------------------------------------------------------------------------------


def test_intervals_that_meet_become_one() -> None:
    """The one that started first goes on.  Paper: Definition 10."""
    query = Standing(COALESCED)
    assert query.step(event("A1", 1, 5), event("A2", 3, 5), event("A3", 5, 7)) == rows((1, 7, 1), (3, 5, 1))
    assert query.step(event("A4", 7, 9)) == rows((1, 9, 1), (3, 5, 1))
    assert query.step(closed("A3", 5, oe=5)) == rows((1, 5, 1), (3, 5, 1), (7, 9, 1))


# -- TOP --------------------------------------------------------------------------------------------------------------


def test_rows_of_one_rank_are_in_or_out_together() -> None:
    """SQL's WITH TIES, at each instant.  Reading: R45."""
    query = Standing(TOP)
    assert query.step(event("A1", 1, 9, v=2), event("A2", 3, 7, v=2)) == rows((1, 9, 2), (3, 7, 2))
    assert query.step(event("A3", 4, 5, v=1)) == rows((1, 4, 2), (3, 4, 2), (4, 5, 1), (5, 9, 2), (5, 7, 2))
    assert query.step(closed("A3", 4, oe=4)) == rows((1, 9, 2), (3, 7, 2))


# -- what is forgotten ------------------------------------------------------------------------------------------------

FOLDING = {
    "GROUP BY": LEAST,
    "DISTINCT": PRESENT,
    "GROUP BY any": "FROM A AS a GROUP BY a.k OUTPUT a.k AS k, MAX(a.v) AS v, COUNT(DISTINCT a.v) AS n",
}


@pytest.mark.parametrize("text", FOLDING.values(), ids=FOLDING)
def test_rows_that_never_end_are_folded(text: str) -> None:
    """Groups are kept, not events; a restart goes on where the rows began.  Reading: R37."""
    query = Standing(text, revisable=False)
    line = Line(BEGINNING, BEGINNING, BEGINNING)
    for time in range(1, 120, 3):
        query.step(event(f"A{time}", time, k=time % 2, v=time % 5), Guarantee(time))
        line = Line(time, BEGINNING, time)
        query.driven.release(line)
    assert query.operator.size.rows <= 12
    other = query.driven.restarted(line)
    assert other.table(line) == query.driven.table(line)
    changes = query.driven.admission.take([event("A200", 130, k=1, v=-1), event("A201", 125, k=0, v=9)], 200)
    query.driven.step(changes)
    other.step(changes)
    assert other.table(line) == query.driven.table(line)


@pytest.mark.parametrize("text", [EXCEPT, SESSION, COALESCED, TOP])
def test_what_is_over_is_forgotten(text: str) -> None:
    """Rows that end are gone with what they bear on."""
    query = Standing(text, revisable=False)
    for time in range(1, 400, 8):
        messages = [event(f"A{time}", time, time + 3), event(f"B{time}", time + 1, time + 2)]
        query.step(*messages, Guarantee(time + 6))
        query.driven.release(Line(time + 6, BEGINNING, time + 6))
    assert query.operator.size.rows <= 20
