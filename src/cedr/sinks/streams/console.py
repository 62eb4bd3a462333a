"""Change rows as lines for people: ``+`` for a row, ``~`` for one that ends earlier, ``-`` for one that never was."""

from __future__ import annotations

import sys
from typing import Final, TextIO

import pyarrow as pa

from cedr.data.change_rows import GUARANTEE, HEADER, INSERT, LEVEL, RETRACT, SHORTEN
from cedr.sinks.contract import Output
from cedr.sinks.streams.lines import Data, as_data

_SIGNS: Final = {INSERT: "+", SHORTEN: "~", RETRACT: "-"}


class Console:
    """A sink that prints."""

    promise = "at least once: what was printed when the process died is printed again"

    traceless = True
    """Nobody knows what was seen."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def open(self, output: Output) -> None:
        """There is nothing to connect to."""

    def stored(self) -> int | None:
        """Nobody knows what was seen."""
        return None

    def write(self, batch: int, changes: pa.Table) -> None:  # noqa: ARG002 - what is printed has no number
        """Print a line for each change."""
        stream = self._stream or sys.stdout
        stream.write("".join(f"{_line(row)}\n" for row in as_data(changes)))
        stream.flush()

    def close(self) -> None:
        """Nothing is held."""


def _line(row: Data) -> str:
    if "change" not in row:  # a dead letter
        return "! " + " ".join(f"{name}={value}" for name, value in row.items() if value is not None)
    if row["change"] == GUARANTEE:
        return f"= final up to {'the end' if row['Os'] is None else row['Os']}"
    if row["change"] == LEVEL:
        return f"= from here on {row['K']}"
    payload = " ".join(f"{name}={value}" for name, value in row.items() if name not in HEADER)
    until = "…" if row["Ve"] is None else row["Ve"]
    closed = "" if row["Oe"] is None or row["change"] == RETRACT else f" believed until {row['Oe']}"
    return f"{_SIGNS[row['change']]} [{row['Vs']}, {until}) {payload}{closed}"
