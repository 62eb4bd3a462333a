"""A stream on Spark into sinks: the view is the latest belief, each batch is stored once.  Readings: R40, R48."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import cedr
from cedr.consistency.pipeline import Pipeline
from cedr.data.change_rows import change_rows
from cedr.data.results import Shape
from cedr.hosts.host import said_by
from cedr.model.level import MIDDLE
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_text
from tests.spark.streaming import Stream
from tests.spark.test_standing import ALERT, BATCHES, SCHEMA, asked, messages


class Crash(RuntimeError):
    """Stands for a driver that dies."""


def run(stream: Stream, result: DataFrame, sinks: Any, **more: Any) -> None:
    checkpoint = stream.folder / "checkpoint"
    cedr.write_to(result, sinks, checkpoint=checkpoint, trigger={"availableNow": True}, **more).awaitTermination()


def view(path: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as connection:
        rows = connection.execute('SELECT id, "Vs", "Ve", "Os", key, value FROM Alert ORDER BY id').fetchall()
    connection.close()
    return rows


def local() -> tuple[list[tuple[Any, ...]], list[dict[str, Any]]]:
    """The latest belief on the local host, and its change rows."""
    program = compile_text(ALERT)
    (query,) = program.queries.values()
    pipeline = Pipeline(query.plan, MIDDLE, program.types)
    shape = Shape(query.name, query.output, frozenset({"A", "B"}), timestamps=False)
    changes, rows = [], []
    for number, batch in enumerate(BATCHES):
        (said,) = pipeline.step(messages(batch), number)
        changes += said.to_changes()
        rows += change_rows(number, number, said.to_arrow(), shape).to_pylist()
    held = (row for row in said_by(changes, FOREVER) if row.occurrence_end == FOREVER)
    return (
        sorted(
            (r.id, r.valid_start, r.valid_end, r.occurrence_start, r.payload["key"], r.payload["value"]) for r in held
        ),
        rows,
    )


def told(row: dict[str, Any]) -> tuple[Any, ...]:
    names = ("change", "id", "Vs", "Ve", "Os", "Oe", "contributors", "value")
    return (row["seq"] >> 34, *(str(row[name]) for name in names))


def names_of(folder: Path) -> dict[str, Any]:
    return {
        "view": cedr.sink("sqlite", path=str(folder / "answers.db")),
        "lines": cedr.sink("jsonl", path=str(folder / "changes.jsonl")),
        "history": cedr.sink("history", path=str(folder / "history")),
    }


def test_view_lines_and_history_are_those_of_the_local_host_after_crashes(spark: SparkSession, tmp_path: Path) -> None:
    """With a crash before and behind each store of a batch, and a restart after each."""
    stream = Stream(spark, tmp_path, SCHEMA)
    wanted, rows = local()
    for batch in BATCHES:
        stream.put(batch)
    for after in range(2):  # each restart gets one batch further, then dies again
        sinks = names_of(tmp_path)
        crashing(sinks["lines"], after)
        with pytest.raises(Exception, match="Crash"):
            run(stream, asked(stream, consistency="MIDDLE"), [*sinks.values()])
        for sink in sinks.values():
            sink.close()
    sinks = names_of(tmp_path)
    run(stream, asked(stream, consistency="MIDDLE"), [*sinks.values()])
    for sink in sinks.values():
        sink.close()
    assert view(tmp_path / "answers.db") == wanted
    lines = [json.loads(line) for line in (tmp_path / "changes.jsonl").read_text("utf-8").splitlines()]
    said = [line for line in lines if line["change"] != "guarantee"]
    assert sorted(map(told, said)) == sorted(map(told, rows))
    assert len({line["seq"] for line in lines}) == len(lines)
    guarantees = [line["Os"] for line in lines if line["change"] == "guarantee"]
    assert guarantees == sorted(guarantees)
    history = cedr.read_history(tmp_path / "history" / "Alert").to_arrow()
    assert sorted(history.column("id").to_pylist()) == [row[0] for row in wanted]
    shutil.rmtree(tmp_path / "checkpoint")
    again = names_of(tmp_path)["view"]
    with pytest.raises(Exception, match="sink-ahead"):  # what the view holds is not of the new checkpoint
        run(stream, asked(stream), again)
    again.close()


def crashing(sink: Any, after: int) -> None:
    """The sink dies before its second write, or, every other time, behind it."""
    real, count = sink.write, 0

    def write(batch: int, rows: Any) -> None:
        nonlocal count
        count += 1
        if count > 1:
            if after % 2:
                real(batch, rows)
            raise Crash("Crash")
        real(batch, rows)

    sink.write = write


def test_only_a_stream_with_all_its_columns_is_taken(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, SCHEMA)
    stream.put(BATCHES[0])
    for wrong in (asked(stream, columns=["id"]), asked(stream, consistency=["STRONG", "MIDDLE"]), stream.frame):
        with pytest.raises(cedr.HostError, match="sinks take the change stream"):
            cedr.write_to(wrong, cedr.sink("console"), checkpoint=tmp_path / "checkpoint")
