"""The inverse of ``pack``: what the map tasks of a batch sent to a bucket, as heads, rows and messages.

Readings: R3 (messages), R33 (all buckets share h and g), R50.  Every map task sends a head to every bucket; joined they
are the same in all buckets.  Rows stay columns: a bucket makes one ``EventBatch`` for each type, source and provider.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.consistency.batch import EventBatch
from cedr.model.dead_letter import DeadLetter, Fault
from cedr.model.event import primitive
from cedr.model.stream import Message, Retract, insert
from cedr.model.time import BEGINNING, Time
from cedr.runtime.kernels.segments import is_sorted
from cedr.spark.layout.layout import BAD_TIME, INSERT, RETRACT, TOO_FINE, UNKNOWN, Arriving, TypeLayout
from cedr.spark.layout.read_faults import Letter, ReadFault
from cedr.spark.map_task.pack import STAGE_CHANGES, unpack_table


class Packed(NamedTuple):
    """One row that a map task, or a bucket of an earlier stage, sent to a bucket."""

    task: int
    number: int
    head: str
    rows: bytes | pa.Buffer | None


@dataclass(slots=True)
class Head:
    """What all buckets must know of one CEDR time, joined from all map tasks."""

    highs: dict[tuple[int, str | None], Time] = field(default_factory=dict)
    """The largest Sync of each source and provider."""
    promises: dict[str | None, Time] = field(default_factory=dict)
    """The guarantee of each provider."""
    control: list[str] = field(default_factory=list)
    letters: list[ReadFault] = field(default_factory=list)
    """What map tasks could not read; only the first bucket receives it."""
    before: Counter[str] = field(default_factory=Counter)
    """Measures of earlier stages, summed over their buckets; only the first bucket receives them."""

    def add(self, entry: Mapping[str, Any]) -> None:
        """Join the entry of another map task."""
        for source, provider, high in entry["highs"]:
            self.highs[source, provider] = max(self.highs.get((source, provider), high), high)
        for provider, time in entry.get("promises", ()):
            self.promises[provider] = max(self.promises.get(provider, time), time)
        self.control += entry.get("control", ())
        self.letters += (ReadFault(*letter) for letter in entry.get("letters", ()))
        self.before.update(entry.get("before", {}))

    def join(self, other: Head) -> None:
        """Join the head of another CEDR time."""
        highs = [[*key, high] for key, high in other.highs.items()]
        rest = {"control": other.control, "letters": other.letters, "before": other.before}
        self.add({"highs": highs, "promises": other.promises.items(), **rest})

    @property
    def high(self) -> Time:
        """h: the largest Sync or guarantee.  Reading: R33."""
        return max([*self.highs.values(), *self.promises.values()], default=BEGINNING)


class Received(NamedTuple):
    """A batch as a bucket receives it."""

    rows: pa.Table | None
    """Rows of the input, in an order that a replay repeats."""
    heads: dict[Time | None, Head]
    """By CEDR time; None where map tasks do not know it."""
    changes: dict[int, list[tuple[str | None, pa.Table]]]
    """What earlier stages emitted: by the number of the stage, for each provider."""

    def joined_head(self) -> Head:
        """One head for the whole batch."""
        joined = Head()
        for head in self.heads.values():
            joined.join(head)
        return joined

    def by_time(self) -> Iterator[tuple[Time, Head, pa.Table | None]]:
        """The head and the rows of each CEDR time of a recorded history; a bucket may have a head and no rows."""
        rows = self.rows
        arrivals = None if rows is None else pc.fill_null(rows.column("arrival"), BEGINNING).to_numpy()
        order = None if arrivals is None else np.argsort(arrivals, kind="stable")
        for time in sorted(time for time in self.heads if time is not None):
            part = None
            if rows is not None and arrivals is not None and order is not None:
                low, high = np.searchsorted(arrivals, [time, time + 1], sorter=order).tolist()
                part = rows.take(pa.array(order[low:high])) if low < high else None
            yield time, self.heads[time], part


def unpack(packed: Iterable[Packed]) -> Received:
    """Read what was sent to a bucket.  Blobs are sorted by map task, so that a replayed batch gives the same."""
    ordered = sorted(packed, key=lambda each: (each.task, each.number))
    heads: dict[Time | None, Head] = {}
    for each in ordered:
        for entry in json.loads(each.head):
            heads.setdefault(entry["time"], Head()).add(entry)
    tables: list[pa.Table] = []
    changes: dict[int, list[tuple[str | None, pa.Table]]] = {}
    for table in (unpack_table(each.rows) for each in ordered if each.rows is not None):
        sender = (table.schema.metadata or {}).get(STAGE_CHANGES)
        if sender is None:
            tables.append(table)
        else:
            stage, provider = json.loads(sender)
            changes.setdefault(stage, []).append((provider, table))
    return Received(_concatenated(tables), heads, dict(sorted(changes.items())))


def _concatenated(tables: list[pa.Table]) -> pa.Table | None:
    """All rows; map tasks leave out a column that is NULL in all their rows."""
    return pa.concat_tables(tables, promote_options="default") if tables else None


# -- rows as messages -------------------------------------------------------------------------------------------------


def messages_of(rows: pa.Table, layout: Arriving, letters: list[Letter]) -> Iterator[Message | EventBatch]:
    """Inserts in columns, then retractions: within a batch there is no order between map tasks.

    Adds a dead letter to ``letters`` for each row that cannot be a message.
    """
    codes = rows.column("code").to_numpy()
    kinds = rows.column("kind").to_numpy() if "kind" in rows.column_names else np.zeros(len(codes), np.int8)
    bad = _bad_times(rows)
    unusable = (codes == UNKNOWN) | ((kinds != INSERT) & (kinds != RETRACT)) | bad
    if unusable.any():
        letters += _dead_letters(rows.filter(pa.array(unusable)))
    if bad.any():
        rows, codes, kinds = rows.filter(pa.array(~bad)), codes[~bad], kinds[~bad]
    pieces = _sorted_by_type(rows)
    for number, event_type in enumerate(layout.types):
        if pieces is None:
            part = rows.filter(pa.array((codes == number) & (kinds == INSERT)))
        else:
            part = _rows_of_type(number, pieces)
        if part.num_rows:
            yield from _inserts(part, event_type, layout)
    retracts = (kinds == RETRACT) & (codes >= 0)
    if retracts.any():
        yield from _retractions(rows.filter(pa.array(retracts)), layout)


def _inserts(rows: pa.Table, event_type: TypeLayout, layout: Arriving) -> Iterator[EventBatch]:
    for provider, part in _by_provider(rows, layout):
        header = {name: part.column(name) for name in ("ve", "os", "oe") if name in part.column_names}
        yield EventBatch(
            event_type.name,
            part.column("id"),
            part.column("vs"),
            **header,
            keys=_keys(part),
            payload={name: part.column(slot) for name, slot in event_type.slots.items()},
            provider=provider,
        )


def _by_provider(rows: pa.Table, layout: Arriving) -> Iterator[tuple[str | None, pa.Table]]:
    """The rows of each source and provider."""
    sources = rows.column("source").unique().to_pylist() if "source" in rows.column_names else [0]
    for source in sorted(sources):
        own = rows if len(sources) == 1 else rows.filter(pc.equal(rows.column("source"), source))
        name = layout.sources[source].provider
        if "provider" not in own.column_names:
            yield name, own
            continue
        column = own.column("provider")
        for provider in sorted(column.unique().to_pylist(), key=str):
            same = pc.is_null(column) if provider is None else pc.equal(column, provider)
            yield provider if provider is not None else name, own.filter(same)


def _retractions(rows: pa.Table, layout: Arriving) -> Iterator[Retract]:
    for provider, part in _by_provider(rows, layout):
        for row in part.to_pylist():
            key = row.get("key")
            if key is None:
                start = row["vs"] if row.get("os") is None else row["os"]
                key = f"{layout.types[row['code']].name}/{row['id']}@{start}"
            yield Retract(key, row.get("oe"), row.get("ve"), provider)


def _sorted_by_type(rows: pa.Table) -> list[pa.RecordBatch] | None:
    """The pieces that map tasks sent, if all rows are inserts and each piece is sorted by type; otherwise None."""
    pieces = rows.to_batches()
    rising = (is_sorted(piece.column("code").to_numpy()) for piece in pieces)
    return pieces if "kind" not in rows.column_names and all(rising) else None


def _rows_of_type(number: int, pieces: list[pa.RecordBatch]) -> pa.Table:
    """The rows of a type as slices of pieces that are sorted by type: nothing is copied."""
    cuts = [np.searchsorted(piece.column("code").to_numpy(), [number, number + 1]).tolist() for piece in pieces]
    return pa.Table.from_batches(
        [piece.slice(low, high - low) for piece, (low, high) in zip(pieces, cuts, strict=True)]
    )


def _keys(rows: pa.Table) -> Any:
    if "key" not in rows.column_names:
        return None
    column = rows.column("key")
    return None if column.null_count == len(column) else column


def _bad_times(rows: pa.Table) -> NDArray[np.bool_]:
    """Which rows are marked as having no usable time.  Reading: R50."""
    times = pc.fill_null(rows.column("vs"), BEGINNING).to_numpy()
    bad: NDArray[np.bool_] = (times == TOO_FINE) | (times == BAD_TIME)
    return bad


def _dead_letters(rows: pa.Table) -> list[DeadLetter]:
    """Rows of an undeclared type, of an unknown kind, or without a usable time."""
    letters = []
    for row in rows.to_pylist():
        if row["code"] == UNKNOWN:
            named = "no type" if row.get("name") is None else f'the type "{row["name"]}", which was not declared'
            fault = Fault("unknown-type", f"the row has {named}")
        elif row["vs"] == TOO_FINE:
            fault = Fault("time-too-fine", "the row has a time between two microseconds (truncate=True cuts it off)")
        elif row["vs"] == BAD_TIME:
            fault = Fault("bad-time", "the row has a value that is no time")
        else:
            fault = Fault("unknown-message", "the row is neither insert, retract nor guarantee")
        start = row["vs"] if row["vs"] not in (None, TOO_FINE, BAD_TIME) else 0
        id_ = "" if row["id"] is None else str(row["id"])
        letters.append(fault.letter(insert(primitive(row.get("name") or "", id_, start)), 0))
    return letters
