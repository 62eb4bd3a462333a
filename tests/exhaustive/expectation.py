"""What a query should say, from the oracle's tables of all parts of a history.

Readings: R33 (due and admitted), R34 (frozen), R36 (the guarantee that leaves).  Histories here are plain: one version
per event, stated in time, no ends.  So a message's Sync is its Vs, and a row is known by its contributors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cedr.model.event import Event, primitive
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan.logical import Node
from cedr.semantics.evaluate import Oracle
from cedr.semantics.guarantees import guarantee_out
from tests.exhaustive.runs import History, Run

LEVELS = (STRONG, MIDDLE, WEAK, ConsistencyLevel(Bound(1), Bound(2)))
"""The three names, and a point between them."""


class Row(NamedTuple):
    """A row of the output: its times, and which events the variables stand for."""

    valid_start: Time
    valid_end: Time
    occurrence_start: Time
    occurrence_end: Time
    root_time: Time
    events: tuple[int | None, ...]


Rows = frozenset[Row]


def row_of(event: Event) -> Row:
    """The row of an output whose payload holds the number of each event as an attribute v."""
    numbers = tuple(value for name, value in event.payload.items() if name.endswith("v"))
    times = (event.valid_start, event.valid_end, event.occurrence_start, event.occurrence_end, event.root_time)
    return Row(*times, numbers)


class Tables:
    """The oracle's tables of a plan on small histories, each computed once."""

    def __init__(self, plan: Node) -> None:
        self.plan = plan
        self._tables: dict[History, tuple[Row, ...]] = {}
        self._parts: dict[tuple[History, int], Rows] = {}
        self._guarantees: dict[tuple[frozenset[History], Time, Time], Time] = {}
        self._oracles: dict[History, Remembering] = {}

    def of(self, history: History, part: int) -> Rows:
        """The rows of the output on a part of a history; the part is a set of event numbers as bits."""
        found = self._parts.get((history, part))
        if found is None:
            numbers = [n for n in range(len(history)) if part >> n & 1]
            found = self._parts[history, part] = frozenset(self._moved(history, numbers))
        return found

    def _moved(self, history: History, numbers: list[int]) -> list[Row]:
        """The rows by symmetry from those of the part that begins at 1."""
        if not numbers:
            return []
        by = history[numbers[0]][1] - 1
        base = tuple((history[n][0], history[n][1] - by) for n in numbers)
        if base not in self._tables:
            self._tables[base] = tuple(row_of(event) for event in _oracle(base).table(self.plan))

        def later(time: Time) -> Time:
            return time if time == FOREVER else time + by

        return [
            Row(*map(later, row[:5]), tuple(None if n is None else numbers[n] for n in row.events))
            for row in self._tables[base]
        ]

    def guarantee(self, runs: Sequence[Run], guarantee: Time, line: Time) -> Time:
        """The guarantee that leaves an engine with several histories side by side, m being at ``line``.  Reading: R36.

        All with Sync up to a true guarantee has come.
        """
        known = frozenset(tuple(event for event in run.history if event[1] <= guarantee) for run in runs)
        found = self._guarantees.get((known, guarantee, line))
        if found is None:
            oracle = SideBySide(map(self._known, known))
            found = guarantee_out(self.plan, guarantee, oracle, line)  # type: ignore[arg-type]
            self._guarantees[known, guarantee, line] = found
        return found

    def _known(self, history: History) -> Remembering:
        if history not in self._oracles:
            self._oracles[history] = Remembering(_oracle(history))
        return self._oracles[history]


class Remembering:
    """The oracle on a history, or a part of one, with the tables that guarantees ask for kept."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._up_to: dict[tuple[int, Time], list[Event]] = {}

    def table(self, node: Node) -> list[Event]:
        return self._oracle.table(node)

    def table_up_to(self, node: Node, time: Time) -> list[Event]:
        if (id(node), time) not in self._up_to:
            self._up_to[id(node), time] = self._oracle.table_up_to(node, time)
        return self._up_to[id(node), time]


class SideBySide:
    """The oracle on histories that are kept apart: their tables together."""

    def __init__(self, each: Iterable[Remembering]) -> None:
        self._each = list(each)

    def table(self, node: Node) -> list[Event]:
        return [row for one in self._each for row in one.table(node)]

    def table_up_to(self, node: Node, time: Time) -> list[Event]:
        return [row for one in self._each for row in one.table_up_to(node, time)]


def _oracle(history: History) -> Oracle:
    tables: dict[str, list[Event]] = {}
    for number, (kind, time) in enumerate(history):
        event = primitive(kind, str(number), time, payload={"k": 0, "v": number})
        tables.setdefault(kind, []).append(event)
    return Oracle(tables)


class Expected:
    """One run at one level: the rows said, step by step."""

    def __init__(self, run: Run, level: ConsistencyLevel, tables: Tables) -> None:
        self.history, self.tables = run.history, tables
        blocking, memory = level.effective_blocking.duration, level.memory.duration
        self.blocking = None if blocking == FOREVER else blocking
        self.memory = None if memory == FOREVER else memory
        self.received = self.admitted = 0
        self.newest = self.guaranteed = BEGINNING
        self.rows: Rows = frozenset()

    @property
    def line(self) -> Time:
        """m of the step to come."""
        return BEGINNING if self.memory is None or self.newest == BEGINNING else self.newest - self.memory

    def step(self, event: int | None, guarantee: Time | None, leaving: Time) -> tuple[Rows, Rows]:
        """The rows added and the rows removed by a step; ``leaving`` is the guarantee that leaves with it."""
        line = self.line
        if event is not None:
            self.received |= 1 << event
            self.newest = max(self.newest, self.history[event][1])
        else:
            assert guarantee is not None
            self.guaranteed, self.newest = guarantee, max(self.newest, guarantee)
        blocked = BEGINNING if self.blocking is None else self.newest - self.blocking
        threshold = max(self.guaranteed, blocked)
        for number, (_, time) in enumerate(self.history):
            if self.received >> number & 1 and time <= threshold:
                self.admitted |= 1 << number
        before, meant = self.rows, self.tables.of(self.history, self.admitted)
        due = max(leaving, blocked)
        if line == BEGINNING:
            self.rows = frozenset(row for row in meant if row.occurrence_start <= due)
        else:
            self.rows = self._repaired(before, meant, due, line)
        return self.rows - before, before - self.rows

    @staticmethod
    def _repaired(before: Rows, meant: Rows, due: Time, line: Time) -> Rows:
        kept = {row for row in before if row in meant or row.valid_end < line}
        new = {row for row in meant if row.occurrence_start <= due and row.valid_end >= line}
        return frozenset(kept | new)
