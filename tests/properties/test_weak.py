"""Finite memory: what is right *at* the sync points of the input, and what stays untouched.

Paper: Definition 5, Section 4; Section 5 ("may therefore forget").  Readings: R34, R35.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from cedr.language.syntax import File
from cedr.model.event import Event
from cedr.model.history import HistoryTable
from cedr.model.intake import Intake
from cedr.model.level import WEAK, Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Guarantee, Message, Retract
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.semantics.evaluate import evaluate
from cedr.testing import strategies as some
from cedr.testing.arrivals import Batches
from cedr.testing.histories import History
from tests.consistency.engines import BOTH, MakesEngine
from tests.properties.standing import (
    FILES,
    HISTORIES,
    PLAIN,
    REVISABLE,
    REVISED,
    Story,
    at,
    ended,
    plan_of,
    run,
    shown,
)

SPREAD = some.histories(PLAIN, min_size=3, max_size=6, max_time=12)
"""Times far apart: what is late is often too late."""
LEVELS = st.one_of(st.just(WEAK), some.levels(), st.integers(0, 6).flatmap(lambda m: some.levels(memory=m)))


def at_sync_points(story: Story) -> Story:
    """A batch that promises all it has seen, after each batch for which that is true."""
    history, batches = story
    flat = [m for b in batches for m in b if not isinstance(m, Guarantee)]
    by_message = dict(zip(map(id, flat), some.syncs_of(flat), strict=True))
    result, rest = list[list[Message]](), list(flat)
    for batch in batches:
        result.append(batch)
        rest = rest[sum(not isinstance(m, Guarantee) for m in batch) :]
        past = [by_message[id(m)] for m in flat[: len(flat) - len(rest)]]
        if past and max(past) < min((by_message[id(m)] for m in rest), default=FOREVER):
            result.append([Guarantee(max(past))])
    return history, result


def stories(histories: st.SearchStrategy[History]) -> st.SearchStrategy[Story]:
    nearly = histories.flatmap(
        lambda h: st.tuples(
            st.just(h),
            some.retraction_paths(h, settled=True)
            .flatmap(lambda said: some.nearly_ordered(said, displaced=4))
            .flatmap(some.batched)
            .flatmap(some.guaranteed),
        )
    )
    return nearly.map(at_sync_points)


def unfrozen(rows: Iterable[Event], line: Time) -> list[Event]:
    return [row for row in rows if row.valid_end >= line and row.occurrence_end >= line]


def is_right_at_sync_points(
    engine: MakesEngine, file: File, level: ConsistencyLevel, catalog: EventTypes, story: Story
) -> None:
    """R35: the said rows that are not frozen equal, at g, the due unfrozen rows of the oracle on what was received."""
    _, batches = story
    plan, intake, line = plan_of(file, catalog), Intake(catalog), BEGINNING
    for step, batch in zip(run(plan, level, catalog, batches, engine=engine), batches, strict=True):
        late = {id(d.message) for d in step.engine.dead_letters if d.code == "removal-too-late"}  # as if not sent (R34)
        for message in batch:
            if id(message) not in late:
                intake.receive(message)
        guarantee = intake.guarantee
        if all(accepted.sync <= guarantee for accepted in intake.accepted) and guarantee > BEGINNING:
            due = max(step.guarantee, plus(intake.high, -level.effective_blocking.duration))
            due = step.guarantee if level.effective_blocking.duration == FOREVER else due
            rows = [row for row in evaluate(plan, intake.rows()) if row.occurrence_start <= due]
            rows = [ended(row, occurrence=row.occurrence_end > due) for row in rows]
            told = [row for row in step.engine.said if row.occurrence_start <= due]
            assert at(_table(unfrozen(told, line)), guarantee) == at(_table(unfrozen(rows, line)), guarantee)
        if level.memory.duration != FOREVER:
            line = plus(intake.high, -level.memory.duration) if intake.high > BEGINNING else BEGINNING


def _table(rows: Iterable[Event]) -> HistoryTable:
    return HistoryTable.from_events(rows)


@BOTH
@given(FILES, LEVELS, stories(st.one_of(HISTORIES, SPREAD)))
def test_right_at_sync_points(engine: MakesEngine, file: File, level: ConsistencyLevel, story: Story) -> None:
    """Paper: Definition 5.  Readings: R34, R35."""
    is_right_at_sync_points(engine, file, level, PLAIN, story)


@BOTH
@given(FILES, LEVELS, stories(REVISED))
def test_right_at_sync_points_with_revisions(
    engine: MakesEngine, file: File, level: ConsistencyLevel, story: Story
) -> None:
    """Paper: Definition 5.  Readings: R10, R34, R35."""
    is_right_at_sync_points(engine, file, level, REVISABLE, story)


@BOTH
@given(FILES, st.integers(0, 3), SPREAD.flatmap(some.arrivals))
def test_frozen_rows_are_not_touched(engine: MakesEngine, file: File, memory: int, batches: Batches) -> None:
    """Reading: R34: a row that ended before m is neither shortened nor removed, nor said for the first time."""
    level = ConsistencyLevel(Bound(0), Bound(memory))
    plan, intake, line = plan_of(file, PLAIN), Intake(PLAIN), BEGINNING
    for step, batch in zip(run(plan, level, PLAIN, batches, engine=engine), batches, strict=True):
        for change in step.changes:
            if change.event is None:
                continue
            if isinstance(change.message, Retract):
                assert unfrozen([change.event], line) or _replaced(change, step.changes)
            else:
                assert unfrozen([change.event], line)
        for message in batch:
            intake.receive(message)
        line = plus(intake.high, -memory) if intake.high > BEGINNING else BEGINNING


def _replaced(change: Change, changes: list[Change]) -> bool:
    """R34: an unfrozen row replaces, in one step, a frozen one of the same ID and Os."""
    return any(c.kind == "insert" and _name(c) == _name(change) for c in changes)


def _name(change: Change) -> tuple[str, Time] | None:
    return None if change.event is None else (change.event.id, change.event.occurrence_start)


@BOTH
@given(FILES, HISTORIES.flatmap(some.arrivals))
def test_memory_beyond_everything_is_middle(engine: MakesEngine, file: File, batches: Batches) -> None:
    """Paper: Figure 9: travelling along the x-axis ends at the middle level.  Reading: R34."""
    plan = plan_of(file, PLAIN)
    far, forever = (ConsistencyLevel(Bound(0), Bound(m)) for m in (1000, FOREVER))
    runs = (run(plan, level, PLAIN, batches, engine=engine) for level in (far, forever))
    for one, other in zip(*runs, strict=True):
        assert Counter(map(shown, one.engine.said)) == Counter(map(shown, other.engine.said))
