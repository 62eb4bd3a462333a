"""Arrivals accept, refuse and ignore what the intake does.  Readings: R3, R33, R37, R39, R41."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.consistency.admission.door import Arrivals
from cedr.consistency.admission.saving import VERSION
from cedr.consistency.batch import EventBatch
from cedr.diagnostics.exceptions import StreamError
from cedr.model.event import Payload, primitive
from cedr.model.stream import Guarantee, Message, Retract, insert
from tests.consistency.messages import CATALOG, HISTORIES, cut, detours, in_batches, intake_of, messages, same_decisions


@given(messages(), st.lists(st.integers(0, 30), max_size=3), st.sampled_from(((), ("p",), ("p", "q"))), st.data())
def test_arrivals_decide_like_the_intake(
    sent: list[Message], places: list[int], providers: tuple[str, ...], data: st.DataObject
) -> None:
    arrivals = Arrivals(CATALOG, providers)
    done: list[Message] = []
    for part in cut(sent, places):
        columns = data.draw(st.lists(st.booleans(), min_size=len(part), max_size=len(part)))
        arrivals.receive(in_batches(part, columns))
        done.extend(part)
        same_decisions(arrivals, intake_of(done, CATALOG, providers))


@given(detours(), st.data())
def test_arrivals_decide_like_the_intake_on_histories(batches: list[list[Message]], data: st.DataObject) -> None:
    arrivals = Arrivals(HISTORIES)
    for batch in batches:
        columns = data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch)))
        arrivals.receive(in_batches(batch, columns))
    same_decisions(arrivals, intake_of([m for batch in batches for m in batch], HISTORIES))


def test_a_batch_is_as_many_inserts() -> None:
    """Readings: R2, R3, R41."""
    arrivals = Arrivals(CATALOG)
    arrivals.receive([EventBatch("A", [1, 2, 1], [5, 6, 5], payload={"x": [1.5, None, 1.5]})])
    table = arrivals.table("A")
    rows = np.arange(2)
    assert table.ids is not None
    assert table.ids.values(rows) == ["1", "2"]
    assert table.columns.payloads(rows) == [Payload({"x": 1.5}), Payload({"x": None})]
    assert table.plain.view[:2].all()
    assert (arrivals.counts.received, arrivals.counts.duplicates, arrivals.rows_held, arrivals.high) == (3, 1, 2, 6)


def test_rows_without_id_or_time_are_dead_letters() -> None:
    arrivals = Arrivals(CATALOG)
    moments = pa.array([1_000, None, 3_000], pa.timestamp("ms"))
    arrivals.receive([Guarantee(0), EventBatch.from_table("A", pa.table({"id": ["a", "b", None], "time": moments}))])
    assert [(d.code, d.position) for d in arrivals.dead_letters()] == [("null-time", 3), ("null-id", 4)]
    assert arrivals.high == 1_000_000


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"id": ["a"]}, "unknown-column"),
        ({"id": [1.5], "time": [1]}, "wrong-column-type"),
        ({"id": ["a"], "time": [1.5]}, "wrong-column-type"),
        ({"id": ["a"], "time": pa.array([1], pa.timestamp("ns"))}, "time-out-of-range"),
        ({"id": ["a"], "time": pa.array([2**63], pa.uint64())}, "time-out-of-range"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_as_a_whole(columns: dict[str, object], code: str) -> None:
    with pytest.raises(StreamError) as raised:
        EventBatch.from_table("A", pa.table(columns))
    assert raised.value.diagnostics[0].code == code


def test_columns_of_a_batch_are_equally_long() -> None:
    with pytest.raises(StreamError, match="unequal-columns"):
        EventBatch("A", ["a", "b"], [1, 2], payload={"x": [1]})


def test_what_a_batch_leaves_out_has_its_default() -> None:
    """Readings: R2, R3."""
    batch = EventBatch("A", ["a", "b"], [5, 6], [9, None], [None, 4], keys=["K", None], provider="p")
    first, second = batch.inserts()
    assert first == insert(primitive("A", "a", 5, 9), "K", "p")
    assert second == insert(primitive("A", "b", 6, occurrence_start=4), None, "p")


def test_a_broken_guarantee_can_be_an_error() -> None:
    """Reading: R39."""
    arrivals = Arrivals(CATALOG, broken="fail")
    with pytest.raises(StreamError, match="broken-guarantee"):
        arrivals.receive([Guarantee(7), insert(primitive("A", "a", 5))])


def test_dead_letters_are_drained_once_they_are_decided() -> None:
    """Reading: R37: whether a revision is late is decided when g has reached it."""
    arrivals = Arrivals(CATALOG)
    first, late = primitive("R", "a", 1), primitive("R", "a", 9, occurrence_start=8)
    arrivals.receive([insert(first), insert(late), Retract("K9", occurrence_end=0), Guarantee(5)])
    assert [d.code for d in arrivals.dead_letters()] == ["revision-too-late", "retraction-without-insert"]
    assert [d.code for d in arrivals.drain_dead_letters()] == ["retraction-without-insert"]
    assert [d.code for d in arrivals.dead_letters()] == ["revision-too-late"]
    arrivals.receive([Guarantee(8)])
    assert [d.code for d in arrivals.drain_dead_letters()] == ["revision-too-late"]
    assert arrivals.dead_letters() == arrivals.drain_dead_letters() == []


def test_the_shortening_of_a_forgotten_event_is_ignored() -> None:
    """Readings: R34, R37."""
    arrivals = Arrivals(CATALOG)
    arrivals.receive([insert(primitive("A", "a", 1)), Guarantee(5)])
    arrivals.forgetting.forget({}, 5)
    arrivals.receive([Retract("A/a@1", valid_end=9)])
    assert (arrivals.rows_held, arrivals.ignored, arrivals.high) == (0, 1, 9)
    assert arrivals.dead_letters() == []
    arrivals.receive([Guarantee(9)])
    assert (arrivals.rows_held, arrivals.ignored, arrivals.high) == (0, 1, 9)
    assert arrivals.dead_letters(final=True) == []


def test_a_retraction_of_an_event_that_never_came_raises_h() -> None:
    """Reading: R37: nothing tells it from that of a forgotten one."""
    arrivals = Arrivals(CATALOG)
    arrivals.receive([insert(primitive("B", "b1", 3, 4, occurrence_start=2)), Guarantee(1)])
    arrivals.forgetting.forget({}, 1)
    arrivals.receive([Retract("B/b2@0", valid_end=6)])
    assert (arrivals.high, arrivals.ignored) == (6, 1)


def test_what_nobody_reads_is_judged_and_not_kept() -> None:
    """Readings: R33, R37, R39, R41."""
    arrivals = Arrivals(CATALOG, reads={"A": frozenset({"x"})})
    arrivals.receive(
        [
            Guarantee(1),
            EventBatch("R", ["a", "b", None, "d"], [5, 1, 6, None]),
            insert(primitive("R", "e", 2, occurrence_start=9)),
            insert(primitive("R", "f", 12), "K"),
            EventBatch("A", ["a"], [3], payload={"x": [1], "y": [2]}),
            insert(primitive("A", "b", 4, payload=Payload({"x": 5, "z": 6}))),
            insert(primitive("A", "b", 4, payload=Payload({"x": 5, "z": 6}))),
            Retract("R/a@5", valid_end=20),
            Retract("K", valid_end=21),
        ]
    )
    assert [(d.code, d.position) for d in arrivals.dead_letters(final=True)] == [
        ("broken-guarantee", 3),
        ("null-id", 4),
        ("null-time", 5),
        ("revision-too-late", 6),
    ]
    assert (arrivals.high, arrivals.rows_held, list(arrivals.tables)) == (21, 2, ["A"])
    assert (arrivals.counts.received, arrivals.counts.duplicates) == (12, 1)
    assert arrivals.table("A").columns.payloads(np.arange(2)) == [Payload({"x": 1}), Payload({"x": 5})]


def test_a_saved_state_of_another_version_is_refused() -> None:
    for segments in ({}, {"meta": b'{"version":%d}' % (VERSION + 1)}, {"meta": b'{"version":2}'}):
        with pytest.raises(StreamError, match="unknown-state-version"):
            Arrivals(CATALOG).restore(segments)


def test_what_is_saved_follows_what_is_known_and_each_time_what_has_changed() -> None:
    """Reading: R37."""
    arrivals = Arrivals(CATALOG)
    segments: dict[str, bytes] = {}
    written = []
    size = 1_000
    for step in range(60):
        ids = pa.array(np.arange(step * size, (step + 1) * size))
        vs = np.arange(step * size, (step + 1) * size)
        arrivals.receive(
            [EventBatch("F", ids, vs), Retract(f"F/{step * size}@{step * size}", valid_end=(step + 2) * size)]
        )
        arrivals.receive([Guarantee(step * size)])
        arrivals.forgetting.forget({}, (step - 3) * size)
        changes = arrivals.state()
        written.append(sum(len(segment or b"") for segment in changes.values()))
        for name, segment in changes.items():
            if segment is None:
                del segments[name]
            else:
                segments[name] = segment
    assert len(segments) < 20
    assert sum(map(len, segments.values())) < 60 * arrivals.rows_held * 3
    assert sum(written) / len(written) < 60 * size * 6
    again = Arrivals(CATALOG)
    again.restore(segments)
    assert again.rows_held == arrivals.rows_held
    assert again.state() == {}
