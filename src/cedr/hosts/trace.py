"""A query step by step: what arrived, what is held, what was said, what was taken back and why.

Paper: Section 4 (the tritemporal history), Section 5, Figure 8.  Readings: R33, R35, R36, R40.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from cedr.connect.tables import Clock
from cedr.consistency.measures import Measures
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.hosts.choice import DEFAULT, live_host_named
from cedr.hosts.holding import Holding
from cedr.hosts.host import StandingQuery, in_order
from cedr.hosts.inputs import Messages
from cedr.hosts.queries import AnyQuery, choose, parse_level
from cedr.hosts.reasons import Reasons
from cedr.hosts.run import ready
from cedr.model.intake import Accepted, DeadLetter
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Insert, Message
from cedr.model.time import Time
from cedr.plan.analyses.reads import types_read
from cedr.plan.compile import CompiledQuery


@dataclass(frozen=True, slots=True)
class Utterance:
    """Something said, and why if it takes something back."""

    change: Change
    reason: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """One step at one level: the messages that it holds now, and what it said."""

    level: ConsistencyLevel
    held: tuple[Accepted, ...]
    said: tuple[Utterance, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its CEDR time, what arrived, what of it could not be used, and each level's view."""

    cedr_time: Time
    messages: tuple[Message, ...]
    dead_letters: tuple[DeadLetter, ...]
    views: tuple[View, ...]


@dataclass(frozen=True)
class Trace:
    """A query on messages, to be followed step by step; ``measures`` is complete once ``steps`` has ended."""

    query: CompiledQuery
    levels: tuple[ConsistencyLevel, ...]
    messages: tuple[Message, ...]
    types: EventTypes
    warnings: tuple[Diagnostic, ...]
    primitive: frozenset[str]
    clock: Clock
    host: str
    _running: StandingQuery = field(repr=False)

    def steps(self) -> Iterator[Step]:
        """One step for each message; CEDR times 1, 2, 3 and so on."""
        door, reasons = Holding(self.types), Reasons(self.query.plan)
        for cedr_time, message in enumerate(self.messages, 1):
            known = len(door.intake.accepted)
            letters = door.receive([message], cedr_time, list(self._running.levels))
            reasons.learn(door.intake.accepted[known:])
            spoken = self._running.step([message], cedr_time)
            views = (
                self._view(level, in_order(each.to_changes()) if len(each) else [], door, of, reasons)
                for of, (level, each) in enumerate(zip(self.levels, spoken, strict=True))
            )
            yield Step(cedr_time, (message,), tuple(letters), tuple(views))

    def measures(self) -> Sequence[Measures]:
        """What each level has cost so far."""
        return self._running.measures()

    def _view(
        self, level: ConsistencyLevel, changes: Sequence[Change], door: Holding, of: int, reasons: Reasons
    ) -> View:
        said = (Utterance(change, reasons.of(change, door.fresh[of], self.clock)) for change in changes)
        return View(level, tuple(door.held(of)), tuple(said))


def trace(
    query: AnyQuery,
    messages: Messages,
    *,
    consistency: Sequence[ConsistencyLevel | str] = (),
    host: str | None = None,
    event: str | None = None,
    catalog: EventTypes | str | PathLike[str] | None = None,
    **words: Any,
) -> Trace:
    """Follow a query at one or more levels.  The rest is as for ``cedr.evaluate``."""
    asked = [parse_level(level) if isinstance(level, str) else level for level in consistency]
    program, arrived = ready(query, messages, catalog, words, event)
    chosen = choose(program, event)
    levels = tuple(asked or [chosen.consistency or MIDDLE])
    name = DEFAULT if host is None else host
    running = live_host_named(name).start(chosen.plan, levels, arrived.types)
    sent = tuple(message for _, message in arrived.messages)
    return Trace(
        chosen,
        levels,
        sent,
        arrived.types,
        (*program.warnings, *arrived.dead_letters),
        frozenset(types_read(chosen.plan)),
        Clock.of(message.event for message in sent if isinstance(message, Insert)),
        name,
        running,
    )
