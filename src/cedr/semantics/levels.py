"""What a query says at a consistency level, step by step: the naive engine.

Paper: Sections 4 and 5, Definitions 3, 4 and 5, Figures 7, 8 and 9.  Readings: R33 (blocking), R34 (memory), R35 (the
promises), R38 (switching), R40 (one CEDR time for a batch).

"What the query has said at any moment is the due rows of its meaning on the admitted messages; each step emits the
difference to what was said before."  This does exactly that, by evaluating everything anew at each step: it is the
reference for every engine that does better, and never for large inputs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cedr.model.event import Event
from cedr.model.intake import DeadLetter, Intake, rows_of
from cedr.model.level import Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract
from cedr.model.sync import sync_of
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.logical import Node
from cedr.semantics.ends import open_ended
from cedr.semantics.evaluate import Oracle
from cedr.semantics.guarantees import guarantee_out
from cedr.semantics.runs import visible
from cedr.semantics.ties import tied


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The three numbers of a level at one step: admission, due, and the freezing line m."""

    admitted: Time
    due: Time
    frozen: Time


@dataclass(frozen=True, slots=True)
class Said:
    """A row that was said and not taken back, as it stands now, with its lineage key."""

    event: Event
    lineage_key: str


RowName = tuple[str, Time]
"""ID and Os: at most one row of a table has both."""


