"""Messages of every kind, right and wrong, and ways to send them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import pyarrow as pa
from hypothesis import strategies as st

from cedr.consistency.admission.door import Arrivals
from cedr.consistency.batch import EventBatch
from cedr.model.event import Event, Payload, primitive
from cedr.model.intake import Intake
from cedr.model.schema import EventType, EventTypes
from cedr.model.stream import Guarantee, Insert, Message, Retract, default_key, insert
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.testing.strategies import arrivals, revised_histories, small_catalog

CATALOG = EventTypes({t.name: t for t in (EventType("A"), EventType("R", {}, 3), EventType("F", {}, FOREVER))})
"""A may not be revised, R for 3, F for ever; other streams are unknown."""

_STREAMS = st.sampled_from(("A", "A", "R", "F", "A/a"))
_IDS = st.sampled_from(("a", "b", "c", "d", "a/b", "a@3", "ü", ""))
_TIMES = st.integers(0, 9)
_PROVIDERS = st.sampled_from((None, None, None, "p", "q"))
_PAYLOADS = st.sampled_from((Payload(), Payload({"x": 1}), Payload({"x": 1}), Payload({"x": "t", "y": None})))
_ODD_TIMES = st.sampled_from((FOREVER, BEGINNING, 2**63, -(2**70)))


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Events, mostly plain ones."""
    start = draw(_TIMES)
    event = primitive(draw(_STREAMS), draw(_IDS), start, payload=draw(_PAYLOADS))
    shape = draw(st.sampled_from(("plain", "plain", "plain", "ends", "ahead", "behind", "closed", "odd", "made")))
    if shape == "ends":
        return replace(event, valid_end=start + draw(st.integers(-1, 4)))
    if shape == "ahead":
        return replace(event, occurrence_start=start - draw(st.integers(1, 3)))
    if shape == "behind":
        return replace(event, occurrence_start=start + draw(st.integers(1, 4)))
    if shape == "closed":
        return replace(event, occurrence_end=start + draw(st.integers(-1, 4)))
    if shape == "odd":
        name = draw(st.sampled_from(("valid_start", "valid_end", "occurrence_start", "occurrence_end", "root_time")))
        return replace(event, **{name: draw(_ODD_TIMES)})
    if shape == "made":
        return replace(event, contributors=(primitive("B", "x", 1),), root_time=1)
    return event


@st.composite
def inserts(draw: st.DrawFn) -> Insert:
    """Inserts with default keys, keys of their own, and the default keys of other events."""
    event = draw(events())
    keys = st.sampled_from((None, None, None, None, "K1", "K2", "A/a@3", "A/b@4", "R/a@2", "A/a/b@5"))
    return insert(event, draw(keys), draw(_PROVIDERS))


def _retractions(keys: Sequence[str]) -> st.SearchStrategy[Message]:
    ends = st.one_of(st.none(), _TIMES, _TIMES)
    return st.builds(Retract, st.sampled_from(keys), ends, ends, _PROVIDERS)


_GUARANTEES = st.builds(Guarantee, st.one_of(st.integers(0, 8), st.integers(0, 3), _ODD_TIMES), _PROVIDERS)


@st.composite
def messages(draw: st.DrawFn, *, guarantees: bool = True) -> list[Message]:
    """Any messages: duplicates, clashing keys, retractions before inserts, broken guarantees, several providers."""
    inserted = draw(st.lists(inserts(), min_size=1, max_size=12))
    repeated = draw(st.lists(st.sampled_from(inserted), max_size=3))
    keys = [message.lineage_key for message in inserted]
    retractions = draw(st.lists(_retractions([*keys, *keys, "A/c@3", "K9"]), max_size=6))
    promises = draw(st.lists(_GUARANTEES, max_size=3 if guarantees else 0))
    return draw(st.permutations([*inserted, *repeated, *retractions, *promises]))


HISTORIES = small_catalog("A", "B", revisable=4)
"""The catalog of ``detours``."""


def detours() -> st.SearchStrategy[list[list[Message]]]:
    """Batches that amount to a history by detours."""
    return revised_histories(HISTORIES).flatmap(lambda history: arrivals(history, revised=True))


def in_batches(messages: Sequence[Message], columns: Sequence[bool]) -> list[Message | EventBatch]:
    """The same messages, neighbours of one stream as batches where this is possible and wanted."""
    sent: list[Message | EventBatch] = []
    numbered = zip(messages, columns, strict=True)
    for kind, group in groupby(numbered, lambda pair: _kind(pair[0]) if pair[1] else None):
        found = [message for message, _ in group]
        sent.extend(found if kind is None else [_batch(found)])
    return sent


def _kind(message: Message) -> tuple[object, ...] | None:
    if not isinstance(message, Insert) or message.event.contributors:
        return None
    event = message.event
    times = (event.valid_start, event.valid_end, event.occurrence_start, event.occurrence_end)
    if event.root_time != event.valid_start or not all(BEGINNING <= time <= FOREVER for time in times):
        return None
    kinds = tuple((name, type(value)) for name, value in event.payload.items())
    return event.stream, message.provider, kinds


def _batch(found: Sequence[Message]) -> EventBatch:
    said = [message for message in found if isinstance(message, Insert)]
    rows = [message.event for message in said]
    names = list(rows[0].payload)
    keys = [None if m.lineage_key == default_key(m.event) else m.lineage_key for m in said]
    return EventBatch(
        rows[0].stream,
        pa.array([row.id for row in rows]),
        pa.array([row.valid_start for row in rows], pa.int64()),
        pa.array([row.valid_end for row in rows], pa.int64()),
        pa.array([row.occurrence_start for row in rows], pa.int64()),
        pa.array([row.occurrence_end for row in rows], pa.int64()),
        keys=pa.array(keys, pa.string()),
        payload={name: pa.array([row.payload[name] for row in rows]) for name in names},
        provider=said[0].provider,
    )


def intake_of(messages: Sequence[Message], catalog: EventTypes, providers: Sequence[str] = ()) -> Intake:
    """What the intake makes of the messages."""
    intake = Intake(catalog, providers)
    for message in messages:
        intake.receive(message)
    return intake


def cut(messages: Sequence[Message], places: Sequence[int]) -> list[list[Message]]:
    """The messages in pieces."""
    ends = sorted({place % (len(messages) + 1) for place in places} | {len(messages)})
    return [list(messages[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def frontiers() -> st.SearchStrategy[Time]:
    """Frontiers of admission, not only rising ones."""
    return st.one_of(st.integers(-1, 12), st.just(FOREVER), st.just(BEGINNING))


def same_decisions(arrivals: Arrivals, intake: Intake) -> None:
    """Both have accepted, refused and ignored the same."""
    assert (arrivals.high, arrivals.guarantee) == (intake.high, intake.guarantee)
    assert arrivals.counts == intake.counts
    for final in (False, True):
        assert arrivals.dead_letters(final=final) == intake.dead_letters(final=final)
