"""The pipeline of one bucket: packed rows in, what is said out.

Paper: Section 5, Figure 7.  Readings: R3, R33, R38, R40.  The same code for bounded and for streaming input.  What the
map tasks of a batch say about h, g and control is put together here; it is the same in every bucket.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.consistency.batch import EventBatch
from cedr.consistency.composition import Said
from cedr.consistency.emission.changes import Changes
from cedr.consistency.pipeline import Pipeline
from cedr.model.dead_letter import DeadLetter, Fault
from cedr.model.event import primitive
from cedr.model.stream import Guarantee, Message, Retract, insert
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.runtime.kernels.segments import is_sorted
from cedr.spark.layout.layout import BAD_TIME, INSERT, RETRACT, TOO_FINE, UNKNOWN, Layout, TypeLayout
from cedr.spark.layout.read_faults import Letter, Misread
from cedr.spark.map_task.pack import SAID_BY, unpacked
from cedr.spark.sources.control import Switch, commands


class Packed(NamedTuple):
    """One row of what the map tasks sent to a bucket."""

    task: int
    number: int
    head: str
    rows: bytes | pa.Buffer | None


@dataclass(slots=True)
class Head:
    """What holds for one CEDR time, of all map tasks together."""

    highs: dict[tuple[int, str | None], Time] = field(default_factory=dict)
    promises: dict[str | None, Time] = field(default_factory=dict)
    control: list[str] = field(default_factory=list)
    letters: list[Misread] = field(default_factory=list)
    """What map tasks could not read; the first bucket hears of it."""
    before: Counter[str] = field(default_factory=Counter)
    """Measures of the stages before, all their buckets together; the first bucket hears of them too."""

    def add(self, entry: Mapping[str, Any]) -> None:
        """What another map task says."""
        for source, provider, high in entry["highs"]:
            self.highs[source, provider] = max(self.highs.get((source, provider), high), high)
        for provider, time in entry.get("promises", ()):
            self.promises[provider] = max(self.promises.get(provider, time), time)
        self.control += entry.get("control", ())
        self.letters += (Misread(*letter) for letter in entry.get("letters", ()))
        self.before.update(entry.get("before", {}))

    def join(self, other: Head) -> None:
        """What other map tasks say."""
        highs = [[*key, high] for key, high in other.highs.items()]
        told = {"control": other.control, "letters": other.letters, "before": other.before}
        self.add({"highs": highs, "promises": other.promises.items(), **told})

    @property
    def high(self) -> Time:
        """h: the largest Sync or guarantee.  Reading: R33."""
        return max([*self.highs.values(), *self.promises.values()], default=BEGINNING)


class Step(NamedTuple):
    """One batch of one CEDR time, and what was said about it at each level."""

    time: Time
    said: list[Changes]
    letters: list[Letter]


class Bucket:
    """A pipeline that is fed packed rows."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.pipeline = Pipeline(layout.query.plan, layout.levels, layout.catalog, layout.providers)
        self.heard: dict[tuple[int, str | None], tuple[Time, Time]] = {}
        """When each source and provider was last heard of, and its newest Sync; where silence means something."""
        self.high: Time = BEGINNING
        self.promised: list[Guarantee] = []
        """h, and what was promised, of the last step: what the next stage must hear of."""
        self.before: Mapping[str, int] = {}
        """What the stages before measured at the last step."""

    def steps(self, packed: Iterable[Packed], last: Time = 0) -> Iterator[Step]:
        """Take what the map tasks sent, in the order of CEDR time; each step is to be read before the next."""
        rows, heads, said = _arrived(packed)
        if not self.layout.recorded:
            together = Head()
            for head in heads.values():
                together.join(head)
            yield self._step(rows, together, max(last + 1, *(time or 0 for time in heads)), self._taken(said))
            return
        for time, head, part in _by_time(rows, heads):
            last = max(last + 1, time if time is not None else 0)
            yield self._step(part, head, last)

    def finish(self, time: Time) -> Step:
        """Nothing more will come: everything is final."""
        return self._ended(self._step(None, Head(promises={None: FOREVER - 1}), time))

    def _ended(self, step: Step) -> Step:
        """With the retractions that still wait for their row.  Reading: R41."""
        step.letters.extend(self.pipeline.dead_letters())
        return step

    def table(self, packed: Iterable[Packed]) -> Iterator[Step]:
        """All of a bounded input in one step, after which nothing can come: what is said is the result.

        It is said a stretch of time at a time; the last one has the dead letters.
        """
        rows, heads, said = _arrived(packed)
        messages = self._taken(said)
        letters: list[Letter] = [letter for head in heads.values() for letter in head.letters]
        if not self.layout.recorded:
            messages += () if rows is None else self._messages(rows, letters)
        else:  # guarantees speak of what comes after them
            for _, head, part in _by_time(rows, heads):
                messages += () if part is None else self._messages(part, letters)
                messages += self._guarantees(head)
        for changes in self.pipeline.whole([*messages, Guarantee(FOREVER - 1)], 1):
            yield Step(1, changes, [])
        yield self._ended(Step(1, [], [*letters, *self.pipeline.take_dead_letters()]))

    def _step(self, rows: pa.Table | None, head: Head, time: Time, taken: Sequence[Message | EventBatch] = ()) -> Step:
        for switch in commands(head.control):
            self._switch(switch)
        letters: list[Letter] = [*head.letters]
        messages = [*taken, *(() if rows is None else self._messages(rows, letters))]
        self.high, self.before = head.high, head.before
        self.pipeline.heartbeat(self.high)
        self.promised = [*self._guarantees(head), *self._silent(head, time)]
        return self._said([*messages, *self.promised], letters, time)

    def _taken(self, said: Mapping[int, Sequence[Said]]) -> list[Message | EventBatch]:
        """What stages before have said.  Reading: R32."""
        taken = self.layout.taken
        return [message for stage in said for message in self.pipeline.said_elsewhere(said[stage], taken[stage])]

    def _said(self, messages: list[Message | EventBatch], letters: list[Letter], time: Time) -> Step:
        said = self.pipeline.step(messages, time)
        return Step(time, said, [*letters, *self.pipeline.take_dead_letters()])

    def _switch(self, switch: Switch) -> None:
        if switch.of < len(self.layout.levels):
            self.pipeline.switch(switch.level, of=switch.of, at_sync_point=switch.at_sync_point)

    def _guarantees(self, head: Head) -> Iterator[Guarantee]:
        """What was promised, and what follows from declared bounds on disorder."""
        promises = dict(head.promises)
        for (source, provider), high in head.highs.items():
            disorder = self.layout.sources[source].disorder
            if disorder is not None:
                time = plus(high, -disorder - 1)
                promises[provider] = max(promises.get(provider, time), time)
        for provider, time in promises.items():
            yield Guarantee(time, provider)

    def _silent(self, head: Head, time: Time) -> list[Guarantee]:
        """What follows from silence: who was idle for so long has sent all up to its newest event."""
        for (source, provider), high in head.highs.items():
            if self.layout.sources[source].idle is not None:
                before = self.heard.get((source, provider), (time, high))[1]
                self.heard[source, provider] = (time, max(before, high))
        return [
            Guarantee(high, provider)
            for (source, provider), (last, high) in self.heard.items()
            if time - last >= (self.layout.sources[source].idle or 0) and (source, provider) not in head.highs
        ]

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _messages(self, rows: pa.Table, letters: list[Letter]) -> Iterator[Message | EventBatch]:
        """Inserts by columns, then retractions: within a batch there is no order between map tasks."""
        codes = rows.column("code").to_numpy()
        kinds = rows.column("kind").to_numpy() if "kind" in rows.column_names else np.zeros(len(codes), np.int8)
        bad = _bad_times(rows)
        strange = (codes == UNKNOWN) | ((kinds != INSERT) & (kinds != RETRACT)) | bad
        if strange.any():
            letters += _strange(rows.filter(pa.array(strange)))
        if bad.any():
            rows, codes, kinds = rows.filter(pa.array(~bad)), codes[~bad], kinds[~bad]
        pieces = _in_order_of_type(rows)
        for number, layout in enumerate(self.layout.types):
            if pieces is None:
                part = rows.filter(pa.array((codes == number) & (kinds == INSERT)))
            else:
                part = _of_type(number, pieces)
            if part.num_rows:
                yield from self._inserts(part, layout)
        retracts = (kinds == RETRACT) & (codes >= 0)
        if retracts.any():
            yield from self._retractions(rows.filter(pa.array(retracts)))

    def _inserts(self, rows: pa.Table, layout: TypeLayout) -> Iterator[EventBatch]:
        for provider, part in self._by_provider(rows):
            header = {name: part.column(name) for name in ("ve", "os", "oe") if name in part.column_names}
            yield EventBatch(
                layout.name,
                part.column("id"),
                part.column("vs"),
                **header,
                keys=_keys(part),
                payload={name: part.column(slot) for name, slot in layout.slots.items()},
                provider=provider,
            )

    def _by_provider(self, rows: pa.Table) -> Iterator[tuple[str | None, pa.Table]]:
        """The rows of each source and provider."""
        sources = rows.column("source").unique().to_pylist() if "source" in rows.column_names else [0]
        for source in sorted(sources):
            own = rows if len(sources) == 1 else rows.filter(pc.equal(rows.column("source"), source))
            name = self.layout.sources[source].provider
            if "provider" not in own.column_names:
                yield name, own
                continue
            column = own.column("provider")
            for provider in sorted(column.unique().to_pylist(), key=str):
                same = pc.is_null(column) if provider is None else pc.equal(column, provider)
                yield provider if provider is not None else name, own.filter(same)

    def _retractions(self, rows: pa.Table) -> Iterator[Retract]:
        for provider, part in self._by_provider(rows):
            for row in part.to_pylist():
                key = row.get("key")
                if key is None:
                    start = row["vs"] if row.get("os") is None else row["os"]
                    key = f"{self.layout.types[row['code']].name}/{row['id']}@{start}"
                yield Retract(key, row.get("oe"), row.get("ve"), provider)


