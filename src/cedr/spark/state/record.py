"""The record beside the segments of a bucket: which query they belong to, and which step wrote them.

Reading: R38.  A query refuses the checkpoint of another query, and says what has changed; another level is a switch.
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
    from cedr.spark.state.pipeline_cache import StepResult

VERSION: Final = 1


@dataclass
class Record:
    """The record of one bucket.  Its fields are the keys of the JSON object in the checkpoint."""

    fingerprint: dict[str, str]
    asked: list[str]
    """The levels that the query had when it was last started."""
    lineage: str
    """Names this bucket of this checkpoint."""
    nonce: str
    """Names the step that wrote the state; the process that made it has a pipeline with this very state."""
    time: Time = 0
    """The CEDR time of that step."""
    names: dict[str, None] = field(default_factory=dict)
    """The names of the segments."""
    heard: list[list[Any]] = field(default_factory=list)
    """When each provider was last heard of, for sources with ``idle``."""
    holder: list[str] | None = None
    """The address of the process that made the step; it makes the next step too, if it still lives."""
    version: int = VERSION

    @classmethod
    def new(cls, layout: Layout) -> Record:
        """The record of a bucket without state."""
        return cls(dict(layout.fingerprint), _names(layout), uuid.uuid4().hex, "")

    @classmethod
    def read(cls, written: str, layout: Layout) -> Record:
        """Read a record.  Raises ``HostError`` if it has another version or belongs to another query."""
        data = json.loads(written)
        if data.get("version") != VERSION:
            primary = f"the checkpoint has state of version {data.get('version')}, this program reads version {VERSION}"
            hint = "go on with the program that wrote it, or begin with a new checkpoint"
            raise HostError(Diagnostic("unknown-state-version", primary, hint=hint))
        data["names"] = dict.fromkeys(data["names"])
        record = cls(**data)
        _check(record, layout)
        return record

    def after(self, result: StepResult, layout: Layout) -> Record:
        """The record after a step."""
        holder = None if result.holder is None else list(result.holder)
        return replace(
            self, asked=_names(layout), nonce=result.nonce, time=result.time, heard=result.heard, holder=holder
        )

    def as_text(self) -> str:
        """The record as JSON, as the checkpoint has it."""
        return json.dumps({**asdict(self), "names": list(self.names)})


def _names(layout: Layout) -> list[str]:
    return [level.name for level in layout.levels]


def _check(record: Record, layout: Layout) -> None:
    """Raises ``HostError`` if the state belongs to another query."""
    now = layout.fingerprint
    changed = [what for what in now if record.fingerprint.get(what) != now[what]]
    if changed:
        raise _refusal(record, layout, changed)
    if len(record.asked) != len(layout.levels):
        primary = f"the checkpoint is of {_count(record.asked)}, the query is now asked for {_count(_names(layout))}"
        hint = "keep the number of levels, or begin with a new checkpoint"
        raise HostError(Diagnostic("checkpoint-changed", primary, hint=hint))


def _count(levels: Iterable[str]) -> str:
    names = list(levels)
    return f"{len(names)} level{'' if len(names) == 1 else 's'} ({', '.join(names)})"


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
