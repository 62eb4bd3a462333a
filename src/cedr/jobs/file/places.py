"""Where a key stands in the text of a job file, so that an error can draw it.

``tomllib`` gives values without places.  A job file has one key a line, so a look at its lines finds them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cedr.diagnostics.span import Source, Span

_TABLE: Final = re.compile(r"^\s*\[\[?\s*([^\]]+?)\s*\]\]?")
_KEY: Final = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART: Final = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_LONG: Final = ('"""', "'''")


class Places:
    """The places of the keys of a text."""

    def __init__(self, name: str, text: str) -> None:
        self._source = Source(name, text)
        self._spans: dict[tuple[str, ...], Span] = {}
        self._scan(text)

    def of(self, path: Sequence[str]) -> Span | None:
        """The place of a key, or of the nearest table that holds it; None for what stands in no file."""
        for length in range(len(path), 0, -1):
            found = self._spans.get(tuple(path[:length]))
            if found is not None:
                return found
        return None

    def at(self, line: int, column: int) -> Span:
        """The place at a line and a column, from 1."""
        starts = self._source.line_starts
        start = min(starts[min(line, len(starts)) - 1] + column - 1, len(self._source.text))
        return Span(self._source, start, start + 1)

    def _scan(self, text: str) -> None:
        table: tuple[str, ...] = ()
        within, offset = "", 0
        for line in text.splitlines(keepends=True):
            if within:
                within = "" if within in line else within
            elif (found := _TABLE.match(line)) is not None:
                table = _parts(found[1])
                self._add(table, offset + found.start(1), offset + found.end(1))
            elif (found := _KEY.match(line)) is not None:
                self._add((*table, *_parts(found[1])), offset + found.start(1), offset + found.end(1))
                within = next((mark for mark in _LONG if line.count(mark) == 1), "")
            offset += len(line)

    def _add(self, path: tuple[str, ...], start: int, end: int) -> None:
        for length in range(1, len(path) + 1):
            self._spans.setdefault(path[:length], Span(self._source, start, end))


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))
