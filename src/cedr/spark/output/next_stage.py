"""The output of a stage that another stage reads: its changes, h, and guarantees.  All stages have as many buckets.

Readings: R32 (queries compose), R33 and R36 (each bucket is a provider of the stage that reads it, and the smallest
guarantee counts).  In each batch all buckets of a stage receive h and the guarantees of all buckets that they read.
Rows for a later stage than the next one, of the input or of this stage, pass through the stages between unopened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from cedr.consistency.composition import HEADER
from cedr.consistency.emission.changes import Changes
from cedr.model.time import BEGINNING, Time
from cedr.spark.layout.layout import INPUT, Destination, Layout, provider_of
from cedr.spark.map_task.hashing import buckets_of
from cedr.spark.map_task.pack import STAGE_CHANGES, address_to_stage, is_addressed, pack_by_bucket, read_address
from cedr.spark.map_task.unpack import Packed
from cedr.spark.output.step_output import StepOutput


class StageRow(NamedTuple):
    """A row that is shuffled to the next stage; ``map_task.pack`` has the meaning of its columns."""

    token: int
    task: int
    number: int
    head: str
    rows: bytes | pa.Buffer | None


def split_by_stage(received: Iterable[Packed]) -> tuple[list[Packed], list[Packed]]:
    """Split the rows of a bucket: those for this stage, and those for later stages."""
    own: list[Packed] = []
    later: list[Packed] = []
    for each in received:
        (later if is_addressed(each.head) else own).append(each)
    return own, later


def pass_on(later: Iterable[Packed], layout: Layout) -> Iterator[StageRow]:
    """Send rows for later stages to the next one: rows of the input, and of stages that the next one does not read."""
    for each in later:
        stage, token, head = read_address(each.head)
        yield _addressed(layout, stage, StageRow(token, each.task, each.number, head, each.rows))


def _addressed(layout: Layout, stage: int, row: StageRow) -> StageRow:
    """A row for a bucket of some stage: unchanged for the next one, otherwise through any bucket of the next one."""
    if stage == layout.stage + 1:
        return row
    place = layout.later[stage - layout.stage - 1].tokens.index(row.token)
    way = layout.later[0].tokens
    return row._replace(token=way[place % len(way)], head=address_to_stage(stage, row.token, row.head))


def rows_for_next_stage(
    layout: Layout, output: StepOutput, number: int, guarantee: Time, measures: Mapping[str, int] | None = None
) -> Iterator[StageRow]:
    """What a step of a bucket sends to all buckets of the stage that reads it, even if it emitted nothing.

    ``number`` is the number of the bucket.  The first bucket of that stage also receives the measures.
    """
    to = layout.destination
    assert to is not None
    provider = provider_of(layout.stage, number, layout.buckets)
    promises = [[provider, guarantee]] if guarantee > BEGINNING else []
    blobs = _packed_changes(output.changes, to, [layout.stage, provider])
    entry = {"time": output.time, "highs": [], "promises": promises}
    heads = [json.dumps([entry | {"before": measures or {}}]), *[json.dumps([entry])] * (len(to.tokens) - 1)]
    for index, (token, head) in enumerate(zip(to.tokens, heads, strict=True)):
        yield _addressed(layout, to.stage, StageRow(token, number, 0, head, blobs.get(index)))
    if not number:  # all buckets know the same about the input: the first one sends it
        head = json.dumps([_head_of_input(layout, output)])
        for token in layout.later[0].tokens:
            yield StageRow(token, number, 1, head, None)


def _head_of_input(layout: Layout, output: StepOutput) -> dict[str, Any]:
    """h, and the guarantees about the input."""
    stages = {
        provider_of(stage, each, layout.buckets) for stage in layout.stage_inputs for each in range(layout.buckets)
    }
    promises: dict[str, Time] = {}
    for guarantee in output.guarantees:
        provider = INPUT if guarantee.provider is None else guarantee.provider
        if provider not in stages:
            promises[provider] = max(promises.get(provider, guarantee.time), guarantee.time)
    highs = [[0, None, output.high]] if output.high > BEGINNING else []
    return {"time": output.time, "highs": highs, "promises": [*promises.items()]}


def _packed_changes(levels: Sequence[Changes], to: Destination, sender: list[Any]) -> dict[int, pa.Buffer]:
    """The changes for each bucket, packed; ``sender`` is the stage and the provider."""
    if not any(changes.inserts + changes.retractions for changes in levels):
        return {}
    (changes,) = levels
    rows = pa.Table.from_batches([changes.to_arrow(HEADER)])
    rows = rows.select([name for name in rows.column_names if name in HEADER or name in to.made.type.attributes])
    rows = rows.replace_schema_metadata({STAGE_CHANGES: json.dumps(sender).encode()})
    buckets = buckets_of(rows.column(to.key).combine_chunks(), len(to.tokens))
    return pack_by_bucket(rows, buckets, len(to.tokens))
