"""Answers into sinks: events per second from columns to a view, beside the query alone; and a key in a large history.

A view is written on the same thread as the query.  The limit is for seconds of this process on the processor; those of
the clock stand beside them, as a database also works in processes of its own, and waits for the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import machines as draw
from benchmarks.expected import FIRST
from benchmarks.measuring import Showing, Sizes, one_thread, pipeline_of
from cedr.consistency.emission.columns import SAID
from cedr.data.change_rows import change_rows, change_schema
from cedr.data.results import Shape
from cedr.history.keeping import Keep
from cedr.history.reading import read_history
from cedr.model.level import MIDDLE
from cedr.model.schema import DataType, EventType
from cedr.sinks.contract import Output, Sink
from cedr.sinks.output import output_of
from cedr.sinks.views.delta import Delta
from cedr.sinks.views.duckdb import DuckDb
from cedr.sinks.views.postgres import Postgres
from cedr.sinks.views.sqlite import Sqlite
from cedr.sinks.views.table import Table

Row = dict[str, Any]
QUERY = draw.TYPES + FIRST
LEAST = 50_000
"""Events per second of the processor into a view in SQLite, on one thread."""
_BATCH = 50_000
_SECOND = 1.0


def run(sizes: Sizes, showing: Showing) -> dict[str, list[Row]]:
    """Both tables."""
    one_thread()
    with TemporaryDirectory() as name, ExitStack() as open_until_the_end:
        views = _views(Path(name), open_until_the_end)
        return {
            "events per second into a view, batches of 50,000": _into_views(views, sizes, showing),
            "10 million change rows: what was believed of one row": _history(Path(name), sizes, showing),
        }


def _views(folder: Path, stack: ExitStack) -> dict[str, Sink | None]:
    made: dict[str, Sink | None] = {
        "no view": None,
        "SQLite": Table(Sqlite(folder / "views.db")),
        "DuckDB": Table(DuckDb(folder / "views.duckdb")),
        "Delta": Delta(folder / "view.delta"),
        "history": Keep(folder / "kept"),
    }
    from tests.sinks import postgres  # the tests start a server, too

    if postgres.binaries() is not None:
        made["PostgreSQL"] = Table(Postgres(stack.enter_context(postgres.server())))
    return made


def _into_views(views: dict[str, Sink | None], sizes: Sizes, showing: Showing) -> list[Row]:
    events = min(sizes.events, 1_000_000)
    drawn = draw.machines(events, min(sizes.keys, events // 50), late=0.1)
    feed = draw.batches(drawn, _BATCH)
    done = showing.bar("views", len(views) * len(feed))
    found = []
    for batch in feed:  # what is compiled is compiled before it is measured
        pipeline_of(QUERY, MIDDLE).step(batch.messages(), 1)
    for name, sink in views.items():
        pipeline = pipeline_of(QUERY, MIDDLE)
        shape, output = _output(QUERY)
        if sink is not None:
            sink.open(output)
        rows, start, cpu = 0, perf_counter(), process_time()
        for number, batch in enumerate(feed, 1):
            (said,) = pipeline.step(batch.messages(), number)
            changes = change_rows(number, number, said.to_arrow(), shape, guarantee=said.guarantee)
            rows += changes.num_rows
            if sink is not None:
                sink.write(number, changes)
            done()
        seconds, cpu = perf_counter() - start, process_time() - cpu
        if sink is not None:
            sink.close()
        per_second = round(events / cpu)
        found.append(
            {
                "into": name,
                "events per CPU second": per_second,
                "events per second": round(events / seconds),
                "change rows per second": round(rows / seconds),
                "verdict": ("ok" if per_second >= LEAST else "under") if name == "SQLite" else "",
            }
        )
    return found


def _output(text: str) -> tuple[Shape, Output]:
    from cedr.plan.compile import compile_text

    query = compile_text(text).queries["Q"]
    shape = Shape("Q", query.output, frozenset({"INSTALL", "SHUTDOWN"}), timestamps=True)
    return shape, output_of(query.plan, shape)


def _history(folder: Path, sizes: Sizes, showing: Showing) -> list[Row]:
    """Change rows of a pipeline's form, made directly: each row is said, shortened once, and a tenth taken back."""
    total = 2 * sizes.events
    shape = Shape(
        "H", EventType("H", {"machine": DataType.INTEGER, "load": DataType.FLOAT}), frozenset(), timestamps=True
    )
    size, chance = 100_000, np.random.default_rng(7)
    keep = Keep(folder / "history")
    keep.open(Output("H", change_schema(shape)))
    done = showing.bar("history", total // size)
    start = perf_counter()
    for number in range(1, total // size + 1):
        keep.write(number, change_rows(number, number, _changes(number, size, chance), shape))
        done()
    writing = perf_counter() - start
    keep.close()
    asked: dict[str, Callable[[], Any]] = {}
    some = read_history(folder / "history" / "H", as_of=1).to_arrow(["id"]).column("id")[17].as_py()
    for share in (0.1, 0.5, 1.0):
        time = round(total // size * share)
        asked[f"as of {time}"] = lambda time=time: read_history(
            folder / "history" / "H", as_of=time, where={"id": some}
        )
    found = []
    for name, ask in asked.items():
        start = perf_counter()
        rows = len(ask())
        seconds = perf_counter() - start
        found.append(
            {
                "question": name,
                "change rows": total,
                "rows found": rows,
                "seconds": round(seconds, 3),
                "written per second": round(total / writing),
                "verdict": "ok" if seconds <= _SECOND else "over",
            }
        )
    return found


def _changes(number: int, size: int, chance: np.random.Generator) -> pa.RecordBatch:
    """A batch: half of it new rows, half shortenings of rows of the batch before."""
    half, base = size // 2, 1_700_000_000_000_000
    new = np.arange(half) + (number - 1) * half
    old = new - half if number > 1 else new[:0]
    ids = pa.array([f"{int(each) * 2654435761 % 2**64:032x}" for each in (*old, *new)])
    start = np.concatenate([old, new]) * 1_000_000 + base
    insert = np.concatenate([np.zeros(len(old), bool), np.ones(half, bool)])
    forever = np.full(len(start), 2**63 - 1)
    kinds = pa.DictionaryArray.from_arrays(pa.array((~insert).astype(np.int8)), pa.array(["insert", "retract"]))
    said = np.where(insert, number, number - 1)
    columns = {
        "change": kinds,
        "id": ids,
        "said": pa.array(said),
        "Vs": pa.array(start),
        "Ve": pa.array(np.where(insert, forever, start + 5_000_000)),
        "Os": pa.array(start),
        "Oe": pa.array(np.where(insert | (start % 10_000_000 != 0), forever, start)),
        "Cs": pa.array(np.full(len(start), number)),
        "Rt": pa.array(start),
        "contributors": pa.nulls(len(start)),
        "machine": pa.array(start // 1_000_000 % 100_000),
        "load": pa.array(chance.random(len(start))),
    }
    assert list(columns)[: len(SAID)] == list(SAID)
    return pa.RecordBatch.from_pydict(columns)
