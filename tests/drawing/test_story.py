"""What rows, changes and messages amount to.  Readings: R3, R5, R7."""

from __future__ import annotations

from dataclasses import replace

from cedr.drawing.story import Arrival, Bar, State, bars_of, dots_of
from cedr.model.event import primitive
from cedr.model.stream import Change, Guarantee, Message, Retract, insert
from cedr.model.time import FOREVER
from tests.drawing.samples import emitted, retracted, row


def states(bars: list[Bar]) -> list[tuple[str, State]]:
    return [(bar.event.id, bar.state) for bar in bars]


def test_without_changes_every_row_stands() -> None:
    assert states(bars_of([row("y", 4), row("x", 1, 3)], [])) == [("x", State.STANDS), ("y", State.STANDS)]


def test_a_row_that_was_removed_is_a_bar_of_its_own() -> None:
    gone, kept = row("x", 1, 3), row("y", 2, 5)
    bars = bars_of([kept], [emitted(gone, 1), emitted(kept, 2), retracted(gone, 3)])
    assert states(bars) == [("x", State.RETRACTED), ("y", State.STANDS)]
    assert bars[0].first_emitted == 1


def test_a_row_whose_end_is_retracted_to_its_start_is_removed() -> None:
    gone = row("x", 1, 3)
    assert states(bars_of([], [emitted(gone, 1), retracted(gone, 2, valid_end=1)])) == [("x", State.RETRACTED)]


def test_a_row_that_is_emitted_again_unchanged_is_one_bar() -> None:
    same = row("x", 1, 3, v=1)
    changes = [emitted(same, 1, "K1"), retracted(same, 2, "K1"), emitted(same, 3, "K2")]
    (bar,) = bars_of([same], changes)
    assert (bar.state, len(bar.lineages), bar.shortened) == (State.AGAIN, 2, False)


def test_a_row_that_is_emitted_again_with_another_payload_or_end_is_two() -> None:
    before, after = row("x", 1, 3, v=1), row("x", 1, 3, v=2)
    changes = [emitted(before, 1, "K1"), retracted(before, 2, "K1"), emitted(after, 2, "K2")]
    assert [bar.state for bar in bars_of([after], changes)] == [State.RETRACTED, State.STANDS]
    longer = replace(before, valid_end=9)
    changes = [emitted(before, 1, "K1"), retracted(before, 2, "K1"), emitted(longer, 2, "K2")]
    assert [bar.event.valid_end for bar in bars_of([longer], changes)] == [3, 9]


def test_removed_rows_of_one_content_are_one_bar() -> None:
    gone = row("x", 1, 3)
    changes = [emitted(gone, 1, "K1"), retracted(gone, 2, "K1"), emitted(gone, 3, "K2"), retracted(gone, 4, "K2")]
    (bar,) = bars_of([], changes)
    assert (bar.state, len(bar.lineages)) == (State.RETRACTED, 2)


def test_a_shortened_row_stands_with_its_new_end() -> None:
    open_end = row("x", 1)
    (bar,) = bars_of([row("x", 1, 8)], [emitted(open_end, 1), retracted(open_end, 4, valid_end=8)])
    assert (bar.state, bar.shortened, bar.event.valid_end) == (State.STANDS, True, 8)


def test_a_row_that_no_retraction_took_and_that_is_not_in_the_result_is_a_stray() -> None:
    assert states(bars_of([], [emitted(row("x", 1, 3), 1)])) == [("x", State.STRAY)]


def test_a_row_that_a_modification_closes_is_retracted_unless_the_result_is_bitemporal() -> None:
    old = row("x", 1, 3)
    changes = [emitted(old, 1), retracted(old, 2, occurrence_end=2)]
    assert states(bars_of([], changes)) == [("x", State.RETRACTED)]
    assert states(bars_of([replace(old, occurrence_end=2)], changes)) == [("x", State.CLOSED)]


def test_a_retraction_of_a_row_that_was_emitted_before_brings_its_row() -> None:
    gone = row("x", 1, 3)
    (bar,) = bars_of([], [retracted(gone, 7), Change(Guarantee(9), 8), Change(Retract("unknown"), 9)])
    assert (bar.event, bar.state) == (gone, State.RETRACTED)


def arriving(*messages: Message) -> list[tuple[int, Message]]:
    return list(enumerate(messages, 1))


def test_an_event_is_late_below_the_largest_sync_before_it() -> None:
    dots = dots_of(arriving(*(insert(primitive("A", name, time)) for name, time in (("x", 5), ("y", 3), ("z", 5)))))
    assert [(dot.arrival, dot.high) for dot in dots.values()] == [
        (Arrival.ON_TIME, None),
        (Arrival.LATE, 5),
        (Arrival.ON_TIME, None),
    ]


def test_a_retraction_raises_the_largest_sync_and_a_guarantee_does_not() -> None:
    first, second = insert(primitive("A", "x", 1)), insert(primitive("A", "y", 5))
    closed = Retract(first.lineage_key, occurrence_end=8)
    assert dots_of(arriving(first, Guarantee(8), second))["A", "y"].high is None
    assert dots_of(arriving(first, closed, second))["A", "y"].high == 8


def test_an_event_that_is_removed_is_retracted_also_by_a_retraction_that_came_first() -> None:
    event = insert(primitive("A", "x", 1))
    for messages in ((event, Retract(event.lineage_key)), (Retract(event.lineage_key), event)):
        assert dots_of(arriving(*messages))["A", "x"].retracted
    assert dots_of(arriving(Retract("unknown"))) == {}


def test_the_newest_version_of_an_event_counts_and_a_repeated_message_does_not() -> None:
    old, new = primitive("A", "x", 1), primitive("A", "x", 1, 9, occurrence_start=4)
    dots = dots_of(arriving(insert(new), insert(old), insert(new)))
    assert list(dots) == [("A", "x")]
    assert dots["A", "x"].event == new
    assert len(dots["A", "x"].lineages) == 2
    withdrawn = dots_of(arriving(insert(new), insert(old), Retract(insert(new).lineage_key)))["A", "x"]
    assert (withdrawn.event, withdrawn.retracted) == (old, False)


def test_an_event_that_is_shortened_ends_where_its_retraction_says() -> None:
    event = insert(primitive("A", "x", 1))
    dot = dots_of(arriving(event, Retract(event.lineage_key, valid_end=6)))["A", "x"]
    assert (dot.event.valid_end, dot.shortened, dot.retracted) == (6, True, False)
    assert not dots_of(arriving(insert(primitive("A", "x", 1, FOREVER))))["A", "x"].shortened
