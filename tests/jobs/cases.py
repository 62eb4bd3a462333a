"""Jobs for tests: files of events, a job file around them, and a sink that remembers what it was given."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cedr.data.change_rows import INSERT, RETRACT, SHORTEN
from cedr.jobs.file.reading import read_job
from cedr.jobs.loop import Report
from cedr.jobs.starting import Started, start
from cedr.sinks.contract import Output
from cedr.sinks.kinds import KINDS, Kind

QUERY = """
EVENT Unanswered
WHEN UNLESS(OPEN AS o, CLOSE AS c, 10)
WHERE CorrelationKey(ticket, EQUAL)
OUTPUT o.ticket AS ticket;

EVENT Busy FROM OPEN AS o WINDOW MOVING 20 GROUP BY o.ticket OUTPUT o.ticket AS ticket, COUNT(*) AS n
"""


class Crash(BaseException):
    """Stands for a kill: nothing catches it."""


@dataclass
class Store:
    """What outlives a crash: the rows of each sink, and the last batch that it has stored."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)

    def believed(self, query: str) -> dict[str, dict[str, Any]]:
        """A table by ID, as R48 says to keep it."""
        table: dict[str, dict[str, Any]] = {}
        for row in self.rows.get(query, []):
            if row["change"] == INSERT:
                table[row["id"]] = row
            elif row["change"] == RETRACT or (row["change"] == SHORTEN and row["Oe"] is not None):
                table.pop(row["id"], None)
            elif row["change"] == SHORTEN:
                table[row["id"]] = {**table[row["id"]], "Ve": row["Ve"]}
        return table


class Remembering:
    """A sink that stores a batch and its number at once."""

    promise = "exactly once"

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name

    def open(self, output: Output) -> None:
        assert output.name == self._name
        self._store.rows.setdefault(self._name, [])

    def stored(self) -> int | None:
        return self._store.last.get(self._name)

    def write(self, batch: int, changes: pa.Table) -> None:
        if batch > self._store.last.get(self._name, 0):
            self._store.rows[self._name] += changes.to_pylist()
            self._store.last[self._name] = batch

    def close(self) -> None:
        pass


class Watching:
    """Keeps the reports."""

    def __init__(self) -> None:
        self.reports: list[Report] = []

    def batch(self, report: Report) -> None:
        self.reports.append(report)

    def idle(self) -> None:
        pass


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store, and the kind of output "memory" that keeps its rows there."""
    kept = Store()
    monkeypatch.setitem(KINDS, "memory", Kind(lambda _, query: Remembering(kept, query)))  # type: ignore[arg-type]
    return kept


def events(count: int = 60) -> list[dict[str, Any]]:
    """Tickets that are opened and mostly closed, out of order, with a broken row and one that comes twice."""
    rows: list[dict[str, Any]] = []
    for number in range(count):
        rows.append({"kind": "OPEN", "at": 3 * number, "no": f"o{number}", "ticket": f"T{number % 7}"})
        if number % 3:
            rows.append({"kind": "CLOSE", "at": 3 * number + 4, "no": f"c{number}", "ticket": f"T{number % 7}"})
    rows = [rows[(place * 5) % len(rows)] if place % 4 == 0 else row for place, row in enumerate(rows)]
    rows[7] = {**rows[7], "at": "never"}
    return rows


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def job_text(source: str, *, outputs: str = 'kind = "memory"', query: str = QUERY, run: str = "batch = 9") -> str:
    return f"""
[sources.tickets]
{source}
type = "kind"
time = "at"
id = "no"
disorder = 200

[queries]
text = '''{query}'''

[outputs.all]
{outputs}

[run]
clock = "batch"
bad_rows = 0.5
{run}
"""


def started(folder: Path, text: str, reached: Callable[[str], None] = lambda _: None) -> Started:
    path = folder / "job.toml"
    path.write_text(text)
    return start(read_job(path, environment={}), Watching(), reached=reached, wait=lambda _: None)


def run(folder: Path, text: str, reached: Callable[[str], None] = lambda _: None) -> Started:
    """Run a job to its end; a crash leaves its checkpoint as a kill would."""
    running = started(folder, text, reached)
    try:
        running.loop.run(lambda _: None)
    finally:
        running.loop.close()
    return running
