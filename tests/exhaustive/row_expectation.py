"""What a FROM query should emit about each history: the naive engine, on tables that are computed once.

Readings: R33 (due, open ends), R34 (frozen), R36 (the guarantee that leaves).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cedr.model.event import Event, primitive
from cedr.model.level import ConsistencyLevel
from cedr.model.lineage import rows_of
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract, insert
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan.logical import Node
from cedr.semantics.evaluate import Oracle
from cedr.semantics.guarantees import guarantee_out
from cedr.semantics.levels import Reference
from tests.exhaustive.expectation import Remembering, SideBySide
from tests.exhaustive.relations import CATALOG
from tests.exhaustive.row_runs import History, Run, Taken

Known = frozenset[int]


def message(history: History, place: int, key: int) -> Message:
    """A statement of a history that is kept apart by ``key``."""
    statement = history[place]
    of = statement.row if isinstance(statement, Taken) else place
    name = f"{key:04}.{of}"
    if isinstance(statement, Taken):
        return Retract(name, None, statement.end)
    payload = {"k": key, "v": statement.value}
    return insert(primitive(statement.kind, name, statement.start, statement.end, payload=payload), name)


class Tables:
    """The oracle's tables of a plan on parts of small histories, each computed once."""

    def __init__(self, plan: Node) -> None:
        self.plan = plan
        self._oracles: dict[tuple[object, ...], Remembering] = {}
        self._guarantees: dict[tuple[frozenset[tuple[object, ...]], Time, Time], Time] = {}

    def of(self, history: History, known: Iterable[int]) -> Remembering:
        """The oracle on a part of a history."""
        parts = _parts(history, known)
        if parts not in self._oracles:
            messages = [message(history, place, 0) for place in sorted(known)]
            self._oracles[parts] = Remembering(Oracle(rows_of(messages, CATALOG)))
        return self._oracles[parts]

    def guarantee(self, runs: Sequence[Run], guarantee: Time, line: Time) -> Time:
        """The guarantee that leaves an engine with several histories side by side, m being at ``line``.  Reading: R36.

        All with Sync up to a true guarantee has come.
        """
        final = [
            (run.history, [n for n, one in enumerate(run.history) if one.sync(run.history) <= guarantee])
            for run in runs
        ]
        name = (frozenset(_parts(*each) for each in final), guarantee, line)
        if name not in self._guarantees:
            each = {_parts(*one): self.of(*one) for one in final}
            oracle = SideBySide(each.values())
            self._guarantees[name] = guarantee_out(self.plan, guarantee, oracle, line)  # type: ignore[arg-type]
        return self._guarantees[name]

    def alive(self, runs: Sequence[Run], time: Time) -> Counter[tuple[int, Said]]:
        """The payloads that are alive at an instant, on all that there is of each history."""
        return Counter(
            (key, _payload(row))
            for key, run in enumerate(runs)
            for row in self.of(run.history, range(len(run.history))).table(self.plan)
            if row.valid_start <= time < row.valid_end and row.occurrence_end == FOREVER
        )


def _parts(history: History, known: Iterable[int]) -> tuple[object, ...]:
    """What is known of a history, each statement with its place: places are names of rows."""
    return tuple((place, history[place]) for place in sorted(known))


class Expected(Reference):
    """The naive engine on one history, by the tables that are computed once."""

    def __init__(self, run: Run, level: ConsistencyLevel, tables: Tables) -> None:
        super().__init__(tables.plan, level, CATALOG)
        self._run, self._tables = run, tables
        self._order = [step.statement for step in run.steps if step.statement is not None]
        self.leaving: Time = BEGINNING

    def take(self, number: int, leaving: Time) -> list[Change]:
        """A step; ``leaving`` is the guarantee that leaves with it, which all histories side by side bear on."""
        self.leaving = leaving
        step = self._run.steps[number]
        if step.statement is None:
            assert step.guarantee is not None
            return self.step([Guarantee(step.guarantee)], number + 1)
        return self.step([message(self._run.history, step.statement, 0)], number + 1)

    @property
    def line(self) -> Time:
        """m of the step to come."""
        return max(self._line, self._ago(self.level.memory, 0))

    def _rows(self, positions: Iterable[int]) -> Oracle:
        known = [self._order[position] for position in positions]
        return self._tables.of(self._run.history, known)  # type: ignore[return-value]

    def _guarantee_out(self, line: Time) -> Time:  # noqa: ARG002 - the line is in what leaves
        return max(self.guarantee, self.leaving)


Said = tuple[object, ...]
"""What a change says of a row, without ID and key: kind, times, new ends, payload."""


def said(changes: Iterable[Change], *, keyed: bool) -> list[tuple[int, Said]]:
    """The changes, each with the history that it belongs to."""
    found = []
    for change in changes:
        row, told = change.event, change.message
        if row is None:
            continue
        ends = (told.occurrence_end, told.valid_end) if isinstance(told, Retract) else None
        times = (ends, row.valid, row.occurrence, row.root_time)
        found.append((_key(row) if keyed else 0, (isinstance(told, Insert), *times, *_payload(row))))
    return found


def _key(row: Event) -> int:
    key = row.payload["k"]
    assert isinstance(key, int)
    return key


def _payload(row: Event) -> Said:
    """Values with their types: 1 and 1.0 differ."""
    return tuple((name, repr(value)) for name, value in row.payload.items() if name != "k")


class Alive:
    """The rows that some changes amount to."""

    def __init__(self, keyed: bool) -> None:
        self._keyed = keyed
        self._rows: dict[str, Event] = {}

    def take(self, changes: Iterable[Change]) -> None:
        """Apply the changes of a step."""
        for change in changes:
            told = change.message
            if isinstance(told, Insert):
                self._rows[told.lineage_key] = told.event
            elif isinstance(told, Retract):
                row = self._rows.pop(told.lineage_key)
                if not told.removes:
                    oe = row.occurrence_end if told.occurrence_end is None else told.occurrence_end
                    ve = row.valid_end if told.valid_end is None else told.valid_end
                    self._rows[told.lineage_key] = replace(row, occurrence_end=oe, valid_end=ve)

    def at(self, time: Time) -> Counter[tuple[int, Said]]:
        """The payloads that are alive at an instant."""
        return Counter(
            (_key(row) if self._keyed else 0, _payload(row))
            for row in self._rows.values()
            if row.valid_start <= time < row.valid_end and row.occurrence_end == FOREVER
        )
