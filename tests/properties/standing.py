"""A standing query on one of the engines, step by step, and what is asked of it at each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import strategies as st

from cedr.language.syntax import File
from cedr.model.equivalence import projected
from cedr.model.event import Event
from cedr.model.history import HistoryTable
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract
from cedr.model.sync import sync_of
from cedr.model.time import FOREVER, Time
from cedr.plan.compile import compile_file
from cedr.plan.logical import Node
from cedr.semantics.evaluate import evaluate
from cedr.semantics.levels import Reference
from cedr.testing import strategies as some
from cedr.testing.histories import History, tables_of
from tests.consistency.engines import Engine, Live, MakesEngine

PLAIN, REVISABLE = some.small_catalog("A", "B"), some.small_catalog("A", "B", revisable=FOREVER)
"""Two types only, and times close together: so that things happen."""
FILES = st.one_of(some.patterns(PLAIN, depth=1, revisable=True), some.patterns(PLAIN, depth=2, revisable=True))
HISTORIES = some.histories(PLAIN, min_size=3, max_size=6, max_time=5)
REVISED = some.revised_histories(REVISABLE, min_size=1, max_size=4, max_time=5)

LIVE = st.one_of(FILES, some.relations(PLAIN), some.compositions(PLAIN))
"""What the columnar engine runs, as the naive one does: patterns, relations, and each over the other."""


def of_any_kind(files: st.SearchStrategy[File]) -> pytest.MarkDecorator:
    """A property of both engines: of the naive one for all the files, of the columnar one for what it runs."""
    return pytest.mark.parametrize(("engine", "files"), [(Reference, files), (Live, LIVE)], ids=["naive", "columnar"])


def arriving(histories: st.SearchStrategy[History], *, revised: bool = True) -> st.SearchStrategy[Story]:
    """Histories, each with a way to arrive that ends with a guarantee of everything."""
    return histories.flatmap(
        lambda h: st.tuples(st.just(h), some.arrivals(h, revised=revised, final=True, settled=True))
    )


Story = tuple[History, list[list[Message]]]
"""A history and the batches in which it arrives."""


class Step(NamedTuple):
    """What was said about one batch, and the guarantee after it."""

    engine: Engine
    changes: list[Change]
    guarantee: Time


def plan_of(file: File, catalog: EventTypes) -> Node:
    return list(compile_file(file, catalog).queries.values())[-1].plan


def run(
    plan: Node,
    level: ConsistencyLevel,
    catalog: EventTypes,
    batches: Sequence[Sequence[Message]],
    every: int = 1,
    engine: MakesEngine = Reference,
) -> Iterator[Step]:
    """The query on the batches, at CEDR times that are ``every`` apart."""
    running = engine(plan, level, catalog)
    for number, batch in enumerate(batches, 1):
        changes = running.step(batch, number * every)
        yield Step(running, changes, running.guarantee)


def said(changes: Iterable[Change]) -> HistoryTable:
    """The history table of a change stream; its CEDR time is the position (R40)."""
    messages = [change.message for change in changes if not isinstance(change.message, Guarantee)]
    return HistoryTable.from_messages(messages)


def truth(plan: Node, history: History) -> HistoryTable:
    """The oracle's table on the whole history."""
    return HistoryTable.from_events(evaluate(plan, tables_of(history)))


def to(table: HistoryTable, time: Time) -> Counter[Hashable]:
    """What must be the same for two tables to be equivalent *to* a time, valid time cut too (R5)."""
    return projected(table.canonical_to(time, valid_too=True))


def at(table: HistoryTable, time: Time) -> Counter[Hashable]:
    """The same *at* a time."""
    return projected(table.canonical_at(time, valid_too=True))


def syncs(changes: Iterable[Change]) -> list[Time]:
    """The Sync of each insert and retraction, in order; a retraction by the row as it was said before."""
    found = []
    for change in changes:
        if isinstance(change.message, Insert):
            found.append(change.message.event.occurrence_start)
        elif isinstance(change.message, Retract):
            assert change.event is not None
            found.append(sync_of(change.event, change.message))
    return found


def telling(changes: Iterable[Change]) -> list[Hashable]:
    """A change stream without K and CEDR time."""
    found: list[Hashable] = []
    for change in changes:
        message = change.message
        ends = (message.occurrence_end, message.valid_end) if isinstance(message, Retract) else ()
        time = message.time if isinstance(message, Guarantee) else None
        found.append((change.kind, None if change.event is None else shown(change.event), ends, time))
    return found


def shown(row: Event) -> Hashable:
    return row.id, row.valid, row.occurrence, row.root_time, row.payload, tuple(c.reference for c in row.contributors)


def ended(row: Event, *, occurrence: bool = False, valid: bool = False) -> Event:
    """A row with ends that are not due left open."""
    row = replace(row, occurrence_end=FOREVER) if occurrence else row
    return replace(row, valid_end=FOREVER) if valid else row
