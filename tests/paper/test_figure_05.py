"""Figure 5: truncation to 3 makes the tables canonical.  Reading: R5."""

from __future__ import annotations

from cedr.model.equivalence import projected
from cedr.testing.difference import assert_same_table
from cedr.testing.tables import history_tables
from tests.paper.test_figure_03 import FIGURE_3
from tests.paper.test_figure_04 import FIGURE_4

FIGURE_5 = """
| K | $O_s$ | $O_e$ | $C_s$ | $C_e$ | ... | K | $O_s$ | $O_e$ | $C_s$ | $C_e$ | ... |
|----|----|----|----|----|----|----|----|----|----|----|----|
| **E0** | **1** | **3** | **3** | **∞** | ... | **E0** | **1** | **3** | **2** | **∞** | ... |
"""


def test_truncation() -> None:
    """Figure 5 from Figure 4: "changes any Oe value in the table greater than t to t".  Reading: R5."""
    for reduced, canonical in zip(history_tables(FIGURE_4), history_tables(FIGURE_5), strict=True):
        assert_same_table(reduced.truncated_to(3), canonical)


def test_canonical_to_and_at_3() -> None:
    """Figure 5 from Figure 3.  Reading: R5: at 3 the same, for both events lived up to 3."""
    for table, canonical in zip(history_tables(FIGURE_3), history_tables(FIGURE_5), strict=True):
        assert_same_table(table.canonical_to(3), canonical)
        assert_same_table(table.canonical_at(3), canonical)


def test_the_canonical_tables_differ_in_cedr_time_only() -> None:
    """Figure 5, Definition 1.  Reading: R6: K stands for the missing ID."""
    left, right = history_tables(FIGURE_5)
    assert left != right
    assert projected(left) == projected(right)
