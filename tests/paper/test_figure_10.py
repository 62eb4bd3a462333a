"""Figure 10: the unitemporal ideal history table.  Readings: R5, R10."""

from __future__ import annotations

from cedr.model.event import Payload
from cedr.model.history import HistoryTable
from cedr.model.time import FOREVER
from cedr.testing.difference import assert_same_table
from cedr.testing.tables import history_table
from tests.paper.test_figure_01 import FIGURE_1

FIGURE_10 = """
| ID | $V_s$ | $V_e$ | Payload |
|---|---|---|---|
| E0 | 1 | 5 | P1 |
| E1 | 4 | 9 | P2 |
"""


def test_it_is_ideal_already() -> None:
    """Figure 10, Section 6: canonical to infinity, CEDR time projected out, one temporal dimension."""
    table = history_table(FIGURE_10)
    assert [row.payload for row in table] == [Payload({"p": "P1"}), Payload({"p": "P2"})]
    assert table.ideal() == table
    assert table.unitemporal() == table
    assert table.canonical_to(FOREVER) == table


def test_it_is_the_latest_belief_of_figure_1() -> None:
    """Figure 10 shows what Figure 1 comes to.  Reading: R10."""
    latest = history_table(FIGURE_1).unitemporal()
    assert [(row.valid_start, row.valid_end) for row in latest] == [(1, 5), (4, 9)]


def test_retractions_of_a_unitemporal_stream_shorten_valid_time() -> None:
    """Figure 10, Section 6: "one valid time field, whose lifetime may be shortened using retractions"."""
    physical = history_table("""
        | K  | Vs | Ve | Payload | Cs | Ce |
        | E0 | 1  | ∞  | P1      | 1  | 3  |
        | E1 | 4  | 9  | P2      | 2  | ∞  |
        | E0 | 1  | 5  | P1      | 3  | ∞  |
        | E2 | 2  | ∞  | P3      | 4  | 5  |
        | E2 | 2  | 2  | P3      | 5  | ∞  |
    """)
    assert_same_table(physical.ideal(), FIGURE_10)
    assert [row.sync for row in physical.annotated()] == [1, 4, 5, 2, 2]
    assert_same_table(
        physical.canonical_to(4),
        """
        | K  | Vs | Ve | Payload |
        | E0 | 1  | 4  | P1      |
        | E1 | 4  | 4  | P2      |
        """,
    )


def test_its_star_is_itself_without_ids() -> None:
    """Figure 10, Definition 10: nothing meets, nothing is coalesced."""
    assert_same_table(history_table(FIGURE_10).coalesced(), FIGURE_10, ("Vs", "Ve", "Payload"))
    assert all(row.id is None for row in history_table(FIGURE_10).coalesced())


def test_an_empty_table_has_every_form() -> None:
    """Figure 10 with nothing in it."""
    empty = HistoryTable()
    assert empty.ideal() == empty.unitemporal() == empty.coalesced() == empty.shredded(10) == empty