def _in_order_of_type(rows: pa.Table) -> list[pa.RecordBatch] | None:
    """What map tasks sent, piece by piece, where all of it are inserts in the order of types."""
    pieces = rows.to_batches()
    rising = (is_sorted(piece.column("code").to_numpy()) for piece in pieces)
    return pieces if "kind" not in rows.column_names and all(rising) else None


def _of_type(number: int, pieces: list[pa.RecordBatch]) -> pa.Table:
    """The rows of a type, cut out of each piece."""
    cuts = [np.searchsorted(piece.column("code").to_numpy(), [number, number + 1]).tolist() for piece in pieces]
    return pa.Table.from_batches(
        [piece.slice(low, high - low) for piece, (low, high) in zip(pieces, cuts, strict=True)]
    )


def _keys(rows: pa.Table) -> Any:
    if "key" not in rows.column_names:
        return None
    column = rows.column("key")
    return None if column.null_count == len(column) else column


def _arrived(packed: Iterable[Packed]) -> tuple[pa.Table | None, dict[Time | None, Head], dict[int, list[Said]]]:
    """The rows of all map tasks in an order that a replay repeats, what holds for each CEDR time, and what was said."""
    ordered = sorted(packed, key=lambda each: (each.task, each.number))
    heads: dict[Time | None, Head] = {}
    for each in ordered:
        for entry in json.loads(each.head):
            heads.setdefault(entry["time"], Head()).add(entry)
    tables: list[pa.Table] = []
    said: dict[int, list[Said]] = {}
    for table in (unpacked(each.rows) for each in ordered if each.rows is not None):
        who = (table.schema.metadata or {}).get(SAID_BY)
        if who is None:
            tables.append(table)
        else:
            stage, provider = json.loads(who)
            said.setdefault(stage, []).append((provider, table))
    return _joined(tables), heads, dict(sorted(said.items()))


