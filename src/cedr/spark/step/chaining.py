"""From one stage to the next: what its buckets have said, h, and guarantees.  All stages have as many buckets.

Readings: R32 (queries compose), R33 and R36 (each bucket is a provider of the stage that reads it, and the smallest
guarantee counts).  All buckets of a stage hear of h and of the guarantees of all buckets that they read, in each batch.
What a later stage than the next one reads, of the input or of this stage, goes by way of those between, unopened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

from cedr.consistency.composition import HEADER
from cedr.consistency.emission.changes import Changes
from cedr.model.time import BEGINNING, Time
from cedr.spark.layout.layout import Layout, Onward, provider_of
from cedr.spark.map_task.hashing import buckets_of
from cedr.spark.map_task.pack import SAID_BY, onward, packed_by_bucket, row_of
from cedr.spark.step.as_of import Stood
from cedr.spark.step.bounded import RunBounded
from cedr.spark.step.bucket import Bucket, Packed, Step

INPUT: Final = "the input"
"""The provider of input without one, after the first stage: there others are providers too."""


class Handed(NamedTuple):
    """A row that is shuffled to the next stage."""

    token: int
    task: int
    number: int
    head: str
    rows: bytes | pa.Buffer | None


def parted(arrived: Iterable[Packed]) -> tuple[list[Packed], list[Packed]]:
    """What came for this stage, and what goes on."""
    own: list[Packed] = []
    later: list[Packed] = []
    for each in arrived:
        (later if each.head.startswith("onward") else own).append(each)
    return own, later


def passed_on(later: Iterable[Packed], layout: Layout) -> Iterator[Handed]:
    """What is on its way to a later stage: rows of the input, and of stages that the next one does not read."""
    for each in later:
        _, stage, token, head = each.head.split(" ", 3)
        yield _sent(layout, int(stage), Handed(int(token), each.task, each.number, head, each.rows))


def _sent(layout: Layout, stage: int, row: Handed) -> Handed:
    """A row to a bucket of some stage: to the next one as it is, to others by way of any bucket of that."""
    if stage == layout.stage + 1:
        return row
    place = layout.later[stage - layout.stage - 1].tokens.index(row.token)
    way = layout.later[0].tokens
    return row._replace(token=way[place % len(way)], head=onward(stage, row.token, row.head))


def handed_on(bucket: Bucket, step: Step, number: int, measures: Mapping[str, int] | None = None) -> Iterator[Handed]:
    """What a step of a bucket is to all buckets of the next stage and of the one that reads it, whatever it said.

    The first bucket there also hears of the measures.
    """
    layout, to = bucket.layout, bucket.layout.onward
    assert to is not None
    who = provider_of(layout.stage, number, layout.buckets)
    guarantee = bucket.pipeline.guarantee[0]
    promises = [[who, guarantee]] if guarantee > BEGINNING else []
    blobs = _blobs(step.said, to, [layout.stage, who])
    entry = {"time": step.time, "highs": [], "promises": promises}
    heads = [json.dumps([entry | {"before": measures or {}}]), *[json.dumps([entry])] * (len(to.tokens) - 1)]
    for index, (token, head) in enumerate(zip(to.tokens, heads, strict=True)):
        yield _sent(layout, to.stage, Handed(token, number, 0, head, blobs.get(index)))
    if not number:  # of the input one bucket tells, since all know the same
        head = json.dumps([_of_input(bucket, step.time)])
        for token in layout.later[0].tokens:
            yield Handed(token, number, 1, head, None)


def _of_input(bucket: Bucket, time: Time) -> dict[str, Any]:
    """h, and what was promised for the input."""
    layout = bucket.layout
    stages = {provider_of(stage, each, layout.buckets) for stage in layout.taken for each in range(layout.buckets)}
    promises: dict[str, Time] = {}
    for promise in bucket.promised:
        who = INPUT if promise.provider is None else promise.provider
        if who not in stages:
            promises[who] = max(promises.get(who, promise.time), promise.time)
    highs = [[0, None, bucket.high]] if bucket.high > BEGINNING else []
    return {"time": time, "highs": highs, "promises": [*promises.items()]}


def _blobs(said: Sequence[Changes], to: Onward, who: list[Any]) -> dict[int, pa.Buffer]:
    """The rows for each bucket, packed."""
    if not any(changes.inserts + changes.retractions for changes in said):
        return {}
    (changes,) = said
    rows = pa.Table.from_batches([changes.to_arrow(HEADER)])
    rows = rows.select([name for name in rows.column_names if name in HEADER or name in to.made.type.attributes])
    rows = rows.replace_schema_metadata({SAID_BY: json.dumps(who).encode()})
    buckets = buckets_of(rows.column(to.key).combine_chunks(), len(to.tokens))
    return packed_by_bucket(rows, buckets, len(to.tokens))


class HandOn(RunBounded):
    """Given to ``mapInArrow`` where a stage of a bounded query is not the last one."""

    def _steps(self, packed: list[Packed]) -> Iterator[Step | Stood]:
        own, self._later = parted(packed)
        self._number = 0
        return super()._steps(own)

    def _columns(self, step: Step | Stood, number: int) -> Iterator[Any]:
        assert isinstance(step, Step)  # a query AS OF a time has one stage
        later, self._later = self._later, []
        for each in passed_on(later, self._layout):
            yield row_of(*each)
        for each in handed_on(self._bucket, step, number):
            if each.rows is not None:
                yield row_of(*each._replace(number=self._number))
        self._number += 1
