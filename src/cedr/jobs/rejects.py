"""Where the rows go that a job cannot use: a file of JSON Lines, each with its reason, exactly once.

Readings: R39, R41.  The length of the file is part of what a batch commits; after a crash the file is cut to it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cedr.connect.outgoing import message_as_line
from cedr.data.rejected import Rejected
from cedr.diagnostics.exceptions import unwritable
from cedr.model.dead_letter import DeadLetter
from cedr.model.stream import Guarantee, Insert


class DeadLetters:
    """Counts what could not be used, and writes it to a file if there is one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.count = 0

    def resume(self, count: int, length: int) -> None:
        """Go on after so many, at a length of the file."""
        self.count = count
        try:
            if self._path.exists():
                os.truncate(self._path, length)
        except OSError as error:
            raise unwritable(self._path, error) from None

    def write(self, batch: int, rejected: Iterable[tuple[str, Rejected]], letters: Iterable[DeadLetter]) -> None:
        """What a batch could not use: rows that could not be read, by source, and messages that were refused."""
        lines = [
            _line(batch, each.code, each.reason, source, place=each.place, row=each.text) for source, each in rejected
        ]
        lines += [_line(batch, each.code, each.reason, _provider(each), row=_message(each)) for each in letters]
        if not lines:
            return
        self.count += len(lines)
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write("".join(lines))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise unwritable(self._path, error) from None

    @property
    def length(self) -> int:
        """Of the file, in bytes."""
        return self._path.stat().st_size if self._path.exists() else 0


def _provider(letter: DeadLetter) -> str | None:
    return letter.message.provider if isinstance(letter.message, Insert | Guarantee) else None


def _message(letter: DeadLetter) -> str:
    return message_as_line(letter.message)


def _line(batch: int, code: str, reason: str, source: str | None, **more: Any) -> str:
    found = {"batch": batch, "source": source, "code": code, "reason": reason, **more}
    return json.dumps(found, ensure_ascii=False, default=str) + "\n"
