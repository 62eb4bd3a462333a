"""What is said to a running query: lines of JSON in a folder, which reach every bucket like a heartbeat.

Reading: R38.  They are part of the stream: checkpointed and replayed like data, so that a switch survives a crash and
takes effect in the same batch in every bucket.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.queries import parse_level
from cedr.model.level import ConsistencyLevel


class Switch(NamedTuple):
    """Go on at another level."""

    level: ConsistencyLevel
    of: int = 0
    at_sync_point: bool = False


def commands(lines: Iterable[str]) -> Iterator[Switch]:
    """The switches among some control messages; what else they may be does nothing but make a batch."""
    for found in sorted(map(json.loads, lines), key=lambda message: message.get("number", 0)):
        if found.get("command") == "switch":
            level = parse_level(found["level"])
            yield Switch(level, int(found.get("of", 0)), bool(found.get("at_sync_point", False)))


class Control:
    """Speaks to a running query through the folder that was given as its ``control=``."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def switch(self, level: ConsistencyLevel | str, *, of: int = 0, at_sync_point: bool = False) -> None:
        """Go on at another level, from the next batch or from the next sync point of the output.  Reading: R38."""
        named = parse_level(level).name if isinstance(level, str) else level.name
        self._say({"command": "switch", "level": named, "of": of, "at_sync_point": at_sync_point})

    def status(self) -> None:
        """Make a batch, so that the progress of the query tells where it stands though nothing comes."""
        self._say({"command": "status"})

    def _say(self, message: dict[str, object]) -> None:
        """A file that appears whole, under a name that keeps the order."""
        count = sum(1 for _ in self.folder.iterdir())
        name = f"{count:09d}-{uuid.uuid4().hex[:8]}.json"
        hidden = self.folder / f".{name}"
        try:
            hidden.write_text(json.dumps({"number": count, **message}) + "\n", "utf-8")
            os.replace(hidden, self.folder / name)
        except OSError as error:
            raise HostError(Diagnostic("cannot-control", f"the folder of control messages: {error}")) from error
