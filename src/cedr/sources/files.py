"""A source of files: a file, a folder or a pattern of CSV, JSON Lines or Parquet; files that appear later are read too.

A file is read once, whole, as it was when it was first seen: one that changes in between is an error, because some of
its rows were used and others not.  Write a file elsewhere, or under a name that begins with a dot, and rename it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from cedr.data.files import data_files
from cedr.data.opening import files_origin
from cedr.data.origins import Origin
from cedr.data.words import Words
from cedr.sources.contract import Chunk, Offset, refused

_BYTES: Final = 32 << 20
_FILES: Final = 1_000
"""Small files are read together, up to so many and so large."""


class Files:
    """Files of a path, each read once."""

    single = False
    pushed = False
    provider_column: str | None = None

    def __init__(self, name: str, path: str, words: Words, *, watches: bool | None = None) -> None:
        """``watches``: whether more files may come; by default for a folder or a pattern."""
        self.name = name
        self._path, self._words = path, words
        folder = Path(path).is_dir() or any(mark in path for mark in "*?[") or path.endswith("/")
        self._watches = folder if watches is None else watches
        self._done: set[str] = set()

    @property
    def finished(self) -> bool:
        """A single file is finished once it is read; into a folder more may come."""
        return not self._watches and not self._new()

    def providers(self) -> None:
        """The source itself."""

    def resume(self, end: Offset, done: Collection[str]) -> None:  # noqa: ARG002 - the contract
        """Leave out the files that were read."""
        self._done = set(done)

    def next(self, most: int) -> Chunk | None:
        """The next file, or some small ones."""
        chosen: list[tuple[str, int, int]] = []
        size = 0
        for path in self._new():
            found = path.stat()
            if chosen and (size + found.st_size > _BYTES or len(chosen) >= min(_FILES, most)):
                break
            chosen.append((str(path), found.st_size, found.st_mtime_ns))
            size += found.st_size
        if not chosen:
            return None
        names = tuple(path for path, _, _ in chosen)
        self._done.update(names)
        return Chunk([list(each) for each in chosen], None, names)

    def read(self, chunk: Chunk) -> Origin:
        """The rows of some files, which must be as they were."""
        paths = []
        for path, size, changed in chunk.what:
            try:
                found = Path(path).stat()
            except OSError:
                hint = "put it back, or start anew with another checkpoint"
                primary = f'the file "{path}" is gone before all of it was read'
                raise refused(self.name, "source-changed", primary, hint=hint) from None
            if (found.st_size, found.st_mtime_ns) != (size, changed):
                hint = "write a file elsewhere and rename it; put this one back as it was, or use another checkpoint"
                primary = f'the file "{path}" has changed while it was being read'
                raise refused(self.name, "source-changed", primary, hint=hint)
            paths.append(path)
        return files_origin(data_files(paths, self._words.format), self._words)

    def close(self) -> None:
        """Nothing is held."""

    def _new(self) -> Sequence[Path]:
        return [path for path in self._there() if str(path) not in self._done and path.stat().st_size]

    def _there(self) -> Iterator[Path]:
        """The files that are there now, in the order of their names."""
        path = Path(self._path)
        if path.is_dir():
            inside = (each for each in path.rglob("*") if each.is_file())
            yield from sorted(each for each in inside if not _hidden(each.relative_to(path)))
        elif any(mark in self._path for mark in "*?["):
            start = Path(path.anchor) if path.is_absolute() else Path()
            pattern = str(path.relative_to(path.anchor)) if path.is_absolute() else self._path
            yield from sorted(each for each in start.glob(pattern) if each.is_file() and not _hidden(Path(each.name)))
        elif path.exists():
            yield path
        elif not self._watches:
            raise refused(self.name, "cannot-read", f'there is no file "{self._path}"')


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)
