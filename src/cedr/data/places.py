"""Where the rows of a source stand: a file and a row in it, found again when something is wrong with one."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(slots=True)
class Places:
    """Rows in the order in which they were read, as runs of rows that follow each other in a file."""

    _starts: list[int] = field(default_factory=list)
    _runs: list[tuple[str, int]] = field(default_factory=list)
    count: int = 0

    def add(self, name: str, first: int, count: int) -> None:
        """So many rows of a file, from a row number on."""
        if count:
            self._starts.append(self.count)
            self._runs.append((name, first))
            self.count += count

    def of(self, row: int) -> tuple[str, int]:
        """The file and the number of a row in it.

        >>> places = Places()
        >>> places.add("a.csv", 2, 3), places.add("b.csv", 2, 1)
        (None, None)
        >>> places.of(2), places.of(3)
        (('a.csv', 4), ('b.csv', 2))
        """
        run = bisect_right(self._starts, row) - 1
        name, first = self._runs[run]
        return name, first + row - self._starts[run]
