"""What could not be read of a file: a dead letter that never was a message.

Readings: R39, R41 (what cannot be used goes to the dead letters with the reason).  A worker that reads files finds such
places, and tells the first bucket of them beside what all buckets must know.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from cedr.model.dead_letter import DeadLetter

_SHOWN: Final = 1_000
"""So many letters of a text are told."""


class Misread(NamedTuple):
    """A file, or a line or row of one, that is not what it should be."""

    code: str
    place: str
    """The file, and the line or row of it."""
    detail: str
    message: str
    """The line as it stands there; of a whole file its path."""

    @classmethod
    def of_file(cls, path: str, detail: str) -> Misread:
        """A file, or a part of one, that cannot be read at all."""
        return cls("unreadable-file", path, detail, path)

    @classmethod
    def of_line(cls, path: str, place: str, detail: str, text: str) -> Misread:
        """A line, or a row, of a file."""
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        return cls("unreadable-line", f"{path}, {place},", detail, shown)

    @property
    def primary(self) -> str:
        """What it is about, as an error says it."""
        return f"{self.place} cannot be read"

    @property
    def reason(self) -> str:
        """What it is about and why, as a dead letter says it."""
        return f"{self.primary}: {self.detail}"

    def as_data(self) -> list[Any]:
        """As it travels."""
        return list(self)


Letter = DeadLetter | Misread


def damaged(path: str, error: Exception, where: str = "") -> Misread:
    """A file that is not what it should be; raises the error again where it is the system's and not the file's."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error
    return Misread.of_file(path, where + (str(error) or type(error).__name__).splitlines()[0])
