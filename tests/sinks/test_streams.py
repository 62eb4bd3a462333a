"""The change stream as files and lines: every row once, whatever crashes."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from cedr.diagnostics.exceptions import SinkError
from cedr.model.level import MIDDLE
from cedr.sinks import durable
from cedr.sinks.contract import Sink, check_stored
from cedr.sinks.kinds import KINDS, make_sink
from cedr.sinks.letters import LETTERS, Letter, letter_rows, letters_output
from cedr.sinks.streams.console import Console
from cedr.sinks.streams.jsonlines import JsonLines
from cedr.sinks.streams.parquet import ParquetFolder
from tests.sinks.runs import RUNS

RUN = RUNS["aggregate"]
STEPS = list(RUN.steps(MIDDLE))
SEQS = [seq for step in STEPS for seq in step.table.column("seq").to_pylist()]


class Crash(BaseException):
    """The process is gone."""


def jsonl(folder: Path) -> tuple[Sink, Callable[[], list[int]]]:
    path = folder / "changes.jsonl"
    return JsonLines(path), lambda: [json.loads(line)["seq"] for line in path.read_text("utf-8").splitlines()]


def parquet(folder: Path) -> tuple[Sink, Callable[[], list[int]]]:
    where = folder / "changes"

    def seqs() -> list[int]:
        found: list[int] = []
        for name in sorted(where.glob("batch-*.parquet")):
            found += pa_parquet.read_table(name).column("seq").to_pylist()
        return found

    return ParquetFolder(where), seqs


Make = Callable[[Path], tuple[Sink, Callable[[], list[int]]]]
BOTH = pytest.mark.parametrize("make", [jsonl, parquet])


@BOTH
def test_every_change_is_there_once(make: Make, tmp_path: Path) -> None:
    for _ in range(2):
        sink, seqs = make(tmp_path)
        sink.open(RUN.output)
        for step in STEPS:
            sink.write(step.batch, step.table)
        sink.close()
        assert seqs() == SEQS
    check_stored("it", sink.stored(), kept=STEPS[-2].batch, planned=STEPS[-1].batch)


@BOTH
def test_a_crash_at_every_step_doubles_and_loses_nothing(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each sync and rename, again and again, until all batches are through."""
    real_sync, real_rename = os.fsync, os.replace
    left = 0

    def dying(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise Crash
            return real(*args)

        return step

    for module in (os, durable.os):
        monkeypatch.setattr(module, "fsync", dying(real_sync))
        monkeypatch.setattr(module, "replace", dying(real_rename))
    crashes, done = 0, False
    while not done:
        sink, seqs = make(tmp_path)
        left = 3 + crashes % 11
        try:
            sink.open(RUN.output)
            for step in STEPS:
                sink.write(step.batch, step.table)
            done = True
        except Crash:
            crashes += 1
    assert crashes > 10
    assert seqs() == SEQS


def code(error: pytest.ExceptionInfo[SinkError]) -> str:
    return error.value.diagnostics[0].code


@BOTH
def test_a_place_of_somebody_else_is_left_alone(make: Make, tmp_path: Path) -> None:
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "mine.parquet").write_text("mine")
    (tmp_path / "changes.jsonl").write_text("mine")
    with pytest.raises(SinkError) as refused:
        make(tmp_path)[0].open(RUN.output)
    assert code(refused) == "view-not-ours"


@BOTH
def test_what_somebody_removed_is_missed(make: Make, tmp_path: Path) -> None:
    sink, _ = make(tmp_path)
    sink.open(RUN.output)
    for step in STEPS[:5]:
        sink.write(step.batch, step.table)
    for path in [*tmp_path.rglob("*.parquet"), *tmp_path.rglob("_cedr.json"), *tmp_path.rglob("changes.jsonl")]:
        path.unlink()
    with pytest.raises(SinkError) as refused:
        sink.write(6, STEPS[5].table)
    assert code(refused) == "view-dropped"


