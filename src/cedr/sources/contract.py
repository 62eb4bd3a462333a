"""What a source of a job is: it names what comes next before it is read, and reads the same again when asked again.

Readings: R33 (providers), R40 (batches).  A job writes down the ``Chunk`` that it is going to read, then reads it.
After a crash it reads the chunk that was written down, and takes the next from where that one ends.

    source.resume(end, done)            # where an earlier run has come to; None and nothing at first
    chunk = source.next(10_000)         # None: nothing is there now
    origin = source.read(chunk)         # rows of named columns, as of any data

What cannot be read a second time, such as standard input, comes with the chunk itself as ``kept``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cedr.data.origins import Origin
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import MissingExtraError, StreamError

Offset = Any
"""Where a source stands: plain data, as JSON has it."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What a source has next."""

    what: Any
    """What is to be read: plain data."""
    end: Offset
    """Where the source stands behind it."""
    done: tuple[str, ...] = ()
    """What is read in full with it, and never to be read again: the names of files."""
    kept: bytes | None = field(default=None, repr=False)
    """The rows themselves, if they can be had only once."""

    def as_data(self) -> dict[str, Any]:
        """All but the rows, as plain data."""
        return {"what": self.what, "end": self.end, "done": list(self.done)}

    @classmethod
    def of_data(cls, data: Mapping[str, Any], kept: bytes | None = None) -> Chunk:
        """A chunk that was written down."""
        return cls(data["what"], data["end"], tuple(data["done"]), kept)


class JobSource(Protocol):
    """Rows of named columns, in chunks that can be read again."""

    name: str
    """What the job calls it."""
    single: bool
    """Whether rows come one by one from anywhere, so that a bad one says nothing of the others."""
    pushed: bool
    """Whether only the other end knows when it is over: a bounded run waits for that."""

    provider_column: str | None
    """The column that tells who promises for a row, where the source has one of its own."""

    @property
    def finished(self) -> bool:
        """Whether nothing will ever come any more."""

    def providers(self) -> Sequence[str] | None:
        """Who promises for the rows, where that is told by a column; None: the source itself."""

    def resume(self, end: Offset, done: Collection[str]) -> None:
        """Go on where a chunk ended, without what was read in full."""

    def next(self, most: int) -> Chunk | None:
        """What comes next, about so many rows where it can choose; None if nothing is there now."""

    def read(self, chunk: Chunk) -> Origin:
        """The rows of a chunk: each time the same.  Raises ``StreamError`` if they are not there any more."""

    def close(self) -> None:
        """Let go of connections."""


def refused(name: str, code: str, primary: str, *, detail: str = "", hint: str = "") -> StreamError:
    """The error of a source, by its name."""
    return StreamError(Diagnostic(code, f"source {name}: {primary}", detail=detail, hint=hint))


def missing_extra(name: str, package: str, extra: str) -> MissingExtraError:
    """The error for a source whose package is not installed."""
    primary = f"source {name} needs the package {package}, which is not installed"
    return MissingExtraError(Diagnostic("missing-extra", primary, hint=f"pip install 'cedr[{extra}]'"))
