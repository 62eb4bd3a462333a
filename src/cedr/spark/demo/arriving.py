"""Generated messages, cut into files that arrive one after the other, and a last sync point.

Paper: Section 4 (out-of-order delivery, retractions), Definition 2.  Readings: R3, R4, R7, R37.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet

from cedr.connect.delivery import Counts, Delivery, Disorder
from cedr.connect.generated import SCHEMA, TIME, Rendering, types_of
from cedr.connect.machines import Fleet, Story
from cedr.connect.messages import read_stream
from cedr.errors import Diagnostic, StreamError
from cedr.evaluation.catalog import declared_types
from cedr.evaluation.queries import query_file
from cedr.model.schema import Catalog
from cedr.model.stream import Guarantee, Insert, Message
from cedr.model.time import DAY, HOUR, MINUTE, Time

DISORDER = Disorder(
    late=0.4, delay=3 * HOUR, corrected=0.05, retracted=0.05, within=10 * MINUTE, guarantees=30 * MINUTE
)
CORRECTS = ("Vs",)
"""Not the machine: by that the events are split."""
QUIET = HOUR
"""So long nothing happens after the last sync point, and that is guaranteed: then all is decided."""
_FIRST_FILE = 1_700_000_000
"""When the first file was written, in seconds, as it claims: Spark takes files by their age, and two may be of one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much happens."""

    events: int = 3_000
    machines: int = 300
    files: int = 24
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
    late: int
    """Messages with a Sync below h."""

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
        story = Story(scale.events, scale.machines, scale.seed, span=DAY, corrects=CORRECTS)
        delivery = Delivery(Fleet(story), DISORDER)
        codes = np.concatenate([*delivery.codes()])[:-1]  # without the end of the stream: the sync point comes instead
        self.counts: Counts = delivery.counts
        self.declared: str = types_of(delivery)
        self.types: Catalog = declared_types(query_file(self.declared))
        self.files: list[ArrivingFile] = []
        self._high = story.start
        rendering = Rendering(delivery)
        for part in np.array_split(codes, scale.files):
            read = read_stream(BytesIO(bytes(rendering.lines(part))), "generated", self.types)
            self._append(tuple(message for _, message in read.messages), rendering.table(part))
        self.sync_point: Time = self._high
        for time in (self.sync_point, self.sync_point + QUIET):
            self._append((Guarantee(time),), _guarantee(time))

    def _append(self, messages: tuple[Message, ...], table: pa.Table) -> None:
        late = 0
        for message in messages:
            sync = _tells(message)
            late += isinstance(message, Insert) and sync < self._high
            self._high = max(self._high, sync)
        self.files.append(ArrivingFile(len(self.files) + 1, messages, table, self._high, late))

    @property
    def messages(self) -> Iterator[Message]:
        """All messages in the order of arrival."""
        return (message for file in self.files for message in file.messages)


def _tells(message: Message) -> Time:
    """What a message by itself tells of h; a retraction here is younger than its event and tells nothing new."""
    if isinstance(message, Guarantee):
        return message.time
    return message.event.occurrence_start if isinstance(message, Insert) else -1


def _guarantee(time: Time) -> pa.Table:
    columns = {"change": pa.array(["guarantee"]), "guarantee": pa.array([time]).cast(TIME)}
    return pa.table([columns.get(field.name, pa.nulls(1, field.type)) for field in SCHEMA], schema=SCHEMA)
