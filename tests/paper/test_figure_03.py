"""Figure 3: two history tables that are not canonical.  Readings: R5, R6, R7."""

from __future__ import annotations

import pytest

from cedr.model.equivalence import logically_equivalent_at, logically_equivalent_to
from cedr.model.event import primitive
from cedr.model.history import HistoryTable
from cedr.model.stream import Message, Retract, insert
from cedr.model.time import FOREVER
from cedr.testing.difference import assert_same_table
from cedr.testing.tables import history_tables

FIGURE_3 = """
| K | $O_s$ | $O_e$ | $C_s$ | $C_e$ | ... | K | $O_s$ | $O_e$ | $C_s$ | $C_e$ | ... |
|----|----|----|----|----|----|----|----|----|----|----|----|
| E0 | 1 | 5 | 1 | 3 | ... | E0 | 1 | ∞ | 1 | 2 | ... |
| **E0** | **1** | **3** | **3** | **∞** | ... | **E0** | **1** | **5** | **2** | **∞** | ... |
"""


def test_the_tables_stand_side_by_side() -> None:
    """Figure 3 shows two tables in one."""
    left, right = history_tables(FIGURE_3)
    assert [row.occurrence_end for row in left] == [5, 3]
    assert [row.occurrence_end for row in right] == [FOREVER, 5]


def test_equivalent_to_3_and_at_3() -> None:
    """Figure 3: "the two streams … are logically equivalent to 3 and at 3".  Reading: R5."""
    left, right = history_tables(FIGURE_3)
    assert logically_equivalent_to(left, right, 3)
    assert logically_equivalent_at(left, right, 3)


@pytest.mark.parametrize("time", [4, 5, 6, FOREVER])
def test_not_equivalent_after_3(time: int) -> None:
    """Figure 3: the left event ended at 3, the right one lived on."""
    left, right = history_tables(FIGURE_3)
    assert not logically_equivalent_to(left, right, time)


def test_before_3_they_are_equivalent_too() -> None:
    """Figure 3.  Reading: R5."""
    left, right = history_tables(FIGURE_3)
    assert logically_equivalent_to(left, right, 0)  # nothing has happened
    assert logically_equivalent_to(left, right, 2)
    assert logically_equivalent_at(left, right, 2)
    assert not logically_equivalent_at(left, right, 5)


def test_the_messages_make_the_tables() -> None:
    """Figure 3: each retraction closes the CEDR time of the row before it."""
    left, right = history_tables(FIGURE_3)
    row = primitive("S", "E0", 1)
    messages: list[Message] = [insert(primitive("S", "E0", 1, occurrence_end=5), "E0"), Retract("E0", occurrence_end=3)]
    shown = ("K", "Os", "Oe", "Cs", "Ce")
    assert_same_table(HistoryTable.from_messages(messages, [1, 3]), left, shown)
    assert_same_table(HistoryTable.from_messages([insert(row, "E0"), Retract("E0", occurrence_end=5)]), right, shown)
