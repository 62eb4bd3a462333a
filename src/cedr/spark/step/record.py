"""What is written beside the segments of a bucket: of which query they are, and who wrote them last.

Reading: R38.  A checkpoint of another query is refused, with what has changed; other levels are a switch.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.model.time import Time
from cedr.spark.layout.layout import BUCKETS, Layout

if TYPE_CHECKING:
    from cedr.spark.step.worker import Done

VERSION: Final = 1


@dataclass
class Record:
    """The record of one bucket."""

    fingerprint: dict[str, str]
    asked: list[str]
    """The levels that were asked for when the query was last started."""
    lineage: str
    """Names the bucket of this checkpoint."""
    nonce: str
    """Names the step that wrote the state: a process that made this very step holds what was written."""
    time: Time = 0
    names: dict[str, None] = field(default_factory=dict)
    heard: list[list[Any]] = field(default_factory=list)
    holder: list[str] | None = None
    """Where the process that made the step can be asked for the next one, if it still lives."""
    version: int = VERSION

    @classmethod
    def fresh(cls, layout: Layout) -> Record:
        """A bucket that nothing was written of."""
        return cls(dict(layout.fingerprint), _names(layout), uuid.uuid4().hex, "")

    @classmethod
    def read(cls, written: str, layout: Layout) -> Record:
        """What was written.  Raises ``HostError`` where it is of another version or query."""
        data = json.loads(written)
        if data.get("version") != VERSION:
            primary = f"the checkpoint has state of version {data.get('version')}, this program reads version {VERSION}"
            hint = "go on with the program that wrote it, or begin with a new checkpoint"
            raise HostError(Diagnostic("unknown-state-version", primary, hint=hint))
        data["names"] = dict.fromkeys(data["names"])
        record = cls(**data)
        _check(record, layout)
        return record

    def after(self, done: Done, layout: Layout) -> Record:
        """The record of the next step."""
        holder = None if done.holder is None else list(done.holder)
        return replace(self, asked=_names(layout), nonce=done.nonce, time=done.time, heard=done.heard, holder=holder)

    def as_text(self) -> str:
        """As it is written."""
        return json.dumps({**asdict(self), "names": list(self.names)})


def _names(layout: Layout) -> list[str]:
    return [level.name for level in layout.levels]


def _check(record: Record, layout: Layout) -> None:
    """Whether the state is of this query."""
    now = layout.fingerprint
    changed = [what for what in now if record.fingerprint.get(what) != now[what]]
    if changed:
        raise _refusal(record, layout, changed)
    if len(record.asked) != len(layout.levels):
        primary = f"the checkpoint is of {_count(record.asked)}, the query is now asked for {_count(_names(layout))}"
        hint = "keep the number of levels, or begin with a new checkpoint"
        raise HostError(Diagnostic("checkpoint-changed", primary, hint=hint))


def _count(levels: Iterable[str]) -> str:
    found = list(levels)
    return f"{len(found)} level{'' if len(found) == 1 else 's'} ({', '.join(found)})"


def _refusal(record: Record, layout: Layout, changed: list[str]) -> HostError:
    primary = (
        f'the checkpoint is of another query than "{layout.query.name}" as it is now: {" and ".join(changed)} changed'
    )
    details = [
        f"{what}: {record.fingerprint.get(what)}, now {layout.fingerprint[what]}"
        for what in changed
        if what in ("the key", BUCKETS)
    ]
    hint = "begin with a new checkpoint, or go on with the query as it was"
    if changed == [BUCKETS]:
        hint = f"say buckets={record.fingerprint.get(BUCKETS)}"
    return HostError(Diagnostic("checkpoint-changed", primary, detail="; ".join(details), hint=hint))
