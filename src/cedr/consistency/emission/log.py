"""What a level has said, as segments of bytes: the K and the ends of rows that may still change.

Readings: R8, R33.  A row is known again by its ID and Os, wherever it is made.  A segment holds what changed since the
last one; a row that was taken back is listed as unsaid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.consistency.emission.changes import KEPT
from cedr.consistency.emission.emitted_rows import UNSAID, EmittedRows
from cedr.consistency.emission.frozen_rows import Name
from cedr.model.time import Time
from cedr.runtime.operators.contract import Line

Rows = NDArray[np.int64]
_SPARE = 4096


class EmissionLog:
    """Writes what was emitted, and reads it again."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._sizes: dict[int, int] = {}
        self._next = 0

    def segments(self) -> dict[str, bytes | None]:
        """Its segments, to be dropped."""
        return {self._segment(number): None for number in self._sizes}

    def follow(self, other: EmissionLog) -> None:
        """Count on from another one of the same name."""
        self._next = other._next

    def flush(self, emitted: EmittedRows, line: Line) -> dict[str, bytes | None]:
        """The segments that changed since the last time; None where one is to be dropped.

        Rows before the line are final, and not written.
        """
        rows, open_rows = emitted.touched(line), emitted.open_rows(line)
        if sum(self._sizes.values()) + len(rows) <= 4 * len(open_rows) + _SPARE:
            return self._append(emitted, rows) if len(rows) else {}
        changes: dict[str, bytes | None] = {self._segment(number): None for number in self._sizes}
        self._sizes = {}
        changes.update(self._append(emitted, open_rows))
        return changes

    def _append(self, emitted: EmittedRows, rows: Rows) -> dict[str, bytes | None]:
        number, self._next = self._next, self._next + 1
        self._sizes[number] = len(rows)
        return {self._segment(number): _written(emitted.entries(rows))}

    def _segment(self, number: int) -> str:
        return f"{self._name}/{number}"

    def load(self, segments: Mapping[str, bytes]) -> dict[Name, tuple[Time, Time, Time]]:
        """What was said, by name: when, with which Oe, and with which Ve if that is not the row's."""
        said: dict[Name, tuple[Time, Time, Time]] = {}
        prefix = f"{self._name}/"
        for number in sorted(int(name[len(prefix) :]) for name in segments if name.startswith(prefix)):
            entries = _read(segments[self._segment(number)])
            self._sizes[number] = len(entries)
            self._next = number + 1
            for name, when, *ends in entries:
                if when == UNSAID:
                    said.pop(name, None)
                else:
                    said[name] = (when, ends[0], ends[1])
        return said


def _written(entries: Iterable[NDArray[np.generic]]) -> bytes:
    columns = [pa.array(column) for column in entries]
    batch = pa.RecordBatch.from_arrays(columns, ["high", "low", "os", "said", "oe", "ve"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _read(segment: bytes) -> list[tuple[Name, Time, Time, Time]]:
    table = pa.ipc.open_stream(segment).read_all()
    columns = [table.column(name).to_pylist() for name in ("high", "low", "os", "said", "oe")]
    # states written before shortenings could wait do not have it
    columns.append(table.column("ve").to_pylist() if "ve" in table.column_names else [KEPT] * table.num_rows)
    return [((high, low, os), said, oe, ve) for high, low, os, said, oe, ve in zip(*columns, strict=True)]