def test_a_sink_that_is_behind_or_ahead_of_its_job_is_refused() -> None:
    for stored, kept, planned, wrong in (
        (4, 5, 6, "sink-behind"),
        (None, 5, 6, "sink-behind"),
        (7, 5, 6, "sink-ahead"),
        (3, None, None, "sink-ahead"),
    ):
        with pytest.raises(SinkError) as refused:
            check_stored("the view", stored, kept, planned)
        assert code(refused) == wrong
    check_stored("the view", 6, kept=5, planned=6)
    check_stored("the view", None, kept=None, planned=None)


def test_the_console_shows_what_each_change_is() -> None:
    shown = io.StringIO()
    sink = Console(shown)
    sink.open(RUN.output)
    for step in STEPS:
        sink.write(step.batch, step.table)
    lines = shown.getvalue().splitlines()
    assert {line[0] for line in lines} == {"+", "~", "-", "="}
    assert lines[0] == "+ [0, …) payload_k=0 n=1 total=0"
    assert lines[-1] == "= final up to 9223372036854775806"


def test_dead_letters_are_rows_of_any_sink(tmp_path: Path) -> None:
    letters = [
        Letter("bad-json", "is not JSON", "orders/0", 17, "{oops"),
        Letter("null-id", "has no ID", "a.csv", None, ""),
    ]
    for kind, options in (
        ("jsonl", {"path": str(tmp_path / "l.jsonl")}),
        ("sqlite", {"path": str(tmp_path / "l.db"), "append": True}),
    ):
        sink = make_sink(kind, options, "dead_letters")
        sink.open(letters_output("dead_letters"))
        for _ in range(2):
            sink.write(3, letter_rows(3, letters))
        sink.write(4, letter_rows(4, []))
        assert sink.stored() == 4
        sink.close()
    lines = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    assert [line["offset"] for line in lines] == [17, None]
    assert list(lines[0]) == LETTERS.names


def test_every_kind_says_what_it_needs() -> None:
    for name, kind in KINDS.items():
        if kind.required:
            with pytest.raises(SinkError) as refused:
                make_sink(name, {}, "Q")
            assert code(refused) == "bad-option"
            assert kind.example in str(refused.value)
        with pytest.raises(SinkError) as refused:
            make_sink(name, {"colour": "red"}, "Q")
        assert code(refused) == "bad-option"
    with pytest.raises(SinkError) as refused:
        make_sink("paper", {}, "Q")
    assert code(refused) == "unknown-sink"


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "sqlite"])
def test_values_of_every_type_come_through(kind: str, tmp_path: Path) -> None:
    from datetime import UTC, date, datetime, timedelta
    from decimal import Decimal

    values = {
        "at": pa.array([datetime(2026, 1, 31, 12, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
        "day": pa.array([date(2026, 1, 31), None]),
        "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        "long": pa.array([timedelta(seconds=90), None], pa.duration("us")),
        "raw": pa.array([b"\x00\xff", None]),
        "name": pa.array(['a "quoted", \\ \n text', None]),
        "much": pa.array([float("nan"), 1e300]),
        "yes": pa.array([True, None]),
    }
    base = RUN.output.schema
    rows = pa.table(
        {
            **{
                f.name: pa.array([[f'c"{n}'] for n in range(2)] if f.name == "contributors" else [None, None], f.type)
                for f in base
            },
            "change": ["insert", "insert"],
            "id": ["x", "y"],
            "K": ["x@1", "y@1"],
            "seq": [1, 2],
            **values,
        },
        schema=pa.schema([*base, *(pa.field(name, column.type) for name, column in values.items())]),
    )
    from dataclasses import replace

    sink = make_sink(kind, {"path": str(tmp_path / "out")}, "Q")
    sink.open(replace(RUN.output, schema=rows.schema))
    sink.write(1, rows)
    assert sink.stored() == 1
    sink.close()
    if kind == "jsonl":
        first, second = (json.loads(line) for line in (tmp_path / "out").read_text("utf-8").splitlines())
        assert (first["at"], first["day"], first["price"]) == ("2026-01-31T12:00:00Z", "2026-01-31", "1.50")
        assert (first["long"], first["raw"], first["name"], first["much"]) == (
            90_000_000,
            "AP8=",
            'a "quoted", \\ \n text',
            None,
        )
        assert second["much"] == 1e300
