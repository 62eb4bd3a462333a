"""A plan in stages, by hand and in one process: the pipelines of all buckets, and what goes from one to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from cedr.consistency.pipeline import Pipeline
from cedr.model.dead_letter import DeadLetter
from cedr.model.event import Event
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, Message
from cedr.model.time import BEGINNING, Time
from cedr.plan.analyses.keys import NoPartitionKey, partition_key
from cedr.plan.analyses.stages import NoStages, Stage, stages_of
from cedr.plan.logical import Node, Query
from cedr.plan.rewrite import rewrite

INPUT = "input"


def keyed(plan: Node) -> str:
    """Why a plan has no key."""
    found = partition_key(rewrite(plan).plan)
    return found.reason if isinstance(found, NoPartitionKey) else ""


def key_of(plan: Node) -> dict[str, str]:
    """The attribute of each event type by which a plan is split."""
    found = partition_key(rewrite(plan).plan)
    assert not isinstance(found, NoPartitionKey)
    return {each.type: each.attribute for each in found.attributes}


class Chain:
    """All stages of a plan, each with some buckets."""

    def __init__(
        self, plan: Query, level: ConsistencyLevel, catalog: EventTypes, buckets: int, revisable: int = 0
    ) -> None:
        found = stages_of(plan, keyed, revisable)
        assert not isinstance(found, NoStages), found.reason
        self.stages: tuple[Stage, ...] = found
        self.buckets = buckets
        self.letters: list[DeadLetter] = []
        self._level = level
        made = {stage.made.type.name: stage.made.type for stage in found if stage.made is not None}
        self._catalog = EventTypes({**catalog.types, **made})
        self._pipelines = [[self._pipeline(number) for _ in range(buckets)] for number in range(len(found))]

    def _pipeline(self, number: int) -> Pipeline:
        read = [self._name(stage, bucket) for stage in self._read(number) for bucket in range(self.buckets)]
        return Pipeline(self.stages[number].plan, self._level, self._catalog, [INPUT, *read] if number else [])

    def _read(self, number: int) -> list[int]:
        """The stages that a stage reads."""
        return [other for other, stage in enumerate(self.stages) if self.stages[number].reads(stage)]

    def _name(self, number: int, bucket: int) -> str:
        return f"{number}/{bucket}"

    def restart(self) -> None:
        """All pipelines begin anew with what was saved."""
        for number, pipelines in enumerate(self._pipelines):
            for bucket, pipeline in enumerate(pipelines):
                fresh = self._pipeline(number)
                fresh.restore({name: segment for name, segment in pipeline.state().items() if segment is not None})
                pipelines[bucket] = fresh

    @property
    def guarantee(self) -> Time:
        """The smallest of the last stage."""
        return min(pipeline.guarantee[0] for pipeline in self._pipelines[-1])

    def step(self, messages: Sequence[Message], rows: Mapping[str, Event], time: Time, high: Time) -> list[pa.Table]:
        """What the last stage says about a batch; ``rows``: what each key stands for, ``high``: h."""
        said: list[list[tuple[pa.Table, Time]]] = []
        for number, pipelines in enumerate(self._pipelines):
            key = key_of(self.stages[number].plan)
            told = []
            for bucket, pipeline in enumerate(pipelines):
                taken = [
                    m for other in self._read(number) for m in self._taken(other, said[other], key, bucket, pipeline)
                ]
                direct = [m for m in messages if self._is_own(m, rows, key, bucket)]
                pipeline.heartbeat(high)
                mine = direct if not number else [replace(m, provider=INPUT) for m in direct]
                (changes,) = pipeline.step([*taken, *mine], time)
                told.append((pa.Table.from_batches([changes.to_arrow()]), pipeline.guarantee[0]))
                self.letters += pipeline.take_dead_letters()
            said.append(told)
        return [table for table, _ in said[-1]]

    def _taken(
        self, other: int, said: list[tuple[pa.Table, Time]], key: Mapping[str, str], bucket: int, pipeline: Pipeline
    ) -> list[Any]:
        """What a stage has said to a bucket of another, and what its buckets guarantee."""
        made = self.stages[other].made
        assert made is not None
        own = [self._own(table, key[made.type.name], bucket) for table, _ in said]
        tables = [(self._name(other, number), table) for number, table in enumerate(own)]
        promised = [Guarantee(g, self._name(other, n)) for n, (_, g) in enumerate(said) if g > BEGINNING]
        return [*pipeline.said_elsewhere(tables, made), *promised]

    def _is_own(self, message: Message, rows: Mapping[str, Event], key: Mapping[str, str], bucket: int) -> bool:
        if isinstance(message, Guarantee):
            return True
        event = message.event if isinstance(message, Insert) else rows[message.lineage_key]
        return event.stream in key and self._bucket(event.payload[key[event.stream]]) == bucket

    def _own(self, table: pa.Table, key: str, bucket: int) -> pa.Table:
        chosen = [self._bucket(value) == bucket for value in table.column(key).to_pylist()]
        return table.filter(pa.array(chosen, pa.bool_()))

    def _bucket(self, value: object) -> int:
        return (ord(value) if isinstance(value, str) else int(value or 0)) % self.buckets  # type: ignore[call-overload]


HEADER = ("change", "id", "said", "Vs", "Ve", "Os", "Oe", "Rt", "contributors")


def shown(tables: Iterable[pa.Table], *, said: bool = True) -> list[tuple[Any, ...]]:
    """Everything that was said, contributors and payload included, in one order."""
    found = []
    for row in (row for table in tables for row in table.to_pylist()):
        header = [row[name] for name in HEADER[:-1] if said or name != "said"]
        parts = tuple((part["type"], part["id"]) for part in row["contributors"])
        payload = tuple((name, value) for name, value in row.items() if name not in (*HEADER, "Cs"))
        found.append((*header, parts, payload))
    return sorted(found, key=repr)
