"""What one step routes: pairs of a subscription and a change of an event, in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.consistency.emission.columns import keys_of
from cedr.model.time import Time
from cedr.runtime.values.arrow_arrays import arrow

Rows = NDArray[np.int64]

INSERT, SHORTEN, RETRACT = range(3)
KINDS: Final = ("insert", "shorten", "retract")
"""What becomes of an event for a subscription: it comes, it ends earlier, it never was."""
HEADER: Final = ("subscription", "change", "type", "id", "K", "Vs", "Ve", "Os", "Oe", "Cs")
"""The columns before the payload."""


@dataclass(frozen=True, eq=False)
class Part:
    """The pairs of one event type."""

    type: str
    events: pa.RecordBatch
    """The changes of events that go to somebody: a row for each."""
    rows: Rows
    """The row of ``events`` of each pair."""
    slots: Rows
    """The number of the subscription of each pair."""
    kinds: NDArray[np.int8]
    """What becomes of the event for the subscription: INSERT, SHORTEN, RETRACT."""


class Routed:
    """What one step routes, in the order of changes; retractions and inserts of an event in their order of Sync.

    ``len()`` is the number of pairs.
    """

    def __init__(
        self,
        cedr_time: Time,
        guarantee: Time | None,
        parts: Sequence[Part],
        names: Callable[[Rows], pa.Array],
    ) -> None:
        self.cedr_time, self.guarantee = cedr_time, guarantee
        """``guarantee``: up to this occurrence time all is final; None where that is known already."""
        self.parts = tuple(parts)
        self._names = names

    def __len__(self) -> int:
        return sum(len(part.rows) for part in self.parts)

    def __repr__(self) -> str:
        return f"<{len(self):,} pairs of a subscription and an event at CEDR time {self.cedr_time}>"

    def subscriptions(self) -> pa.ChunkedArray:
        """The ID of the subscription of each pair."""
        return pa.chunked_array([self._names(part.slots).cast(pa.string()) for part in self.parts], pa.string())

    def to_arrow(self) -> pa.Table:
        """A row for each pair: subscription, change, type, id, K, Vs, Ve, Os, Oe, Cs, then the payload.

        Attributes that a type does not have are NULL; one that two types have with values of different types is
        ``type_attribute``.  An attribute with the name of one of the columns before it is ``payload_attribute``.
        """
        tables = self.by_type()
        if not tables:
            return pa.table({name: pa.nulls(0, pa.string()) for name in HEADER})
        if len(tables) == 1:
            return next(iter(tables.values()))
        plain = {of: _plain(table) for of, table in tables.items()}
        kinds: dict[str, set[pa.DataType]] = {}
        for columns in plain.values():
            for name, column in columns.items():
                kinds.setdefault(name, set()).add(column.type)
        doubled = {name for name, found in kinds.items() if len(found) > 1}
        named = [
            pa.table({f"{of}_{name}" if name in doubled else name: column for name, column in columns.items()})
            for of, columns in plain.items()
        ]
        return pa.concat_tables(named, promote_options="default")

    def by_type(self) -> dict[str, pa.Table]:
        """The same, with a table for each event type, which has the columns of its attributes only."""
        return {part.type: self._table(part) for part in self.parts}

    def to_pylist(self) -> list[dict[str, Any]]:
        """The same as dictionaries, each with the attributes of its type."""
        return [row for table in self.by_type().values() for row in table.to_pylist()]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_pylist())

    def _table(self, part: Part) -> pa.Table:
        events = part.events.take(arrow(part.rows))
        gone = part.kinds == RETRACT
        oe = events.column("Oe")
        if gone.any():
            oe = arrow(np.where(gone, events.column("Os").to_numpy(), oe.to_numpy()))
        columns = {
            "subscription": self._names(part.slots),
            "change": pa.DictionaryArray.from_arrays(arrow(part.kinds), pa.array(KINDS)),
            "type": pa.DictionaryArray.from_arrays(arrow(np.zeros(len(part.rows), np.int8)), pa.array([part.type])),
            "id": events.column("id"),
            "K": keys_of(events),
            **{name: events.column(name) for name in ("Vs", "Ve", "Os")},
            "Oe": oe,
            "Cs": events.column("Cs"),
        }
        payload = {name: events.column(name) for name in events.schema.names if name not in _NOT_PAYLOAD}
        return pa.table({**columns, **payload})


_NOT_PAYLOAD: Final = frozenset({"change", "id", "said", "Vs", "Ve", "Os", "Oe", "Cs", "Rt", "contributors"})


def _plain(table: pa.Table) -> dict[str, Any]:
    """The columns without dictionaries, which cannot be put together."""
    found = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        coded = pa.types.is_dictionary(column.type)
        found[name] = column.cast(column.type.value_type) if coded else column
    return found


@dataclass(frozen=True, eq=False)
class Matches:
    """Which events match which subscriptions: pairs, in the order of events."""

    events: Rows
    """The row of the event of each pair, in what was given."""
    slots: Rows
    """The number of the subscription of each pair."""
    names: Callable[[Rows], pa.Array]

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        return f"<{len(self):,} pairs of a subscription and an event>"

    @property
    def subscriptions(self) -> pa.DictionaryArray:
        """The ID of the subscription of each pair."""
        return self.names(self.slots)

    def to_arrow(self) -> pa.Table:
        """The pairs: the subscription, and the row of the event."""
        return pa.table({"subscription": self.subscriptions, "event": arrow(self.events)})
