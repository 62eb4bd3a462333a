"""Dead letters as rows: what was not used, why, where it came from and what it said.

Readings: R37, R39, R41.  They go to any sink that takes rows one after the other, as an output with other columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from cedr.sinks.contract import Output

LETTERS: Final = pa.schema(
    [
        ("batch", pa.int64()),
        ("code", pa.string()),
        ("reason", pa.string()),
        ("source", pa.string()),
        ("offset", pa.int64()),
        ("row", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Letter:
    """Something that was not used."""

    code: str
    reason: str
    source: str
    """The file, topic and partition, or table that it came from."""
    offset: int | None
    """Its line, row or offset there."""
    row: str
    """What it said, as it came."""


def letters_output(name: str) -> Output:
    """The output of the dead letters of a query or a job."""
    return Output(name, LETTERS)


def letter_rows(batch: int, letters: Iterable[Letter]) -> pa.Table:
    """Dead letters of a batch, to be written under its number."""
    found = list(letters)
    columns = {name: [getattr(letter, name) for letter in found] for name in LETTERS.names[1:]}
    return pa.table({"batch": [batch] * len(found), **columns}, schema=LETTERS)
