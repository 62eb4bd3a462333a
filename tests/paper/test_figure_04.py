"""Figure 4: reduction.  Reading: R5."""

from __future__ import annotations

from cedr.testing.difference import assert_same_table
from cedr.testing.tables import history_tables
from tests.paper.test_figure_03 import FIGURE_3

FIGURE_4 = """
| K | $O_s$ | $O_e$ | $C_s$ | $C_e$ | ... | K | $O_s$ | $O_e$ | $C_s$ | $C_e$ | ... |
|----|----|----|----|----|----|----|----|----|----|----|----|
| **E0** | **1** | **3** | **3** | **∞** | ... | **E0** | **1** | **5** | **2** | **∞** | ... |
"""


def test_reduction_retains_the_entry_with_the_earliest_end() -> None:
    """Figure 4: "for each K, only the entry with earliest Oe time is retained".  Reading: R5."""
    for table, reduced in zip(history_tables(FIGURE_3), history_tables(FIGURE_4), strict=True):
        assert_same_table(table.reduced(), reduced)


def test_a_reduced_table_is_reduced() -> None:
    """Figure 4."""
    for table in history_tables(FIGURE_4):
        assert table.reduced() == table
