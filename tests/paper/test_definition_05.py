"""Definition 5: weak consistency.

"the query output streams at these sync points are logically equivalent at to at CEDR times TS1 and TS2": at, not to.
"""

from __future__ import annotations

from cedr.model.equivalence import logically_equivalent_at, logically_equivalent_to
from cedr.model.level import MIDDLE, WEAK
from cedr.testing.difference import assert_same_table
from tests.paper.asking import output, table

QUERY = "EVENT Q WHEN UNLESS(A, B, 5)"

IN_ORDER = """
    A a1 1
    B b1 3
    A a2 20
    guarantee 20
"""
LATE = """
    A a1 1
    A a2 20
    B b1 3
    guarantee 20
"""


def test_the_past_may_differ_but_not_the_present() -> None:
    """Definition 5: b1 came too late to correct a1, whose lifetime was over; at 20 both streams say a2."""
    one, other = (table(output(QUERY, WEAK, arrived)) for arrived in (IN_ORDER, LATE))
    assert logically_equivalent_at(one, other, 20, valid_too=True)
    assert not logically_equivalent_to(one, other, 20, valid_too=True)
    assert_same_table(one.ideal(), "| ID | Vs | Ve |\n| a2 | 20 | 25 |")
    assert_same_table(other.ideal(), "| ID | Vs | Ve |\n| a1 | 1 | 6 |\n| a2 | 20 | 25 |")


def test_middle_repairs_the_past_too() -> None:
    """Definitions 4 and 5 differ in exactly this."""
    one, other = (table(output(QUERY, MIDDLE, arrived)) for arrived in (IN_ORDER, LATE))
    assert logically_equivalent_to(one, other, 20, valid_too=True)


def test_what_still_lives_is_repaired() -> None:
    """Definition 5: a canceller that comes late, but while the row lives, takes it back."""
    late = table(output(QUERY, WEAK, "A a1 1\nA a2 4\nB b1 3\nguarantee 4"))
    ordered = table(output(QUERY, WEAK, "A a1 1\nB b1 3\nA a2 4\nguarantee 4"))
    assert logically_equivalent_at(late, ordered, 4, valid_too=True)
    assert [row.id for row in late.ideal()] == ["a2"]
