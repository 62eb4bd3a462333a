"""Tables on the screen and figures on disk."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

FOLDER = Path(".build/bench")
STYLES = {"ok": "green", "over": "bold red", "flat": "green", "grows": "bold red", "True": "green", "False": "bold red"}
WIDTH = 150
BLOCKS = "▁▂▃▄▅▆▇█"


def wide() -> Console:
    """A console on which the tables fit, also where there is no terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)


def print_tables(console: Console, tables: dict[str, list[dict[str, Any]]]) -> None:
    """Each list of rows as a table under its name."""
    for name, rows in tables.items():
        if not rows:
            continue
        table = Table(title=name, title_justify="left")
        for column, value in rows[0].items():
            table.add_column(column, justify="left" if isinstance(value, str) else "right")
        for row in rows:
            table.add_row(*(_cell(value) for value in row.values()))
        console.print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    style = STYLES.get(text)
    return f"[{style}]{text}[/]" if style else text


def keep(name: str, tables: dict[str, list[dict[str, Any]]], sizes: dict[str, Any]) -> Path:
    """Write the figures with what they were measured on; the file's place."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.json"
    versions = {"numpy": np.__version__, "numba": numba.__version__, "pyarrow": pa.__version__}
    machine = {"python": platform.python_version(), "machine": platform.machine(), **versions}
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    path.write_text(
        json.dumps({"at": moment, "machine": machine, "sizes": sizes, "results": tables}, indent=1), "utf-8"
    )
    return path


def sparkline(values: list[float], width: int = 60) -> str:
    """A line of blocks from zero to the largest value; each block is the largest of its share of the values.

    >>> sparkline([0, 1, 2, 4, 7])
    '▁▂▃▅█'
    """
    if not values:
        return ""
    step = max(1, -(-len(values) // width))
    peaks = [max(values[at : at + step]) for at in range(0, len(values), step)]
    top = max(peaks) or 1
    return "".join(BLOCKS[min(len(BLOCKS) - 1, int(peak / top * len(BLOCKS)))] for peak in peaks)
