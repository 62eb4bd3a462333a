"""The standing query on the files, batch by batch, at three levels.  Here in this process; Spark has its own run.

Paper: Section 5.  Readings: R33, R40: a file is a batch, so that the output does not depend on how fast files come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, Protocol

from cedr.consistency.measures import Measures
from cedr.hosts.local import Local
from cedr.model.event import Event, primitive_contributors
from cedr.model.level import MIDDLE, STRONG, WEAK, ConsistencyLevel
from cedr.model.stream import Change, Insert, Retract
from cedr.plan.compile import CompiledQuery
from cedr_demo.account import Told
from cedr_demo.arriving import Arriving

LEVELS: Final = (STRONG, MIDDLE, WEAK)


class Batch(NamedTuple):
    """What one batch emitted at all levels, in the order of ``in_order``, and how many dead letters it made."""

    number: int
    told: list[Told]
    dead_letters: int


class Costs(NamedTuple):
    """What a level holds at the end of a batch.  Paper: Figure 8."""

    held: int
    state_rows: int
    state_bytes: int

    @property
    def kept(self) -> int:
        """Events in memory: those that wait for a guarantee, and those that the operators keep."""
        return self.held + self.state_rows


class Run(Protocol):
    """A standing query that is fed files."""

    def batches(self, meanwhile: Callable[[], None]) -> Iterator[Batch]:
        """Let the files arrive; what was emitted about each.  ``meanwhile`` is called while nothing comes."""

    def costs(self) -> list[list[Costs]]:
        """What each level holds, batch by batch, as far as it is known."""


class LocalRun:
    """The pipeline of the host ``local``."""

    def __init__(self, query: CompiledQuery, arriving: Arriving, levels: Sequence[ConsistencyLevel] = LEVELS) -> None:
        self._arriving = arriving
        self._running = Local().start(query.plan, levels, arriving.types)
        self._costs: list[list[Costs]] = []
        self._letters = 0

    def batches(self, meanwhile: Callable[[], None]) -> Iterator[Batch]:
        """One step of the pipeline for each file."""
        for file in self._arriving.files:
            meanwhile()
            spoken = self._running.step(list(file.messages), file.number)
            changes = ((each.level, change) for each in spoken if len(each) for change in each.to_changes())
            told = [_told(level, change) for level, change in changes if change.event is not None]
            measures = self._running.measures()
            self._costs.append([_costs(each) for each in measures])
            before, self._letters = self._letters, sum(each.dead_letters for each in measures)
            yield Batch(file.number, in_order(told), self._letters - before)

    def costs(self) -> list[list[Costs]]:
        """What each level holds, batch by batch."""
        return self._costs


def alone(query: CompiledQuery, arriving: Arriving, level: ConsistencyLevel) -> list[list[Costs]]:
    """What a level holds by itself, batch by batch: of levels that share operators the run shows what all need."""
    run = LocalRun(query, arriving, [level])
    for _ in run.batches(lambda: None):
        pass
    return run.costs()


def in_order(told: Iterable[Told]) -> list[Told]:
    """In one order, whichever host tells it."""
    return sorted(told, key=_order)


def _order(told: Told) -> tuple[Any, ...]:
    event = told.event
    return (told.level, event.occurrence_start, event.id, not told.inserted, event.occurrence_end)


def _costs(measures: Measures) -> Costs:
    return Costs(measures.held, measures.total_rows, measures.total_bytes)


def _told(level: ConsistencyLevel, change: Change) -> Told:
    """A change as a row tells it: a retraction has the ends that it leaves."""
    message, row = change.message, change.event
    assert row is not None
    row = replace(row, contributors=primitive_contributors(row))
    if isinstance(message, Insert):
        return Told(level.name, inserted=True, key=message.lineage_key, event=row)
    assert isinstance(message, Retract)
    return Told(level.name, inserted=False, key=message.lineage_key, event=_left(row, message))


def _left(row: Event, message: Retract) -> Event:
    if message.removes:
        return replace(row, occurrence_end=row.occurrence_start)
    oe = row.occurrence_end if message.occurrence_end is None else message.occurrence_end
    ve = row.valid_end if message.valid_end is None else message.valid_end
    return replace(row, occurrence_end=oe, valid_end=ve)
