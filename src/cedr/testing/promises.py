"""What a level promises, judged at every step of a delivery against the oracle.

Paper: Definitions 1, 3, 4 and 5.  Readings: R34 (what is frozen), R35 (the promises), R36 (g'), R40 (what leaves a
batch).  *STRONG and MIDDLE*, and any B with M = FOREVER: to every g' the table said is the oracle's on the whole
history.  *Finite M*: at every sync point of the input the unfrozen rows said are, at g, the oracle's on what was
received so far.  *STRONG* speaks in the order of Sync and takes nothing back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from cedr.hosts.host import StandingQuery, Start
from cedr.model.equivalence import projected
from cedr.model.event import Event
from cedr.model.history import HistoryTable
from cedr.model.intake import Intake
from cedr.model.level import STRONG, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Guarantee, Insert, LineageKey, Message, Retract
from cedr.model.sync import sync_of
from cedr.model.time import BEGINNING, FOREVER, Time, format_time, plus
from cedr.plan import logical
from cedr.plan.logical import Node, walk
from cedr.semantics.evaluate import evaluate
from cedr.testing.deliveries import Batches


@dataclass(frozen=True, slots=True)
class Broken:
    """A promise that was not kept: which, at what level, after which step, and the rows that only one side has."""

    level: ConsistencyLevel
    step: int
    promise: str
    time: Time | None = None
    """The g or g' of the promise, where it speaks of one."""
    said: tuple[Event, ...] = ()
    meant: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """What a delivery is judged in: the plan, the event types, who sends, and the engine on trial."""

    plan: Node
    catalog: EventTypes
    providers: tuple[str, ...]
    start: Start

    def judge(self, batches: Batches, levels: Sequence[ConsistencyLevel], truths: Truths) -> Broken | None:
        """The first promise that a delivery shows broken, if any."""
        whole = Intake(self.catalog, self.providers)
        for batch in batches:
            for message in batch:
                whole.receive(message)
        expected = truths.of(whole)
        engine = self.start(self.plan, levels, self.catalog, self.providers)
        judges = [_judge(self, level, expected, truths) for level in levels]
        for step, batch in enumerate(batches, 1):
            try:
                spoken = [each.to_changes() for each in engine.step(batch, step)]
            except Exception as error:  # whatever goes wrong in an engine on trial is what we are here to find
                return Broken(levels[0], step, f"the engine failed: {type(error).__name__}: {error}")
            for of, judge in enumerate(judges):
                broken = judge.after(batch, spoken[of], engine, of)
                if broken is not None:
                    return replace(broken, step=step)
        return None


_MOST_KNOWN = 2_000
"""So many tables are kept at most."""


class Truths:
    """The oracle's tables, each evaluated once: what was received decides, not its order."""

    def __init__(self, plan: Node) -> None:
        self._plan = plan
        self._known: dict[Hashable, list[Event]] = {}

    def of(self, intake: Intake) -> list[Event]:
        """The rows of the query on all that was received."""
        key = frozenset(_signature(accepted.message) for accepted in intake.accepted)
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = list(evaluate(self._plan, intake.rows()))
        return self._known[key]


def _signature(message: Insert | Retract) -> Hashable:
    return message.event if isinstance(message, Insert) else message


def remembers_little(plan: Node) -> bool:
    """Whether finite memory can be judged row by row.

    Reading: R35: of group-by and difference only the payloads alive at g are promised; a slice cuts by ends that are
    not due yet.
    """
    judged = (logical.Source, logical.Query, logical.Rename, logical.Pattern, logical.SetValid)
    return all(isinstance(node, (*judged, logical.Project, logical.Select)) for node in walk(plan))


def _judge(setting: Setting, level: ConsistencyLevel, expected: Sequence[Event], truths: Truths) -> _Judge:
    if level.memory.duration == FOREVER:
        return _Complete(level, expected)
    return _Forgetful(level, setting, truths)


class _Judge:
    """What all levels have in common: the rows said so far, and the guarantee that has left."""

    def __init__(self, level: ConsistencyLevel) -> None:
        self.level = level
        self.guarantee: Time = BEGINNING
        self.rows: dict[LineageKey, Event] = {}
        self._spoken: Time = BEGINNING

    def after(
        self, batch: Sequence[Message], changes: Sequence[Change], engine: StandingQuery, of: int
    ) -> Broken | None:
        """What the step has shown broken."""
        before = self.guarantee
        broken = self._in_order(changes)
        for change in changes:
            broken = broken or self._apply(change)
        if broken is None and self.guarantee < before:
            broken = self._broken(f"the guarantee goes back from {format_time(before)}")
        return broken or self._compare(batch, changes, engine, of)

    def _compare(
        self, batch: Sequence[Message], changes: Sequence[Change], engine: StandingQuery, of: int
    ) -> Broken | None:
        raise NotImplementedError

    def _in_order(self, changes: Sequence[Change]) -> Broken | None:
        syncs = [sync for change in changes if (sync := _sync(change)) is not None]
        if syncs != sorted(syncs):
            return self._broken("what leaves a batch is not in the order of Sync (R40)")
        if self.level != STRONG or not syncs:
            return None
        if syncs[0] < self._spoken:
            return self._broken(f"Sync {syncs[0]} is said after {self._spoken}: STRONG speaks in order (R35)")
        self._spoken = syncs[-1]
        back = (c for c in changes if isinstance(c.message, Retract) and c.event is not None)
        gone = next((c.event for c in back if c.event is not None and _sync(c) == c.event.occurrence_start), None)
        return None if gone is None else self._broken(f"{gone.id} is taken back: STRONG takes nothing back (R35)")

    def _apply(self, change: Change) -> Broken | None:
        message = change.message
        if isinstance(message, Guarantee):
            self.guarantee = message.time
        elif isinstance(message, Insert):
            if message.lineage_key in self.rows:
                return self._broken(f'the key "{message.lineage_key}" is said twice (R8)')
            self.rows[message.lineage_key] = message.event
        else:
            row = self.rows.pop(message.lineage_key, None)
            if row is None:
                return self._broken(f'"{message.lineage_key}" is taken back, but was not said')
            self._shorten(row, message)
        return None

    def _shorten(self, row: Event, message: Retract) -> None:
        oe, ve = message.occurrence_end, message.valid_end
        shorter = replace(
            row,
            occurrence_end=row.occurrence_end if oe is None else oe,
            valid_end=row.valid_end if ve is None else ve,
        )
        never = shorter.valid_end <= row.valid_start < row.valid_end
        if not (message.removes or never or shorter.occurrence_end <= row.occurrence_start):
            self.rows[message.lineage_key] = shorter

    def _broken(self, promise: str, said: Iterable[Event] = (), meant: Iterable[Event] = ()) -> Broken:
        return Broken(self.level, 0, promise, said=tuple(said), meant=tuple(meant))

    def _differ(self, said: Iterable[Event], meant: Iterable[Event], form: Form) -> Broken | None:
        """Broken where the tables differ in a canonical form; the rows are shown as they are, not as they were cut."""
        left, right = ([(row, _one(row, form)) for row in rows] for rows in (said, meant))
        bags = [Counter(key for _, key in pairs if key is not None) for pairs in (left, right)]
        if bags[0] == bags[1]:
            return None
        only = (bags[0] - bags[1], bags[1] - bags[0])
        told, wanted = ([row for row, key in p if key in rest] for p, rest in zip((left, right), only, strict=True))
        return self._broken("", told, wanted)


