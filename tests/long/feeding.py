"""Large inputs as columns, and what a pipeline has said about them in the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.consistency.batch import EventBatch
from cedr.consistency.emission.changes import Changes
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import ConsistencyLevel
from cedr.model.stream import Guarantee, Message
from cedr.plan.compile import compile_text

Integers = NDArray[np.int64]
Batch = Sequence[Message | EventBatch]


def pipeline_of(text: str, level: ConsistencyLevel) -> Pipeline:
    """A pipeline of the query Q."""
    program = compile_text(text)
    return Pipeline(program.queries["Q"].plan, level, program.types)


def rows(kind: str, vs: Integers, numbers: Integers, **payload: Integers) -> EventBatch:
    """Events of one type; their IDs are the type and a number, which is also in the payload as n."""
    names = pa.array([f"{kind}{number:08}" for number in numbers.tolist()])
    columns = {"n": numbers, **payload}
    return EventBatch(kind, names, pa.array(vs), payload={name: pa.array(column) for name, column in columns.items()})


@dataclass(slots=True)
class Said:
    """What was inserted and not taken back, by the whole numbers in some columns of the output."""

    columns: tuple[str, ...]
    inserts: int = 0
    retractions: int = 0
    _parts: list[tuple[Integers, int]] = field(default_factory=list)

    def take(self, changes: Changes) -> None:
        """Take in what one step said."""
        said = changes.to_arrow()
        self.inserts += changes.inserts
        self.retractions += changes.retractions
        for kind, sign in (("insert", 1), ("retract", -1)):
            chosen = said.filter(pc.equal(said.column("change"), kind))
            if chosen.num_rows:
                self._parts.append((np.column_stack([chosen.column(name).to_numpy() for name in self.columns]), sign))

    def table(self) -> Integers:
        """The rows that stand, sorted; none stands twice, none was taken back that was not said."""
        if not self._parts:
            return np.empty((0, len(self.columns)), dtype=np.int64)
        whole = np.concatenate([part for part, _ in self._parts])
        signs = np.concatenate([np.full(len(part), sign) for part, sign in self._parts])
        found, places = np.unique(whole, axis=0, return_inverse=True)
        standing = np.bincount(places.ravel(), weights=signs, minlength=len(found))
        assert set(np.unique(standing)) <= {0.0, 1.0}
        return found[standing == 1]


def feed(pipeline: Pipeline, batches: Iterable[Batch], said: Said, first: int = 1) -> Said:
    """Give a pipeline its batches, one step each."""
    for number, batch in enumerate(batches, start=first):
        (changes,) = pipeline.step(batch, number)
        said.take(changes)
    return said


def in_batches(
    kinds: Sequence[str], kind: Integers, vs: Integers, size: int, lag: int = 0, **payload: Integers
) -> Iterator[Batch]:
    """Rows in the order of arrival, cut into batches; the guarantee after each is ``lag`` behind the next row.

    A row may be up to ``lag`` older than one before it.
    """
    highest = np.maximum.accumulate(vs)
    numbers = np.arange(len(vs))
    for start in range(0, len(vs), size):
        stop = min(start + size, len(vs))
        parts: list[Message | EventBatch] = []
        for place, name in enumerate(kinds):
            chosen = start + np.flatnonzero(kind[start:stop] == place)
            if len(chosen):
                more = {key: column[chosen] for key, column in payload.items()}
                parts.append(rows(name, vs[chosen], numbers[chosen], **more))
        last = int(highest[stop - 1])
        yield [*parts, Guarantee(last + 10**15 if stop == len(vs) else last - lag - 1)]


def first_after(firsts: Integers, seconds: Integers, scope: int) -> Integers:
    """For each time of ``firsts`` the place in sorted ``seconds`` of the first one after it within scope, or -1."""
    place = np.searchsorted(seconds, firsts, side="right")
    near = np.minimum(place, len(seconds) - 1)
    return np.where((place < len(seconds)) & (seconds[near] - firsts <= scope), near, -1)


def same(found: Integers, expected: Integers) -> bool:
    """Whether two tables have the same rows."""
    return np.array_equal(np.unique(found, axis=0), np.unique(expected, axis=0)) and len(found) == len(expected)
