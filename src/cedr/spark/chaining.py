"""From one stage to the next: what its buckets have said, h, and guarantees.  All stages have as many buckets.

Readings: R32 (queries compose), R33 and R36 (each bucket is a provider of the next stage, and the smallest guarantee
counts).  All buckets of a stage hear of h and of the guarantees of all buckets of the stage before, in each batch.
Rows of the input that a later stage reads go by way of the stages before it, unopened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from cedr.consistency.changes import Changes
from cedr.consistency.handing_on import HEADER
from cedr.model.time import BEGINNING, Time
from cedr.spark.bounded import RunBounded
from cedr.spark.bucket import Bucket, Packed, Step
from cedr.spark.hashing import buckets_of
from cedr.spark.layout import Layout, Onward
from cedr.spark.pack import SAID_BY, onward, packed, row_of

INPUT: Final = "the input"
"""The provider of input without one, after the first stage: there others are providers too."""


class Handed(NamedTuple):
    """A row that is shuffled to the next stage."""

    token: int
    task: int
    number: int
    head: str
    rows: bytes | None


def provider_of(stage: int, number: int, buckets: int) -> str:
    """The name of a bucket as a provider of the next stage."""
    return f"stage {stage}, bucket {number + 1}/{buckets}"


def parted(arrived: Iterable[Packed]) -> tuple[list[Packed], list[Packed]]:
    """What came for this stage, and what goes on."""
    own: list[Packed] = []
    later: list[Packed] = []
    for each in arrived:
        (later if each.head.startswith("onward") else own).append(each)
    return own, later


def passed_on(later: Iterable[Packed], layout: Layout) -> Iterator[Handed]:
    """Rows of the input on their way to a later stage."""
    tokens = layout.later[0].tokens
    for each in later:
        _, stage, token = each.head.split()
        if int(stage) == layout.stage + 1:
            yield Handed(int(token), each.task, each.number, "[]", each.rows)
        else:
            way = tokens[layout.later[int(stage) - layout.stage - 1].tokens.index(int(token)) % len(tokens)]
            yield Handed(way, each.task, each.number, onward(int(stage), int(token)), each.rows)


def handed_on(bucket: Bucket, step: Step, number: int) -> Iterator[Handed]:
    """What a step of a bucket is to each bucket of the next stage, also where it said nothing."""
    layout = bucket.layout
    assert layout.onward is not None
    blobs = _blobs(step.said, layout.onward, provider_of(layout.stage, number, layout.buckets))
    head = json.dumps([_head(bucket, step.time, number)])
    for index, token in enumerate(layout.onward.tokens):
        yield Handed(token, number, 0, head, blobs.get(index))


def _head(bucket: Bucket, time: Time, number: int) -> dict[str, Any]:
    """What all buckets of the next stage must know; of the input one bucket tells, since all know the same."""
    layout = bucket.layout
    promises: dict[str, Time] = {}
    if bucket.pipeline.guarantee[0] > BEGINNING:
        promises[provider_of(layout.stage, number, layout.buckets)] = bucket.pipeline.guarantee[0]
    if number:
        return {"time": time, "highs": [], "promises": [*promises.items()]}
    before = {provider_of(layout.stage - 1, each, layout.buckets) for each in range(layout.buckets)}
    for promise in bucket.promised:
        who = INPUT if promise.provider is None else promise.provider
        if who not in before:
            promises[who] = max(promises.get(who, promise.time), promise.time)
    highs = [[0, None, bucket.high]] if bucket.high > BEGINNING else []
    return {"time": time, "highs": highs, "promises": [*promises.items()]}


def _blobs(said: Sequence[Changes], to: Onward, who: str) -> dict[int, bytes]:
    """The rows for each bucket, packed."""
    if not any(changes.inserts + changes.retractions for changes in said):
        return {}
    (changes,) = said
    rows = pa.Table.from_batches([changes.to_arrow(HEADER)])
    rows = rows.select([name for name in rows.column_names if name in HEADER or name in to.made.type.attributes])
    rows = rows.replace_schema_metadata({SAID_BY: who.encode()})
    buckets = buckets_of(rows.column(to.key).combine_chunks(), len(to.tokens))
    order = np.argsort(buckets, kind="stable")
    cuts = np.searchsorted(buckets[order], np.arange(len(to.tokens) + 1)).tolist()
    return {
        number: packed(rows.take(pa.array(order[low:high])))
        for number, (low, high) in enumerate(pairwise(cuts))
        if low < high
    }


class HandOn(RunBounded):
    """Given to ``mapInArrow`` where a stage of a bounded query is not the last one."""

    def _steps(self, packed: list[Packed]) -> Iterator[Step]:
        own, self._later = parted(packed)
        self._number = 0
        return super()._steps(own)

    def _columns(self, step: Step, number: int) -> Iterator[Any]:
        later, self._later = self._later, []
        for each in passed_on(later, self._layout):
            yield row_of(*each)
        for each in handed_on(self._bucket, step, number):
            if each.rows:
                yield row_of(*each._replace(number=self._number, head="[]"))
        self._number += 1
