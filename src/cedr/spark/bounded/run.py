"""Bounded input: each bucket is a partition, and runs its pipeline once.

Readings: R33 (after the last message everything is due), R24, R49 (ties).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cedr.model.stream import Insert
from cedr.model.time import Time
from cedr.runtime.values.memory import give_back, settle
from cedr.spark.bounded.as_of import OutputAsOf, output_as_of
from cedr.spark.layout.layout import Layout
from cedr.spark.layout.read_faults import Letter, ReadFault
from cedr.spark.map_task.unpack import Packed
from cedr.spark.output.failures import describe_failures
from cedr.spark.output.rows import Emission, dead_letter_rows, result_rows
from cedr.spark.output.step_output import StepOutput
from cedr.spark.step.bucket import Bucket

_LOG = logging.getLogger("cedr")
_MOST = 1 << 31
"""The bytes that the process may keep for its next task, free or not: to get memory again is slow, and Spark ends a
process that had no task for a minute."""
_TOGETHER = 1 << 22
"""Shares are run together until they have this many bytes of packed events."""


class RunBounded:
    """Given to ``mapInArrow`` on packed rows; each partition has whole buckets, which it runs share by share."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Run the buckets of a partition; yields the rows of the result."""
        settle()
        shares = _by_token(batches)
        unused: Counter[str] = Counter()
        ties = 0
        for together in _together({token: self._size(packed) for token, packed in shares.items()}):
            number = self._layout.bucket(self._layout.tokens.index(together[0]))
            with describe_failures(self._layout, number):
                for output in self._steps([each for token in together for each in shares.pop(token)]):
                    if not self._layout.letters:
                        unused.update(letter.code for letter in self._own_letters(output, number))
                    yield from self._rows(output, number)
            ties += self._bucket.pipeline.measures()[0].ties
            del self._bucket
            give_back(_MOST)
        self._warn(unused)
        self._warn_of_ties(ties)

    def _size(self, packed: list[Packed]) -> int:
        """The bytes of a share; a bucket with one share always counts as large, so that it is run alone."""
        return (
            _TOGETHER if self._layout.shares == 1 else sum(len(each.rows) for each in packed if each.rows is not None)
        )

    def _steps(self, packed: list[Packed]) -> Iterator[StepOutput | OutputAsOf]:
        bucket = Bucket(self._layout)
        self._bucket = bucket
        as_of = self._layout.query.as_of
        if not self._layout.changes and as_of is not None:
            yield output_as_of(bucket.steps(packed), as_of)
            return
        if not self._layout.changes:
            yield from bucket.table(packed)
            return
        last = 0
        for output in bucket.steps(packed):
            last = output.time
            yield output
        if not self._layout.recorded or self._layout.letters:  # a retraction that still waits is a dead letter now
            output = bucket.finish(last + 1)
            yield output._replace(changes=[]) if self._layout.recorded else output

    def _rows(self, output: StepOutput | OutputAsOf, number: int) -> Iterator[Any]:
        layout = self._layout
        name = f"{number + 1}/{layout.buckets}"
        own = None if layout.slices is None else layout.slices.of(number)
        levels: Sequence[Emission] = output.changes
        for changes, guarantee in zip(levels, self._bucket.pipeline.guarantee, strict=False):
            yield from result_rows(layout, changes, guarantee, name, own)
        letters = self._own_letters(output, number)
        if layout.letters and letters:
            yield dead_letter_rows(layout, letters, output.time)

    def _own_letters(self, output: StepOutput | OutputAsOf, number: int) -> list[Letter]:
        own = None if self._layout.slices is None else self._layout.slices.of(number)
        return [letter for letter in output.letters if _is_own(letter, own)]

    def _warn(self, unused: Counter[str]) -> None:
        """Log how many dead letters there are, if the query does not give them as rows."""
        if unused:
            codes = ", ".join(f"{code}: {count:,}" for code, count in sorted(unused.items()))
            many = f"{unused.total():,} dead letter{'s' if unused.total() > 1 else ''}"
            _LOG.warning("cedr: %s: %s (%s); dead_letters=True shows them", self._layout.query.name, many, codes)

    def _warn_of_ties(self, ties: int) -> None:
        """Log how many events never follow each other because their times are equal.  Reading: R49.

        Slices overlap at their edges, so that their number is not exact.
        """
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
    """Groups of shares to run together, by token and bytes: one large share, or several small ones.

    Shares have different keys, so one pipeline gives the same for several of them.

    >>> list(_together({0: _TOGETHER, 1: 7, 2: 8, 3: _TOGETHER, 4: 9}))
    [[0], [1, 2, 3], [4]]
    """
    group: list[int] = []
    size = 0
    for token in sorted(sizes):
        group.append(token)
        size += sizes[token]
        if size >= _TOGETHER:
            yield group
            group, size = [], 0
    if group:
        yield group


def _is_own(letter: Letter, own: tuple[Time, Time] | None) -> bool:
    """Whether a dead letter belongs to this slice: an event near an edge is in two slices, and reported once."""
    if own is None or isinstance(letter, ReadFault) or not isinstance(letter.message, Insert):
        return True
    return own[0] <= letter.message.event.valid_start < own[1]
