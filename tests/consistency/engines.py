"""The two engines behind one interface: the naive one, and the columnar one at a single level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

import pyarrow as pa
import pytest

from cedr.consistency.batch import EventBatch
from cedr.consistency.pipeline import Pipeline
from cedr.model.event import Event
from cedr.model.intake import DeadLetter
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import DataType, EventTypes
from cedr.model.stream import Change, Insert, Message, Retract, default_key
from cedr.model.time import FOREVER, Time
from cedr.plan.logical import Node
from cedr.semantics.levels import Reference

__all__ = ["BOTH", "Engine", "EventBatch", "Live", "MakesEngine", "Pipeline", "columnar"]


class Engine(Protocol):
    """A standing query at one level, as the naive engine offers it."""

    level: ConsistencyLevel
    guarantee: Time

    @property
    def said(self) -> list[Event]: ...

    @property
    def dead_letters(self) -> list[DeadLetter]: ...

    @property
    def at_sync_point(self) -> bool: ...

    @property
    def held(self) -> int: ...

    @property
    def ties(self) -> int: ...

    def step(self, messages: Sequence[Message], cedr_time: Time) -> list[Change]: ...

    def switch(self, level: ConsistencyLevel, *, at_sync_point: bool = False) -> None: ...


class MakesEngine(Protocol):
    """What makes an engine: a class of one."""

    def __call__(
        self, plan: Node, level: ConsistencyLevel, catalog: EventTypes, providers: Iterable[str] = ()
    ) -> Engine: ...


class Live:
    """The columnar engine at one level, with the interface of the naive one."""

    def __init__(self, plan: Node, level: ConsistencyLevel, catalog: EventTypes, providers: Iterable[str] = ()) -> None:
        self.pipeline = Pipeline(plan, level, catalog, providers)
        self._said: dict[str, Event] = {}

    @property
    def level(self) -> ConsistencyLevel:
        return self.pipeline.levels[0]

    @property
    def guarantee(self) -> Time:
        return self.pipeline.guarantee[0]

    @property
    def said(self) -> list[Event]:
        """The rows that the changes amount to; the engine itself forgets those that are final."""
        return list(self._said.values())

    @property
    def dead_letters(self) -> list[DeadLetter]:
        return self.pipeline.dead_letters()

    @property
    def at_sync_point(self) -> bool:
        return self.pipeline.at_sync_point()

    @property
    def held(self) -> int:
        return self.pipeline.measures()[0].held

    @property
    def ties(self) -> int:
        return self.pipeline.measures()[0].ties

    def step(self, messages: Sequence[Message], cedr_time: Time) -> list[Change]:
        (found,) = self.pipeline.step(messages, cedr_time)
        changes = found.to_changes()
        for change in changes:
            self._apply(change)
        return changes

    def _apply(self, change: Change) -> None:
        message = change.message
        if isinstance(message, Insert):
            self._said[message.lineage_key] = message.event
        elif isinstance(message, Retract):
            row = self._said.pop(message.lineage_key)
            ends = (message.occurrence_end, message.valid_end)
            if not message.removes:
                self._said[message.lineage_key] = _shortened(row, *ends)

    def switch(self, level: ConsistencyLevel, *, at_sync_point: bool = False) -> None:
        self.pipeline.switch(level, at_sync_point=at_sync_point)


def _shortened(row: Event, occurrence_end: Time | None, valid_end: Time | None) -> Event:
    return replace(
        row,
        occurrence_end=row.occurrence_end if occurrence_end is None else occurrence_end,
        valid_end=row.valid_end if valid_end is None else valid_end,
    )


BOTH = pytest.mark.parametrize("engine", [Reference, Live], ids=["naive", "columnar"])
"""A property of both engines."""

_ARROW = {DataType.INTEGER: pa.int64(), DataType.STRING: pa.string()}


def columnar(messages: Sequence[Message], catalog: EventTypes) -> list[Message | EventBatch]:
    """The messages with neighbouring inserts of one type and provider as columns; what has its default is left out."""
    result: list[Message | EventBatch] = []
    group: list[Insert] = []
    for message in messages:
        if group and not (isinstance(message, Insert) and _kind(message) == _kind(group[0])):
            result.append(_columns(group, catalog))
            group = []
        if isinstance(message, Insert):
            group.append(message)
        else:
            result.append(message)
    return [*result, _columns(group, catalog)] if group else result


def _kind(message: Insert) -> tuple[str, str | None]:
    return message.event.stream, message.provider


def _columns(group: list[Insert], catalog: EventTypes) -> EventBatch:
    rows = [message.event for message in group]
    starts = [row.valid_start for row in rows]

    def times(found: list[Time], default: list[Time]) -> pa.Array | None:
        return None if found == default else pa.array(found, pa.int64())

    keys = [message.lineage_key for message in group]
    kind = catalog.get(rows[0].stream)
    assert kind is not None
    payload = {
        name: pa.array([row.payload[name] for row in rows], _ARROW[type_]) for name, type_ in kind.attributes.items()
    }
    return EventBatch(
        rows[0].stream,
        pa.array([row.id for row in rows], pa.string()),
        pa.array(starts, pa.int64()),
        ve=times([row.valid_end for row in rows], [FOREVER] * len(rows)),
        os=times([row.occurrence_start for row in rows], starts),
        oe=times([row.occurrence_end for row in rows], [FOREVER] * len(rows)),
        keys=None if keys == [default_key(row) for row in rows] else pa.array(keys, pa.string()),
        payload=payload,
        provider=group[0].provider,
    )
