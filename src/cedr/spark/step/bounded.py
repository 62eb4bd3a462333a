"""Bounded input: each bucket is a partition, and runs its pipeline once.

Readings: R33 (once nothing more can come everything is due), R24, R49 (ties).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cedr.model.stream import Insert
from cedr.model.time import Time
from cedr.runtime.values.memory import give_back, settle
from cedr.spark.layout.layout import Layout
from cedr.spark.layout.read_faults import Letter, Misread
from cedr.spark.output.rows import Said, dead_letters, said
from cedr.spark.step.as_of import Stood, stood
from cedr.spark.step.bucket import Bucket, Packed, Step
from cedr.spark.step.failures import failing_clearly

_LOG = logging.getLogger("cedr")
_MOST = 1 << 31
"""So many bytes may stay with the process for its next task, free or not: to get them again is dear, and Spark ends
processes that have had nothing to do for a minute."""
_NEAR = 1 << 22
"""So many bytes of packed events are worked on together."""


class RunBounded:
    """Given to ``mapInArrow`` on packed rows of which each partition holds whole buckets, share by share."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The packed rows of a partition; what is said about them."""
        settle()
        shares = _by_token(batches)
        unused: Counter[str] = Counter()
        ties = 0
        for together in _together({token: self._size(packed) for token, packed in shares.items()}):
            number = self._layout.bucket(self._layout.tokens.index(together[0]))
            with failing_clearly(self._layout, number):
                for step in self._steps([each for token in together for each in shares.pop(token)]):
                    if not self._layout.letters:
                        unused.update(letter.code for letter in self._own_letters(step, number))
                    yield from self._columns(step, number)
            ties += self._bucket.pipeline.measures()[0].ties
            del self._bucket
            give_back(_MOST)
        self._warn(unused)
        self._warn_of_ties(ties)

    def _size(self, packed: list[Packed]) -> int:
        """Bytes; a bucket that is one share is worked on by itself, be it ever so small."""
        return _NEAR if self._layout.shares == 1 else sum(len(each.rows) for each in packed if each.rows is not None)

    def _steps(self, packed: list[Packed]) -> Iterator[Step | Stood]:
        bucket = Bucket(self._layout)
        self._bucket = bucket
        as_of = self._layout.query.as_of
        if not self._layout.changes and as_of is not None:
            yield stood(bucket.steps(packed), as_of)
            return
        if not self._layout.changes:
            yield from bucket.table(packed)
            return
        last = 0
        for step in bucket.steps(packed):
            last = step.time
            yield step
        if not self._layout.recorded or self._layout.letters:  # what still waits is a dead letter now
            step = bucket.finish(last + 1)
            yield step._replace(said=[]) if self._layout.recorded else step

    def _columns(self, step: Step | Stood, number: int) -> Iterator[Any]:
        layout = self._layout
        name = f"{number + 1}/{layout.buckets}"
        own = None if layout.slices is None else layout.slices.of(number)
        spoken: Sequence[Said] = step.said
        for changes, guarantee in zip(spoken, self._bucket.pipeline.guarantee, strict=False):
            yield from said(layout, changes, guarantee, name, own)
        letters = self._own_letters(step, number)
        if layout.letters and letters:
            yield dead_letters(layout, letters, step.time)

    def _own_letters(self, step: Step | Stood, number: int) -> list[Letter]:
        own = None if self._layout.slices is None else self._layout.slices.of(number)
        return [letter for letter in step.letters if _is_own(letter, own)]

    def _warn(self, unused: Counter[str]) -> None:
        """What nobody asked to see as rows must be said all the same."""
        if unused:
            codes = ", ".join(f"{code}: {count:,}" for code, count in sorted(unused.items()))
            many = f"{unused.total():,} dead letter{'s' if unused.total() > 1 else ''}"
            _LOG.warning("cedr: %s: %s (%s); dead_letters=True shows them", self._layout.query.name, many, codes)

    def _warn_of_ties(self, ties: int) -> None:
        """Events of equal time never follow each other.  Reading: R49.  At the edges slices overlap."""
        if ties:
            about = "" if self._layout.slices is None else "about "
            _LOG.warning(
                "cedr: %s: %s%s events have the same time as another one that they could be matched with; "
                "WITH TIES behind the scope lets them follow each other",
                *(self._layout.query.name, about, f"{ties:,}"),
            )


def _by_token(batches: Iterator[Any]) -> dict[int, list[Packed]]:
    shares: dict[int, list[Packed]] = {}
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in ("token", "task", "number", "head")]
        blobs = [blob.as_buffer() for blob in batch.column("rows")]
        for token, task, number, head, blob in zip(*columns, blobs, strict=True):
            shares.setdefault(token, []).append(Packed(task, number, head, blob))
    return shares


def _together(sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """Shares, by their tokens and bytes, to be worked on together: one that is large, or several that are small.

    Whose keys differ can be together as well as apart.

    >>> list(_together({0: _NEAR, 1: 7, 2: 8, 3: _NEAR, 4: 9}))
    [[0], [1, 2, 3], [4]]
    """
    held: list[int] = []
    size = 0
    for token in sorted(sizes):
        held.append(token)
        size += sizes[token]
        if size >= _NEAR:
            yield held
            held, size = [], 0
    if held:
        yield held


def _is_own(letter: Letter, own: tuple[Time, Time] | None) -> bool:
    """Whether a dead letter is of this slice: an event at the edge of two is told of once."""
    if own is None or isinstance(letter, Misread) or not isinstance(letter.message, Insert):
        return True
    return own[0] <= letter.message.event.valid_start < own[1]
