"""Faults of files: a file, line or row that cannot be read becomes a dead letter without ever being a message.

Readings: R39, R41 (what cannot be used is a dead letter with the reason).  The map task that reads the file finds the
fault, and sends it to the first bucket in the head of its rows.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from cedr.model.dead_letter import DeadLetter

_SHOWN: Final = 1_000
"""The most characters of a line that a fault shows."""


class ReadFault(NamedTuple):
    """A file, or a line or row of one, that cannot be read."""

    code: str
    place: str
    """The file, and the line or row in it."""
    detail: str
    message: str
    """The line as it is in the file; for a whole file its path."""

    @classmethod
    def of_file(cls, path: str, detail: str) -> ReadFault:
        """The fault of a file, or of a part of one."""
        return cls("unreadable-file", path, detail, path)

    @classmethod
    def of_line(cls, path: str, place: str, detail: str, text: str) -> ReadFault:
        """The fault of a line, or of a row."""
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        return cls("unreadable-line", f"{path}, {place},", detail, shown)

    @property
    def primary(self) -> str:
        """The place, for an error."""
        return f"{self.place} cannot be read"

    @property
    def reason(self) -> str:
        """The place and the cause, for a dead letter."""
        return f"{self.primary}: {self.detail}"

    def as_data(self) -> list[Any]:
        """The fields as JSON data, for a head."""
        return list(self)


Letter = DeadLetter | ReadFault


def damaged(path: str, error: Exception, where: str = "") -> ReadFault:
    """The fault of a damaged file; raises the error again if the system caused it, not the file."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error
    return ReadFault.of_file(path, where + (str(error) or type(error).__name__).splitlines()[0])
