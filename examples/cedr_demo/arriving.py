"""Generated messages, cut into files that arrive one after the other, and a last sync point.

Paper: Section 4 (out-of-order delivery, retractions), Definition 2.  Readings: R3, R4, R7, R34, R37.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray

from cedr.connect.chance import Integers
from cedr.connect.delivery import RETRACTION, REVISION, Counts, Delivery, Disorder
from cedr.connect.generated import SCHEMA, TIME, Rendering, types_of
from cedr.connect.machines import Fleet, Story
from cedr.connect.messages import read_stream
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.event_types import declared_types
from cedr.hosts.queries import query_file
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, LineageKey, Message, insert
from cedr.model.time import DAY, HOUR, Time

SPAN = 2 * DAY
DISORDER = Disorder(late=0.25, delay=12 * HOUR, retracted=0.1, within=6 * HOUR, guarantees=HOUR)
RESTATED = 0.5
"""This share of the retracted events is corrected: the provider retracts the event and inserts it with another time.

Not by a new version of the same event: events that may get new versions are kept until a guarantee at every level, WEAK
too (R34), and the demo would not show what WEAK saves.
"""
CORRECTS = ("Vs",)
"""Corrections change the time, not the machine: the stream is partitioned by the machine."""
QUIET = HOUR
"""Nothing happens for so long after the last sync point, and that is guaranteed: then everything is decided."""
_FIRST_FILE = 1_700_000_000
"""When the first file claims to be written, in seconds: Spark takes files by age, and two may have the same."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much happens."""

    events: int = 3_000
    machines: int = 300
    files: int = 20
    seed: int = 2011

    def __post_init__(self) -> None:
        if not 1 <= self.files <= self.events:
            reason = f"there must be from 1 to {self.events:,} files, as many as events, not {self.files:,}"
            raise StreamError(Diagnostic("bad-count", reason))


@dataclass(frozen=True, slots=True)
class ArrivingFile:
    """One file: its messages, as they are and as columns, and h when it has come."""

    number: int
    messages: tuple[Message, ...]
    table: pa.Table
    high: Time
    late: frozenset[LineageKey]
    """K of the inserts with a Sync below h."""
    corrected: frozenset[LineageKey]
    """K of the inserts that replace the event of the retraction right before them."""

    def put(self, folder: Path) -> None:
        """Let it appear, whole."""
        name = f"{self.number:05}.parquet"
        hidden = folder / f".{name}"
        pa_parquet.write_table(self.table, hidden)
        os.utime(hidden, (_FIRST_FILE + self.number,) * 2)
        hidden.rename(folder / name)


class Arriving:
    """All files.  The last but one guarantees what has come: a sync point; the last one that nothing happened since."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        story = Story(scale.events, scale.machines, scale.seed, span=SPAN, corrects=CORRECTS)
        delivery = Delivery(Fleet(story), DISORDER)
        codes = np.concatenate([*delivery.codes()])[:-1]  # without the end of the stream: the sync point comes instead
        self.counts: Counts = delivery.counts
        self.declared: str = types_of(delivery)
        self.types: EventTypes = declared_types(query_file(self.declared))
        self.files: list[ArrivingFile] = []
        self._high = story.start
        rendering = Rendering(delivery)
        for part in np.array_split(codes, scale.files):
            whole = _with_corrections(part, delivery)
            again = (whole & 3) == REVISION
            self.counts.corrected += int(again.sum())
            read = read_stream(BytesIO(bytes(rendering.lines(whole))), "generated", self.types)
            messages = tuple(_restated([message for _, message in read.messages], again))
            self._append(messages, _restated_rows(rendering.table(whole), again), _keys(messages, again))
        self.counts.retracted -= self.counts.corrected
        self.sync_point: Time = self._high
        for time in (self.sync_point, self.sync_point + QUIET):
            self._append((Guarantee(time),), _guarantee(time))

    def _append(
        self, messages: tuple[Message, ...], table: pa.Table, corrected: frozenset[LineageKey] = frozenset()
    ) -> None:
        late = set()
        for message in messages:
            sync = _tells(message)
            if isinstance(message, Insert) and sync < self._high:
                late.add(message.lineage_key)
            self._high = max(self._high, sync)
        number = len(self.files) + 1
        self.files.append(ArrivingFile(number, messages, table, self._high, frozenset(late), corrected))

    @property
    def messages(self) -> Iterator[Message]:
        """All messages in the order of arrival."""
        return (message for file in self.files for message in file.messages)


def _with_corrections(codes: Integers, delivery: Delivery) -> Integers:
    """The retraction of an event that is corrected, and right after it the number of the corrected event.

    It arrives at most ``within`` after the first statement and moves by a minute: no guarantee is that young.
    """
    retracted = np.flatnonzero((codes & 3) == RETRACTION)
    numbers = codes[retracted] >> 2
    chosen = delivery.fleet.chance.happens("restated", numbers, RESTATED)
    return np.insert(codes, retracted[chosen] + 1, numbers[chosen] * 4 + REVISION)


def _restated(messages: Sequence[Message], again: NDArray[np.bool_]) -> Iterator[Message]:
    """What the generator renders as a new version becomes an event of its own."""
    for message, is_new in zip(messages, again.tolist(), strict=True):
        if is_new and isinstance(message, Insert):
            event = message.event
            start = event.valid_start
            yield insert(replace(event, id=f"{event.id}b", occurrence_start=start, root_time=start))
        else:
            yield message


def _keys(messages: Sequence[Message], again: NDArray[np.bool_]) -> frozenset[LineageKey]:
    """K of the events that are inserted again."""
    chosen = (message for message, is_new in zip(messages, again.tolist(), strict=True) if is_new)
    return frozenset(message.lineage_key for message in chosen if isinstance(message, Insert))


def _restated_rows(table: pa.Table, again: NDArray[np.bool_]) -> pa.Table:
    """The same in columns."""
    mask = pa.array(again)
    ids = pc.if_else(mask, pc.binary_join_element_wise(table["id"], "b", ""), table["id"])
    starts = pc.if_else(mask, table["vs"], table["os"])
    names = table.schema.names
    return table.set_column(names.index("id"), "id", ids).set_column(names.index("os"), "os", starts)


def _tells(message: Message) -> Time:
    """What a message by itself tells of h; a retraction here is younger than its event and tells nothing new."""
    if isinstance(message, Guarantee):
        return message.time
    return message.event.occurrence_start if isinstance(message, Insert) else -1


def _guarantee(time: Time) -> pa.Table:
    columns = {"change": pa.array(["guarantee"]), "guarantee": pa.array([time]).cast(TIME)}
    return pa.table([columns.get(field.name, pa.nulls(1, field.type)) for field in SCHEMA], schema=SCHEMA)
