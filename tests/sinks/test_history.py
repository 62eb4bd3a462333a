"""History: what was believed at any CEDR time, whatever was put together, forgotten or killed since.

Paper: Section 4.  Readings: R24, R48.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cedr.diagnostics.exceptions import SinkError, StreamError
from cedr.history import compaction, reading
from cedr.history.catalog import Catalog
from cedr.history.keeping import Keep
from cedr.history.reading import read_history
from cedr.hosts.host import said_by
from cedr.model.event import Event
from cedr.model.level import MIDDLE
from cedr.model.stream import Change
from cedr.model.time import FOREVER
from cedr.testing import strategies as some
from tests.sinks.runs import RUNS, Run, Stepped, runs

RUN = RUNS["aggregate"]
STEPS = list(RUN.steps(MIDDLE))
FEW = settings(
    max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)


@pytest.fixture(autouse=True)
def put_together_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three files become one, so that few batches show what thousands would."""
    monkeypatch.setattr(compaction, "_TOGETHER", 3)


def kept(steps: list[Stepped], folder: Path, run: Run = RUN, **options: Any) -> Keep:
    sink = Keep(folder, **options)
    sink.open(run.output)
    for step in steps:
        sink.write(step.batch, step.table)
    return sink


def open_end(time: int) -> int | None:
    return None if time == FOREVER else time


def table(rows: list[Event]) -> list[tuple[Any, ...]]:
    return sorted(
        (
            (row.id, row.valid_start, open_end(row.valid_end), row.occurrence_start, open_end(row.occurrence_end))
            for row in rows
        ),
        key=repr,
    )


def answer(folder: Path, name: str, **asked: Any) -> list[tuple[Any, ...]]:
    rows = read_history(folder / name, **asked).to_arrow()
    return sorted(
        zip(*(rows.column(name).to_pylist() for name in ("id", "Vs", "Ve", "Os", "Oe")), strict=True), key=repr
    )


@FEW
@given(run=runs(), level=some.levels(), data=st.data())
def test_every_cedr_time_has_its_answer(run: Run, level: Any, data: st.DataObject, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("history")
    steps = list(run.steps(level))
    kept(steps, folder, run).close()
    changes: list[Change] = [change for step in steps for change in step.changes]
    for step in steps:
        rows = said_by(changes, step.batch)
        assert answer(folder, run.query.name, as_of=step.batch) == table(rows)
    low = data.draw(st.integers(-1, 8))
    high = low + data.draw(st.integers(0, 4))
    rows = said_by(changes, FOREVER)
    assert answer(folder, run.query.name, occurring=(low, high)) == table(
        [row for row in rows if row.occurrence_start <= high and row.occurrence_end > low]
    )
    assert answer(folder, run.query.name, valid=(low, high)) == table(
        [row for row in rows if row.valid_start <= high and row.valid_end > low]
    )


def test_files_are_put_together_and_nothing_is_lost(tmp_path: Path) -> None:
    sink = kept(STEPS, tmp_path)
    files = sorted(path.name for path in (tmp_path / "Counts").iterdir())
    with_rows = sum(any(change.event is not None for change in step.changes) for step in STEPS)
    assert len(files) < with_rows / 3
    sink.close()
    read = duckdb.sql(
        f"SELECT count(*), count(DISTINCT seq) FROM read_parquet('{tmp_path}/Counts/*.parquet')"
    ).fetchall()
    told = sum(change.event is not None for step in STEPS for change in step.changes)
    assert read == [(told, told)]


def test_what_is_kept_is_kept_and_what_is_not_is_refused(tmp_path: Path) -> None:
    kept(STEPS, tmp_path / "all").close()
    keep = 10
    sink = kept(STEPS, tmp_path / "some", keep=keep)
    catalog = Catalog(tmp_path / "some")
    compaction.compact_all(catalog, tmp_path / "some" / "Counts", "Counts", keep)
    sink.close()
    (segment,) = catalog.segments("Counts")
    catalog.close()
    assert segment.rows < sum(change.event is not None for step in STEPS for change in step.changes)
    last = STEPS[-1].batch
    for time in range(last - keep, last + 1):
        assert answer(tmp_path / "some", "Counts", as_of=time) == answer(tmp_path / "all", "Counts", as_of=time)
    with pytest.raises(StreamError, match="not-kept"):
        read_history(tmp_path / "some" / "Counts", as_of=last - keep - 5)


class Crash(BaseException):
    """The process is gone."""


def test_a_crash_at_every_step_loses_and_doubles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each sync, rename, entry in the catalog and removal of a file; then the batch comes again."""
    left = 0

    def dying(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **more: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise Crash
            return real(*args, **more)

        return step

    monkeypatch.setattr(os, "fsync", dying(os.fsync))
    monkeypatch.setattr(os, "replace", dying(os.replace))
    for name in ("add", "stored", "remove"):
        monkeypatch.setattr(Catalog, name, dying(getattr(Catalog, name)))
    monkeypatch.setattr(Path, "unlink", dying(Path.unlink))
    crashes, done = 0, False
    while not done:
        left = 4 + crashes % 17
        sink = Keep(tmp_path)
        try:
            sink.open(RUN.output)
            assert sink.stored() is None or sink.stored() in {step.batch for step in STEPS}
            for step in STEPS:
                sink.write(step.batch, step.table)
            done = True
        except Crash:
            crashes += 1
        sink.close()
    left = -1
    assert crashes > 20
    changes = [change for step in STEPS for change in step.changes]
    for step in STEPS:
        assert answer(tmp_path, "Counts", as_of=step.batch) == table(said_by(changes, step.batch))


def test_rows_of_one_key(tmp_path: Path) -> None:
    kept(STEPS, tmp_path, key="payload_k").close()
    rows = read_history(tmp_path / "Counts", where={"payload_k": "1"}).to_arrow()
    assert set(rows.column("payload_k").to_pylist()) == {1}
    whole = read_history(tmp_path / "Counts").to_arrow()
    assert rows.num_rows == whole.column("payload_k").to_pylist().count(1)
    with pytest.raises(StreamError, match="no column"):
        read_history(tmp_path / "Counts", where={"colour": "red"})


def test_a_reader_looks_again_for_files_that_were_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = kept(STEPS[:20], tmp_path)
    real, calls = reading.read_segments, 0

    def meanwhile(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            catalog = Catalog(tmp_path)
            compaction.compact_all(catalog, tmp_path / "Counts", "Counts")
            catalog.close()
        return real(*args)

    monkeypatch.setattr(reading, "read_segments", meanwhile)
    changes = [change for step in STEPS[:20] for change in step.changes]
    assert answer(tmp_path, "Counts") == table(said_by(changes, FOREVER))
    assert calls == 2
    sink.close()


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="no-such-history"):
        read_history(tmp_path)
    kept(STEPS[:9], tmp_path).close()
    assert len(read_history(tmp_path)) == len(read_history(tmp_path / "Counts"))
    with pytest.raises(StreamError, match="outputs: Counts"):
        read_history(tmp_path / "Sums")
    with pytest.raises(StreamError, match="is no time"):
        read_history(tmp_path, as_of="yesterday")
    with pytest.raises(SinkError, match="no column"):
        Keep(tmp_path / "other", key="colour").open(RUN.output)
    next((tmp_path / "Counts").glob("*.parquet")).unlink()
    with pytest.raises(SinkError, match="is gone"):
        Keep(tmp_path).open(RUN.output)
