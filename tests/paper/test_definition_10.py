"""Definition 10: meets, coalesce, and the star of a stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cedr.model.event import Payload
from cedr.model.history import HistoryRow, HistoryTable
from cedr.model.time import Interval
from cedr.testing.difference import assert_same_table
from cedr.testing.tables import history_table


def test_intervals_meet() -> None:
    """Definition 10: "I1 = [T1, T2], I2 = [T1', T2'] meet iff T2 = T1'"."""
    assert Interval(1, 5).meets(Interval(5, 9))
    assert not Interval(5, 9).meets(Interval(1, 5))
    assert not Interval(1, 6).meets(Interval(5, 9))


def test_meeting_rows_of_one_payload_become_one() -> None:
    """Definition 10: repeated until it cannot be applied further, whatever the order of the rows."""
    chopped = history_table("""
        | ID | Vs | Ve | Payload |
        | c  | 7  | 9  | P1      |
        | a  | 1  | 5  | P1      |
        | x  | 5  | 6  | P2      |
        | b  | 5  | 7  | P1      |
        | d  | 10 | ∞  | P1      |
    """)
    expected = """
        | Vs | Ve | Payload |
        | 1  | 9  | P1      |
        | 5  | 6  | P2      |
        | 10 | ∞  | P1      |
    """
    assert_same_table(chopped.coalesced(), expected)
    assert [row.valid_start for row in chopped.coalesced()] == [1, 5, 10]


def test_overlapping_rows_do_not_meet() -> None:
    """Definition 10 coalesces only what meets; overlapping duplicates are no relation (after Definition 11)."""
    bag = history_table("| ID | Vs | Ve | Payload |\n| a | 1 | 6 | P1 |\n| b | 5 | 9 | P1 |")
    assert len(bag.coalesced()) == 2


def test_of_two_that_end_where_one_starts_the_earlier_takes_it() -> None:
    """Definition 10 on a bag is a choice; ours is the same every time."""
    bag = history_table("| ID | Vs | Ve | Payload |\n| b | 2 | 5 | P1 |\n| a | 1 | 5 | P1 |\n| c | 5 | 7 | P1 |")
    assert_same_table(bag.coalesced(), "| Vs | Ve | Payload |\n| 1 | 7 | P1 |\n| 2 | 5 | P1 |")


def table_of(payloads: dict[str, list[Interval]]) -> HistoryTable:
    return HistoryTable(
        tuple(
            HistoryRow(id=f"{name}{number}", valid_start=span.start, valid_end=span.end, payload=Payload({"p": name}))
            for name, spans in payloads.items()
            for number, span in enumerate(spans)
        )
    )


@given(st.dictionaries(st.sampled_from("PQ"), st.sets(st.integers(0, 12)), max_size=2))
def test_the_star_is_what_is_alive_at_each_instant(alive: dict[str, set[int]]) -> None:
    """Definition 10: two relations have one star iff they hold the same payloads at the same instants."""
    chopped = table_of({name: [Interval(t, t + 1) for t in sorted(instants)] for name, instants in alive.items()})
    star = chopped.coalesced()
    assert {(str(row.payload), t) for row in star for t in range(row.valid.start, row.valid.end)} == {
        (str(Payload({"p": name})), t) for name, instants in alive.items() for t in instants
    }
    ends = {(row.payload, row.valid.end) for row in star}
    assert not any((row.payload, row.valid.start) in ends for row in star)  # nothing meets any more
    assert star.coalesced() == star