Form = Callable[[HistoryTable], HistoryTable]
"""A canonical form: *to* a time, or *at* it.  Reading: R5."""


def _one(row: Event, form: Form) -> Hashable:
    """What a row amounts to in a canonical form; None if it is not in it."""
    return next(iter(projected(form(HistoryTable.from_events([row])))), None)


class _Complete(_Judge):
    """M = FOREVER.  Paper: Definitions 3 and 4.  Reading: R35."""

    def __init__(self, level: ConsistencyLevel, expected: Sequence[Event]) -> None:
        super().__init__(level)
        self._expected = expected
        self._judged: Time = BEGINNING

    def _compare(
        self,
        batch: Sequence[Message],  # noqa: ARG002 - for all judges alike
        changes: Sequence[Change],
        engine: StandingQuery,  # noqa: ARG002 - for all judges alike
        of: int,  # noqa: ARG002 - for all judges alike
    ) -> Broken | None:
        time = self.guarantee
        touched = any(sync <= time for change in changes if (sync := _sync(change)) is not None)
        if time == BEGINNING or (time == self._judged and not touched):
            return None
        self._judged = time
        broken = self._differ(
            self.rows.values(), self._expected, lambda table: table.canonical_to(time, valid_too=True)
        )
        return broken and replace(broken, promise="the table to g' is not the oracle's (R35)", time=time)


class _Forgetful(_Judge):
    """Finite M.  Paper: Definition 5.  Readings: R34, R35."""

    def __init__(self, level: ConsistencyLevel, setting: Setting, truths: Truths) -> None:
        super().__init__(level)
        self._truths = truths
        self._intake = Intake(setting.catalog, setting.providers)
        self._largest: Time = BEGINNING
        self._line: Time = BEGINNING

    def _compare(
        self,
        batch: Sequence[Message],
        changes: Sequence[Change],  # noqa: ARG002 - for all judges alike
        engine: StandingQuery,
        of: int,
    ) -> Broken | None:
        self._receive(batch, engine, of)
        guarantee = self._intake.guarantee
        broken = None
        if self._largest <= guarantee and guarantee > BEGINNING:
            broken = self._at_sync_point(guarantee)
        if self._intake.high > BEGINNING:
            self._line = plus(self._intake.high, -self.level.memory.duration)
        return broken

    def _receive(self, batch: Sequence[Message], engine: StandingQuery, of: int) -> None:
        """R34: the removal of a modification that comes too late is as if not sent."""
        removals = any(isinstance(message, Retract) for message in batch)
        letters = engine.dead_letters(of) if removals else []
        late = [letter.message for letter in letters if letter.code == "removal-too-late"]
        known = len(self._intake.accepted)
        for message in batch:
            if message not in late:
                self._intake.receive(message)
        self._largest = max([self._largest, *(accepted.sync for accepted in self._intake.accepted[known:])])

    def _at_sync_point(self, guarantee: Time) -> Broken | None:
        blocking = self.level.effective_blocking.duration
        due = self.guarantee
        if blocking != FOREVER:
            due = max(due, plus(self._intake.high, -blocking))
        rows = [row for row in self._truths.of(self._intake) if row.occurrence_start <= due]
        rows = [row if row.occurrence_end <= due else replace(row, occurrence_end=FOREVER) for row in rows]
        said = [row for row in self.rows.values() if row.occurrence_start <= due]
        broken = self._differ(
            self._unfrozen(said), self._unfrozen(rows), lambda table: table.canonical_at(guarantee, valid_too=True)
        )
        return broken and replace(broken, promise="the unfrozen rows at g are not the oracle's (R35)", time=guarantee)

    def _unfrozen(self, rows: Iterable[Event]) -> list[Event]:
        return [row for row in rows if row.valid_end >= self._line and row.occurrence_end >= self._line]


def _sync(change: Change) -> Time | None:
    if change.event is None:
        return None
    return sync_of(change.event, change.message if isinstance(change.message, Retract) else None)
