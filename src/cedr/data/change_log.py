"""The change stream of a query: each change as an object, all of them as columns.

Paper: Section 4.  Readings: R8 (K), R40.  Whichever of the two forms is there, the other is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

import pyarrow as pa
import pyarrow.compute as pc

from cedr.connect.tables import Table, changes_table, restated
from cedr.consistency.emission.columns import STREAM, keys_of
from cedr.data.exports import SHOWN, Exports
from cedr.data.results import Shape, events, exported, raw_rows
from cedr.model.event import Event
from cedr.model.level import ConsistencyLevel
from cedr.model.stream import Change, Guarantee, Insert, Retract
from cedr.model.time import Time


class Step(NamedTuple):
    """What one step emitted: rows as a pipeline gives them, and the guarantee that left with it."""

    cedr_time: Time
    rows: pa.RecordBatch
    guarantee: Time | None


class ChangeLog(Exports, Sequence[Change]):
    """Changes in the order in which they were emitted."""

    def __init__(
        self,
        shape: Shape,
        changes: Sequence[Change] | None = None,
        steps: Sequence[Step] = (),
        level: ConsistencyLevel | None = None,
    ) -> None:
        self._shape, self._level = shape, level
        self._changes = None if changes is None else tuple(changes)
        self._steps = steps

    @property
    def objects(self) -> tuple[Change, ...]:
        """One object for each insert, retraction and guarantee."""
        if self._changes is None:
            self._changes = tuple(_objects(self._steps, self._shape))
        return self._changes

    def raw(self) -> pa.Table:
        """Inserts, retractions and guarantees as a raw table with ``change``, ``K`` and ``Cs``."""
        if not self._steps:
            return _of_objects(self.objects, self._shape)
        tables = [table for step in self._steps for table in _tables(step)]
        known = [table for table in tables if table.num_rows]
        return pa.concat_tables(known, promote_options="default") if known else _of_objects((), self._shape)

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All changes as an Arrow table: ``change``, ``id``, ``K``, the clocks, contributors, then the payload."""
        return exported(self.raw(), self._shape, STREAM, columns)

    def as_table(self, limit: int | None = SHOWN, *, clocks: bool = False) -> tuple[str, Table]:
        """A title, and the first changes as text."""
        at = "" if self._level is None else f" at {self._level}"
        title = f"{self._shape.name}: {len(self):,} change{'' if len(self) == 1 else 's'}{at}"
        shown = self.objects if limit is None else self.objects[:limit]
        return title, changes_table(
            shown, self._shape.type, self._shape.primitive, clocks=clocks, left=len(self) - len(shown)
        )

    def __repr__(self) -> str:
        return f"<{self.as_table(0)[0]}>"

    def __str__(self) -> str:
        title, table = self.as_table()
        return f"{title}\n{table.as_text()}"

    def __len__(self) -> int:
        if self._changes is not None:
            return len(self._changes)
        return sum(step.rows.num_rows + (step.guarantee is not None) for step in self._steps)

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Change, ...]: ...
    def __getitem__(self, index: int | slice) -> Change | tuple[Change, ...]:
        return self.objects[index]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.objects)

    def __eq__(self, other: object) -> bool:
        return self.objects == (other.objects if isinstance(other, ChangeLog) else other)

    def __hash__(self) -> int:
        return hash(self.objects)


def _tables(step: Step) -> Iterator[pa.Table]:
    rows = step.rows
    if rows.num_rows:
        table = pa.Table.from_batches([rows]).append_column("K", keys_of(rows))
        place = table.schema.get_field_index("change")
        yield table.set_column(place, "change", table.column("change").cast(pa.string()))
    if step.guarantee is not None:
        yield pa.table(
            {
                "change": ["guarantee"],
                "Os": pa.array([step.guarantee], pa.int64()),
                "Cs": pa.array([step.cedr_time], pa.int64()),
            }
        )


def _objects(steps: Sequence[Step], shape: Shape) -> Iterator[Change]:
    emitted: dict[str, Event] = {}
    for step in steps:
        rows = pa.Table.from_batches([step.rows])
        keys = keys_of(step.rows).to_pylist()
        kinds = pc.cast(rows.column("change"), pa.string()).to_pylist()
        for key, kind, event in zip(keys, kinds, events(rows, shape) if rows.num_rows else (), strict=True):
            yield change_of(key, kind, event, step.cedr_time, emitted)
        if step.guarantee is not None:
            yield Change(Guarantee(step.guarantee), step.cedr_time)


def change_of(key: str, kind: str, event: Event, time: Time, emitted: dict[str, Event]) -> Change:
    """A row of a change stream as an object; ``emitted`` has the rows by K as they stand, and is kept up to date.

    A row of a retraction has the ends that it leaves; a ``Retract`` names only those that it moves.  Reading: R3.
    """
    if kind == "insert":
        emitted[key] = event
        return Change(Insert(event, key), time, event)
    before = emitted.get(key, event)
    emitted[key] = event
    if event.occurrence_end <= event.occurrence_start:
        return Change(Retract(key), time, before)
    oe = None if event.occurrence_end == before.occurrence_end else event.occurrence_end
    ve = None if event.valid_end == before.valid_end else event.valid_end
    return Change(Retract(key, oe, ve), time, before)


def _of_objects(changes: Sequence[Change], shape: Shape) -> pa.Table:
    told = [change for change in changes if change.event is not None]
    rows = raw_rows([_after(change) for change in told], shape)
    rows = rows.append_column("change", pa.array([change.kind for change in told], pa.string()))
    rows = rows.append_column("K", pa.array([_key(change) for change in told], pa.string()))
    rows = rows.append_column("Cs", pa.array([change.cedr_time for change in told], pa.int64()))
    promised = [change for change in changes if isinstance(change.message, Guarantee)]
    if not promised:
        return rows
    guarantees = pa.table(
        {
            "change": pa.array(["guarantee"] * len(promised), pa.string()),
            "Os": pa.array(
                [change.message.time for change in promised if isinstance(change.message, Guarantee)], pa.int64()
            ),
            "Cs": pa.array([change.cedr_time for change in promised], pa.int64()),
        }
    )
    both = pa.concat_tables([rows, guarantees], promote_options="default")
    order = [place for place, change in enumerate(changes) if change.event is not None]
    order += [place for place, change in enumerate(changes) if isinstance(change.message, Guarantee)]
    return both.take(pc.sort_indices(pa.array(order)))


def _after(change: Change) -> Event:
    """The row as a change leaves it; one that is removed ends where it began."""
    assert change.event is not None
    return restated(change.event, change.message) if isinstance(change.message, Retract) else change.event


def _key(change: Change) -> str:
    return "" if isinstance(change.message, Guarantee) else change.message.lineage_key
