"""What a worker process holds between two batches: the pipelines of buckets whose last step it made itself.

A batch may be replayed, a task retried or run twice, and a bucket may go to another process and come back.  So a
pipeline is used again only if the checkpoint names the very step by which it came to be; otherwise it is restored.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cedr.spark.bucket import Bucket
from cedr.spark.layout import Layout
from cedr.spark.record import Record

_IDLE: Final = 600.0
"""Seconds after which a pipeline that nobody asked for is let go."""


@dataclass
class Held:
    """The pipeline of a bucket."""

    bucket: Bucket
    nonce: str = ""
    used: float = field(default_factory=time.monotonic)

    @classmethod
    def fresh(cls, layout: Layout) -> Held:
        """One that nothing has arrived at."""
        return cls(Bucket(layout))

    def follow(self, asked: Sequence[str], layout: Layout) -> None:
        """Go on as the query is asked for now: where a level is another than before, switch.  Reading: R38."""
        self.bucket.layout = layout
        for of, (before, level) in enumerate(zip(asked, layout.levels, strict=True)):
            if before != level.name:
                self.bucket.pipeline.switch(level, of=of)


_HELD: dict[str, Held] = {}


def taken(record: Record) -> Held | None:
    """The pipeline of just the state that a record is of; it is held no longer, as its step may fail."""
    held = _HELD.pop(record.lineage, None)
    return held if held is not None and held.nonce == record.nonce else None


def hold(record: Record, held: Held) -> None:
    """Keep a pipeline, and let go of those that went elsewhere."""
    now = time.monotonic()
    for lineage in [lineage for lineage, other in _HELD.items() if now - other.used > _IDLE]:
        del _HELD[lineage]
    held.nonce, held.used = record.nonce, now
    _HELD[record.lineage] = held