def _joined(tables: list[pa.Table]) -> pa.Table | None:
    """All rows; a column that some lack, because it says nothing there, is NULL there."""
    return pa.concat_tables(tables, promote_options="default") if tables else None


def _by_time(
    rows: pa.Table | None, heads: Mapping[Time | None, Head]
) -> Iterator[tuple[Time | None, Head, pa.Table | None]]:
    """The rows of each CEDR time of a recorded history with its head; also where a bucket has a head and no rows."""
    arrivals = None if rows is None else pc.fill_null(rows.column("arrival"), BEGINNING).to_numpy()
    order = None if arrivals is None else np.argsort(arrivals, kind="stable")
    for time in sorted(time for time in heads if time is not None):
        part = None
        if rows is not None and arrivals is not None and order is not None:
            low, high = np.searchsorted(arrivals, [time, time + 1], sorter=order).tolist()
            part = rows.take(pa.array(order[low:high])) if low < high else None
        yield time, heads[time], part


def _bad_times(rows: pa.Table) -> NDArray[np.bool_]:
    """Which rows are marked as having no time that can be used.  Reading: R50."""
    times = pc.fill_null(rows.column("vs"), BEGINNING).to_numpy()
    found: NDArray[np.bool_] = (times == TOO_FINE) | (times == BAD_TIME)
    return found


def _strange(rows: pa.Table) -> list[DeadLetter]:
    """Rows of a type that nobody declared, of a kind that does not exist, or at no time."""
    found = []
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
        found.append(fault.letter(insert(primitive(row.get("name") or "", id_, start)), 0))
    return found
