"""Levels beside the oracle and each other; what is wrong is found.  Definitions 3 to 5, R35."""

from __future__ import annotations

import pytest

from cedr.model.event import Event, primitive
from cedr.model.history import HistoryTable
from cedr.model.level import MIDDLE, STRONG, WEAK, ConsistencyLevel
from cedr_demo.agreement import agreement

OLD, ALIVE, NEWER = (primitive("Alert", id_, vs, vs + 5) for id_, vs in (("old", 1), ("alive", 18), ("newer", 21)))
TRUTH = [OLD, ALIVE, NEWER]
"""At 20 the first is over, the second alive, and the third has not begun."""


def judged(**said: list[Event]) -> tuple[bool, set[str], tuple[tuple[str, str], ...]]:
    levels: dict[str, ConsistencyLevel] = {"strong": STRONG, "middle": MIDDLE, "weak": WEAK}
    tables = {level: HistoryTable.from_events(said.get(name, TRUTH)) for name, level in levels.items()}
    found = agreement(tables, HistoryTable.from_events(TRUTH), 20)
    return found.holds, {kept.level.name for kept in found.levels if not kept.promise}, found.apart


def test_levels_that_say_the_truth_agree() -> None:
    assert judged() == (True, set(), ())


def test_weak_may_be_wrong_about_the_past_but_not_middle() -> None:
    wrong = primitive("Alert", "never was", 3, 8)
    assert judged(weak=[ALIVE, wrong]) == (True, set(), ())
    assert judged(middle=[ALIVE, wrong]) == (False, {"MIDDLE"}, ())
    assert judged(strong=[ALIVE]) == (False, {"STRONG"}, ())


@pytest.mark.parametrize("rows", [[OLD], [OLD, ALIVE, primitive("Alert", "too much", 17, 22)]])
def test_what_is_alive_at_the_instant_must_be_right_at_each_level(rows: list[Event]) -> None:
    apart = (("STRONG", "WEAK"), ("MIDDLE", "WEAK"))
    assert judged(weak=rows) == (False, {"WEAK"}, apart)
    assert judged(strong=rows, middle=rows, weak=rows) == (False, {"STRONG", "MIDDLE", "WEAK"}, ())


def test_what_comes_after_the_instant_does_not_count() -> None:
    assert judged(middle=[OLD, ALIVE], weak=[ALIVE, NEWER]) == (True, set(), ())


def test_differences_are_counted() -> None:
    table = HistoryTable.from_events([OLD, primitive("Alert", "too much", 17, 22)])
    found = agreement({MIDDLE: table}, HistoryTable.from_events(TRUTH), 20)
    (kept,) = found.levels
    assert (kept.to.rows, kept.to.wrong, kept.to.missing) == (2, 1, 1)
    assert (kept.at.rows, kept.at.wrong, kept.at.missing) == (1, 1, 1)
    assert (found.meant_to, found.meant_at) == (2, 1)
