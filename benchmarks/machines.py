"""Seeded machine events as Arrow columns: INSTALL, SHUTDOWN, RESTART over many machines, in order or partly late.

``machines`` draws the events, ``batches`` cuts them into what a pipeline takes in one step: a record batch for each
type and a guarantee that is sound, so that nothing comes after it that it excludes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.connect.generated import numbered
from cedr.connect.machines import INSTALL, KINDS, RESTART, SHARES, SHUTDOWN, START
from cedr.consistency.batch import EventBatch
from cedr.model.stream import Guarantee, Message
from cedr.model.time import DAY, HOUR, Time

__all__ = [
    "INSTALL",
    "KINDS",
    "RESTART",
    "SHARES",
    "SHUTDOWN",
    "START",
    "TYPES",
    "TYPES_BY_TEXT",
    "Batch",
    "Integers",
    "Machines",
    "arrow",
    "batches",
    "machines",
    "named",
]

Integers = NDArray[np.int64]

TYPES = "".join(f"TYPE {kind} (Machine_Id INTEGER, Serial INTEGER, Load FLOAT); " for kind in KINDS)
TYPES_BY_TEXT = TYPES.replace("Machine_Id INTEGER", "Machine_Id STRING")


@dataclass(frozen=True, slots=True)
class Machines:
    """Events in the order of arrival.  ``serial`` numbers them in the order of (Vs, ID)."""

    kind: NDArray[np.int8]
    key: Integers
    vs: Integers
    serial: Integers
    arrival: Integers
    delay: int
    end: Time

    def __len__(self) -> int:
        return len(self.vs)

    def take(self, rows: NDArray[np.bool_] | Integers | slice) -> Machines:
        """Some of the events, in the order given."""
        columns = (column[rows] for column in (self.kind, self.key, self.vs, self.serial, self.arrival))
        return Machines(*columns, self.delay, self.end)


def machines(
    count: int,
    keys: int,
    *,
    late: float = 0.0,
    delay: int = HOUR,
    start: Time = START,
    span: int = DAY,
    first_serial: int = 0,
    seed: int = 7,
) -> Machines:
    """``count`` events of ``keys`` machines over ``span``; a share ``late`` of them arrives up to ``delay`` later."""
    random = np.random.default_rng(seed)
    vs = np.sort(random.integers(start, start + span, count))
    kind = np.searchsorted(np.cumsum(SHARES)[:-1], random.random(count), side="right").astype(np.int8)
    key = random.integers(0, keys, count)
    serial = np.arange(first_serial, first_serial + count)
    behind = np.where(random.random(count) < late, random.integers(1, delay + 1, count), 0)
    drawn = Machines(kind, key, vs, serial, vs + behind, delay if late else 0, start + span)
    return drawn.take(np.argsort(drawn.arrival, kind="stable")) if late else drawn


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of one step, by type, and the guarantee that follows them."""

    columns: dict[str, pa.RecordBatch]
    guarantee: Time

    def messages(self) -> list[Message | EventBatch]:
        """As a pipeline takes it; what this costs is part of what is measured."""
        inserts = [EventBatch.from_table(kind, rows) for kind, rows in self.columns.items()]
        return [*inserts, Guarantee(self.guarantee)]


def batches(drawn: Machines, size: int, *, text: bool = False, closing: int = DAY) -> list[Batch]:
    """The events in batches of ``size`` rows, each with its guarantee; the last one looks ``closing`` ahead.

    With ``text`` the machines are named by texts instead of numbers.
    """
    cuts = [*range(0, len(drawn), size), len(drawn)]
    columns, places = {}, {}
    for kind, name in enumerate(KINDS):
        rows = np.flatnonzero(drawn.kind == kind)
        columns[name] = arrow(drawn.take(rows), name[0], text=text)
        places[name] = np.searchsorted(rows, cuts).tolist()
    found = []
    for number, stop in enumerate(cuts[1:]):
        spans = {name: (place[number], place[number + 1]) for name, place in places.items()}
        parts = {name: columns[name].slice(low, high - low) for name, (low, high) in spans.items() if high > low}
        found.append(Batch(parts, _promise(drawn, stop, closing)))
    return found


def _promise(drawn: Machines, stop: int, closing: int) -> Time:
    """What can be promised once the rows up to ``stop`` are there: no later one has a smaller or equal Vs."""
    return drawn.end + closing if stop == len(drawn) else int(drawn.arrival[stop]) - drawn.delay - 1


def arrow(drawn: Machines, letter: str, *, text: bool = False) -> pa.RecordBatch:
    """Rows of one type as Arrow columns; IDs are the type's letter and the serial number."""
    columns = {
        "id": named(drawn.serial, letter, 9),
        "time": pa.array(drawn.vs),
        "Machine_Id": named(drawn.key, "m", 8) if text else pa.array(drawn.key),
        "Serial": pa.array(drawn.serial),
        "Load": pa.array((drawn.serial % 1_000) / 1_000.0),
    }
    return pa.record_batch(columns)


def named(numbers: Integers, letter: str, width: int) -> pa.Array:
    """Numbers as texts of one width, so that their order is kept."""
    return pc.binary_join_element_wise(letter, numbered(numbers, width), "")
