"""The outputs of a job: the kinds of sinks with their settings, and how each is opened."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from cedr.data.change_rows import GUARANTEE, HEADER, INSERT, LEVEL
from cedr.jobs.file.description import OutputSettings
from cedr.sinks.contract import Output, Sink

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OutputKind:
    """A kind of output."""

    opened: Callable[[Options, str], Sink]
    """Makes a sink for one query, of the settings and the name of the query."""
    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    example: str = ""
    paths: tuple[str, ...] = ()
    """Settings that are paths, which begin at the folder of the job file."""


def kind_of_output(given: Options) -> str:
    """The kind of an output: as it says, or the console."""
    return str(given.get("kind", "console"))


def open_sink(settings: OutputSettings, query: str) -> Sink:
    """A sink for one query of an output, not opened yet."""
    options = {
        name: value.replace("{query}", query) if isinstance(value, str) else value
        for name, value in settings.options.items()
    }
    return OUTPUT_KINDS[settings.kind].opened(options, query)


class Console:
    """Prints each change on a line; after a crash the last batch may be printed again."""

    promise = "printed at least once"

    def __init__(self, name: str) -> None:
        self._name = name
        self._payload: list[str] = []

    def open(self, output: Output) -> None:
        """Nothing is to be made."""
        self._payload = [name for name in output.schema.names if name not in HEADER]

    def stored(self) -> int | None:
        """Nobody knows what a terminal has shown."""
        return None

    def write(self, batch: int, changes: pa.Table) -> None:  # noqa: ARG002 - the contract
        """Print the changes of a batch."""
        for row in changes.to_pylist():
            if row["change"] not in (GUARANTEE, LEVEL):
                payload = " ".join(f"{name}={row[name]}" for name in self._payload)
                end = "" if row["change"] == INSERT and row["Ve"] is None else f" until {row['Ve']}"
                sys.stdout.write(f"{row['change']:<8} {self._name} at {row['Vs']}{end} {payload}\n")
        sys.stdout.flush()

    def close(self) -> None:
        """Nothing is held."""


OUTPUT_KINDS: Final[dict[str, OutputKind]] = {
    "console": OutputKind(lambda _, query: Console(query)),
}
"""Every kind of output by its name."""
