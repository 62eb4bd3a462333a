"""The machine events of the benchmarks as folders of CSV and Parquet files, for everyone to read the same.

Columns: ``kind``, ``machine``, ``ts``, ``serial``, ``load``.  Files follow each other in time.  All times are whole
milliseconds, the finest that Flink knows for ordering, and no two are equal: every system sees the same order.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from benchmarks import machines as draw
from benchmarks.machines import KINDS, Machines
from cedr.model.time import MILLISECOND

FOLDER = Path(".build/bench/files")
PER_FILE = 500_000
COLUMNS = ("kind", "machine", "ts", "serial", "load")


@dataclass(frozen=True, slots=True)
class Files:
    """The same events in both formats, and in memory to compare with."""

    csv: Path
    parquet: Path
    drawn: Machines


def write(events: int, keys: int, done: Callable[[], object] = lambda: None) -> Files:
    """Write the events, unless they are there; ``done`` is called for each file."""
    drawn = in_milliseconds(draw.machines(events, keys))
    folders = {form: FOLDER / f"{events}-{keys}" / form for form in ("csv", "parquet")}
    for form, folder in folders.items():
        if not folder.is_dir():
            _write(drawn, folder, form, done)
    return Files(folders["csv"], folders["parquet"], drawn)


def in_milliseconds(drawn: Machines) -> Machines:
    """Events in the order of time, at whole milliseconds, each at one of its own."""
    places = np.arange(len(drawn))
    times = np.maximum.accumulate(drawn.vs // MILLISECOND - places) + places
    vs = times * MILLISECOND
    return replace(drawn, vs=vs, arrival=vs, end=max(drawn.end, int(vs.max(initial=drawn.end)) + 1))


def table(drawn: Machines) -> pa.Table:
    """Events as columns."""
    kinds = pa.DictionaryArray.from_arrays(pa.array(drawn.kind), pa.array(KINDS)).cast(pa.string())
    times = pa.array(drawn.vs // MILLISECOND).cast(pa.timestamp("ms"))
    columns = (kinds, pa.array(drawn.key), times, pa.array(drawn.serial), pa.array(drawn.serial % 1_000 / 1_000.0))
    return pa.table(dict(zip(COLUMNS, columns, strict=True)))


def _write(drawn: Machines, folder: Path, form: str, done: Callable[[], object]) -> None:
    """Each file whole, then the folder whole: what is there can be trusted."""
    hidden = folder.with_name(f".{form}")
    shutil.rmtree(hidden, ignore_errors=True)
    hidden.mkdir(parents=True)
    for number, low in enumerate(range(0, len(drawn), PER_FILE), 1):
        part = table(drawn.take(slice(low, low + PER_FILE)))
        path = hidden / f"part-{number:04}.{form}"
        if form == "csv":
            pa_csv.write_csv(part, path, pa_csv.WriteOptions(include_header=False, quoting_style="none"))
        else:
            pa_parquet.write_table(part, path)
        done()
    hidden.rename(folder)