class Reference:
    """A standing query at a consistency level.  Paper: Figure 7, monitor and operational module in one.

    ``step`` takes a batch of messages with its CEDR time and gives what is said about it.
    """

    def __init__(self, plan: Node, level: ConsistencyLevel, catalog: EventTypes, providers: Iterable[str] = ()) -> None:
        self.plan = plan
        self.level = level
        self.guarantee: Time = BEGINNING
        self._intake = Intake(catalog, providers)
        self._catalog = catalog
        self._admitted: set[int] = set()
        self._said: dict[RowName, Said] = {}
        self._clock: list[Time] = []
        self._high: list[Time] = []
        self._spoken: Time = BEGINNING
        self._line: Time = BEGINNING
        self._waiting: ConsistencyLevel | None = None
        self._too_late: list[DeadLetter] = []

    @property
    def dead_letters(self) -> list[DeadLetter]:
        """What could not be used, with reasons."""
        return sorted([*self._intake.dead_letters(final=True), *self._too_late], key=lambda d: d.position)

    @property
    def said(self) -> list[Event]:
        """The rows said and not taken back."""
        return [said.event for said in self._said.values()]

    @property
    def held(self) -> int:
        """How many accepted messages wait to be admitted: what blocking costs."""
        return len(self._intake.accepted) - len(self._admitted)

    @property
    def ties(self) -> int:
        """Events of the admitted messages that share Vs and key with another event of the same operator (R49)."""
        return tied(self.plan, self._rows(self._admitted))

    def switch(self, level: ConsistencyLevel, *, at_sync_point: bool = False) -> None:
        """Go on at another level from the next batch, or from the next sync point of the output.  Reading: R38."""
        if at_sync_point:
            self._waiting = level
        else:
            self.level, self._waiting = level, None

    def step(self, messages: Sequence[Message], cedr_time: Time) -> list[Change]:
        """Take a batch; say the difference.  All its messages have one CEDR time.  Readings: R33, R40."""
        line = self._line = max(self._line, self._ago(self.level.memory, cedr_time))  # before the batch (R34); R38
        for message in messages:
            self._receive(message, line)
        self._clock.append(cedr_time)
        self._high.append(self._intake.high)
        blocked = self._ago(self.level.effective_blocking, cedr_time)
        admitted = max(self._intake.guarantee, blocked)
        self._admitted.update(i for i, a in enumerate(self._intake.accepted) if a.sync <= admitted)
        guarantee = self._guarantee_out(line)
        changes = self._differences(Thresholds(admitted, max(guarantee, blocked), line), cedr_time)
        self._spoken = max([self._spoken, *(_order(change)[0] for change in changes)])
        if guarantee > self.guarantee:
            self.guarantee = guarantee
            changes.append(Change(Guarantee(guarantee), cedr_time))
        if self._waiting is not None and self.at_sync_point:
            self.level, self._waiting = self._waiting, None
        return changes

    @property
    def at_sync_point(self) -> bool:
        """Whether nothing is provisional: every message said, retractions included, has Sync <= g'.  Reading: R38."""
        return self._spoken <= self.guarantee

    # -- what is known ------------------------------------------------------------------------------------------------

    def _receive(self, message: Message, line: Time) -> None:
        position = self._intake.counts.received + 1
        if isinstance(message, Retract) and self._too_late_removal(message, line):
            reason = "the removal of a modification comes after its time has been forgotten"
            self._too_late.append(DeadLetter("removal-too-late", reason, message, position))
            self._intake.counts.received += 1
        else:
            self._intake.receive(message, position)

    def _too_late_removal(self, message: Retract, line: Time) -> bool:
        """Reading: R34: the removal of a modification that comes with Sync < m is as if not sent."""
        inserts = [a.message.event for a in self._intake.accepted if isinstance(a.message, Insert)]
        rows = [
            a.message.event
            for a in self._intake.accepted
            if isinstance(a.message, Insert) and a.message.lineage_key == message.lineage_key
        ]
        if not rows or sync_of(rows[0], message) >= line or sync_of(rows[0], message) > rows[0].occurrence_start:
            return False
        return any(e.reference == rows[0].reference and e.occurrence_start < rows[0].occurrence_start for e in inserts)

    def _ago(self, bound: Bound, cedr_time: Time) -> Time:
        """``h - d``; on the server's clock, the h of d ago.  Readings: R33, R34."""
        if bound.duration == FOREVER or not self._high:
            return BEGINNING
        if not bound.cedr_time:
            return BEGINNING if self._high[-1] == BEGINNING else plus(self._high[-1], -bound.duration)
        index = bisect_right(self._clock, cedr_time - bound.duration)
        return self._high[index - 1] if index else BEGINNING

    def _rows(self, positions: Iterable[int]) -> Oracle:
        accepted = self._intake.accepted
        return Oracle(rows_of([accepted[i].message for i in sorted(positions)], self._catalog))

    def _guarantee_out(self, line: Time) -> Time:
        guarantee = self._intake.guarantee
        if guarantee == BEGINNING:
            return BEGINNING
        final = (i for i, a in enumerate(self._intake.accepted) if a.sync <= guarantee)
        return max(self.guarantee, guarantee_out(self.plan, guarantee, self._rows(final), line))

    # -- what is said -------------------------------------------------------------------------------------------------

    def _differences(self, thresholds: Thresholds, cedr_time: Time) -> list[Change]:
        meant = {_name(row): row for row in self._due(self._rows(self._admitted).table(self.plan), thresholds)}
        changes: list[Change] = []
        for name, said in list(self._said.items()):
            changes.extend(self._repair(name, said, meant.get(name), thresholds, cedr_time))
        for name, row in meant.items():
            if name not in self._said and not _frozen(row, thresholds.frozen):
                changes.append(self._say(row, cedr_time))
        return sorted(changes, key=_order)

    def _due(self, rows: Iterable[Event], thresholds: Thresholds) -> Iterable[Event]:
        """The rows whose Sync is due or that were said already, with ends only where these are due.  Reading: R33."""
        for row in rows:
            if row.occurrence_start <= thresholds.due or _name(row) in self._said:
                yield self._with_due_ends(row, thresholds)

    def _with_due_ends(self, row: Event, thresholds: Thresholds) -> Event:
        said = self._said.get(_name(row))
        before = None if said is None else said.event
        if row.occurrence_end > thresholds.due and not (before and before.occurrence_end == row.occurrence_end):
            row = replace(row, occurrence_end=FOREVER)
        end = max(row.occurrence_start, row.valid_end)
        if end > thresholds.due and open_ended(self.plan, row) and not (before and before.valid_end == row.valid_end):
            row = replace(row, valid_end=FOREVER)
        return row

    def _repair(
        self, name: RowName, said: Said, meant: Event | None, thresholds: Thresholds, cedr_time: Time
    ) -> Iterable[Change]:
        """What must be said about a row that was said before.  Readings: R3, R33 (also a shortening is due), R34."""
        old, line = said.event, thresholds.frozen
        if meant is not None and _ends_later_than(thresholds.due, meant, old):
            meant = replace(meant, valid_end=old.valid_end)
        if meant is None and open_ended(self.plan, old) and old.valid_start < line <= old.valid_end:
            meant = replace(old, valid_end=line)  # what lies before m stays said, also where it was cut there before
        if (meant is not None and _same(meant, old)) or (
            _frozen(old, line) and (meant is None or _frozen(meant, line))
        ):
            return
        if meant is not None and _shortens(meant, old):
            yield self._shorten(name, said, meant, cedr_time)
            return
        del self._said[name]
        yield Change(Retract(said.lineage_key), cedr_time, old)
        if meant is not None and not _frozen(meant, line):
            yield self._say(meant, cedr_time)

    def _shorten(self, name: RowName, said: Said, meant: Event, cedr_time: Time) -> Change:
        old = said.event
        self._said[name] = Said(meant, said.lineage_key)
        occurrence_end = meant.occurrence_end if meant.occurrence_end != old.occurrence_end else None
        valid_end = meant.valid_end if meant.valid_end != old.valid_end else None
        return Change(Retract(said.lineage_key, occurrence_end, valid_end), cedr_time, old)

    def _say(self, row: Event, cedr_time: Time) -> Change:
        """An insert; K is (ID, Os, CEDR time), so that a row that comes back is not swallowed.  Reading: R8."""
        key = f"{row.id}@{row.occurrence_start}/{cedr_time}"
        self._said[_name(row)] = Said(row, key)
        return Change(Insert(row, key), cedr_time, row)


def _name(row: Event) -> RowName:
    return row.id, row.occurrence_start


def _frozen(row: Event, line: Time) -> bool:
    """Reading: R34: not touched any more."""
    return row.valid_end < line or row.occurrence_end < line


def _ends_later_than(due: Time, new: Event, old: Event) -> bool:
    """Whether a row is only shortened, to a Ve that is not due."""
    shorter = old.valid_start < new.valid_end < old.valid_end and max(new.occurrence_start, new.valid_end) > due
    return shorter and visible(replace(new, valid_end=old.valid_end)) == visible(old)


def _shortens(new: Event, old: Event) -> bool:
    ends = new.occurrence_end <= old.occurrence_end and new.valid_end <= old.valid_end
    vanishes = new.valid_end <= new.valid_start < old.valid_end
    return ends and visible(replace(new, valid_end=old.valid_end)) == visible(old) and not vanishes


def _same(new: Event, old: Event) -> bool:
    return new.occurrence == old.occurrence and visible(new) == visible(old)


def _order(change: Change) -> tuple[Time, int]:
    """What leaves a batch is in the order of Sync, retractions first.  Readings: R7, R40."""
    message = change.message
    assert change.event is not None
    if isinstance(message, Retract):
        return sync_of(change.event, message), 0
    return change.event.occurrence_start, 1
