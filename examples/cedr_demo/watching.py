"""What each level emitted and retracted and why, what that cost, and whether the oracle agrees.

Paper: Section 5, Figure 8; Definitions 3 to 5.  Readings: R33, R35.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cedr.connect.tables import Clock
from cedr.hosts.host import Job
from cedr.hosts.oracle import Oracle
from cedr.hosts.queries import choose, query_file
from cedr.hosts.reasons import Reasons
from cedr.model.event import Event, primitive_contributors
from cedr.model.history import HistoryTable
from cedr.model.intake import Accepted
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.stream import Guarantee, Insert, LineageKey
from cedr.model.time import Time
from cedr.plan.compile import CompiledQuery, compile_file
from cedr_demo.account import Account, Told
from cedr_demo.agreement import Agreement, agreement
from cedr_demo.arriving import Arriving, ArrivingFile
from cedr_demo.lanes import Histories
from cedr_demo.running import LEVELS, Batch, Costs


class Utterance(NamedTuple):
    """A change, and the reason of a retraction."""

    told: Told
    reason: str


class Step(NamedTuple):
    """One file, and what each level emitted when it came."""

    file: ArrivingFile
    said: dict[ConsistencyLevel, list[Utterance]]


@dataclass(frozen=True, slots=True)
class Peak:
    """The most that a level has held at the end of a batch."""

    kept: int
    """Events in memory, those that wait included."""
    held: int
    state_rows: int
    state_bytes: int

    @classmethod
    def of(cls, costs: Sequence[Costs]) -> Peak:
        """The largest of each."""
        return cls(
            *(max((getattr(each, name) for each in costs), default=0) for name in ("kept", *Costs._fields)),
        )


class Watching:
    """Follows a run; knows what arrived, and what it means."""

    def __init__(self, arriving: Arriving, text: str) -> None:
        self.arriving = arriving
        program = compile_file(query_file(arriving.declared + text), arriving.types)
        self.query: CompiledQuery = choose(program, None)
        self.accounts = {level: Account() for level in LEVELS}
        self.histories = Histories([level.name for level in LEVELS])
        self.dead_letters = 0
        self._reasons = Reasons(self.query.plan)
        self._rows: dict[LineageKey, Event] = {}
        self._came: dict[tuple[str, str], Time] = {}
        """How far the clock of the events was when each event came."""
        self.clock = Clock.of(m.event for m in arriving.files[0].messages if isinstance(m, Insert))

    def meant(self) -> HistoryTable:
        """What the oracle computes of everything that arrived."""
        job = Job(self.query, tuple(self.arriving.messages), MIDDLE, self.arriving.types)
        return HistoryTable.from_events(
            replace(row, contributors=primitive_contributors(row)) for row in Oracle().evaluate(job).rows
        )

    def take(self, batch: Batch) -> Step:
        """One more batch."""
        file = self.arriving.files[batch.number - 1]
        accepted = self._accepted(file)
        self._reasons.learn(accepted)
        self.histories.arrive(file, ((each.message, self._rows[each.message.lineage_key]) for each in accepted))
        self.dead_letters += batch.dead_letters
        said: dict[ConsistencyLevel, list[Utterance]] = {level: [] for level in LEVELS}
        for told in batch.told:
            level = next(each for each in LEVELS if each.name == told.level)
            before = self.accounts[level].take(told, self._wait(told, file))
            self.histories.emit(level.name, str(told.event.payload["machine"]), alert=told.inserted)
            said[level].append(Utterance(told, self._reason(told, before, accepted)))
        return Step(file, said)

    def judged(self, meant: HistoryTable) -> Agreement:
        """Whether the levels agree with each other and with the oracle at the last sync point."""
        said = {level: account.table() for level, account in self.accounts.items()}
        return agreement(said, meant, self.arriving.sync_point)

    def _wait(self, told: Told, file: ArrivingFile) -> int:
        """From when the last event of a row had come until now.  Paper: Figure 8, blocking."""
        return file.high - max(self._came[part.reference] for part in told.event.contributors)

    def _accepted(self, file: ArrivingFile) -> list[Accepted]:
        found: list[Accepted] = []
        for message in file.messages:
            if isinstance(message, Guarantee):
                continue
            if isinstance(message, Insert):
                self._rows[message.lineage_key] = message.event
                self._came.setdefault(message.event.reference, file.high)
            event = self._rows.get(message.lineage_key)
            if event is not None:
                found.append(Accepted(len(found), message, event.occurrence_start))
        return found

    def _reason(self, told: Told, before: Event, accepted: Sequence[Accepted]) -> str:
        if told.inserted:
            return ""
        machine = told.event.payload["machine"]
        own = [each for each in accepted if self._rows[each.message.lineage_key].payload["Machine_Id"] == machine]
        reason = self._reasons.of(told.as_change(0, before), own, self.clock)
        return reason if own else "an event of it was corrected"
