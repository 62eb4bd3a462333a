"""Runs the benchmarks, prints a table and keeps the figures: ``python -m benchmarks``."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import oracle

FOLDER = Path(".benchmarks")
BENCHMARKS = {"oracle": oracle.run}


def main() -> None:
    """Run each benchmark, with a progress bar; one JSON file a run."""
    console = Console()
    moment = datetime.now(UTC)
    results = {name: run() for name, run in track(BENCHMARKS.items(), description="measuring", console=console)}
    for name, rows in results.items():
        table = Table(*rows[0], title=name)
        for row in rows:
            table.add_row(*(str(value) for value in row.values()))
        console.print(table)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{moment:%Y%m%dT%H%M%SZ}.json"
    machine = {"python": platform.python_version(), "machine": platform.machine(), "at": moment.isoformat()}
    path.write_text(json.dumps({"machine": machine, "results": results}, indent=1), "utf-8")
    console.print(f"kept in {path}")


main()
