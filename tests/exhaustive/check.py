"""Runs a group of histories through the columnar engine and compares each step with what it should say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from cedr.model.event import Event, primitive
from cedr.model.stream import Change, Guarantee, Insert, Message, insert
from cedr.model.time import BEGINNING, Time
from tests.consistency.engines import Pipeline
from tests.exhaustive.expectation import LEVELS, Expected, Row, Tables, row_of
from tests.exhaustive.patterns import CATALOG, TYPES, Case
from tests.exhaustive.runs import Run, Step, groups, singles

LONGEST, WIDEST = 4, 256


@dataclass
class Count:
    """How much was tried."""

    cases: int = 0
    """Histories, orders and places of guarantees, each at each level."""
    steps: int = 0
    differences: int = 0

    def __iadd__(self, other: Count) -> Count:
        self.cases += other.cases
        self.steps += other.steps
        self.differences += other.differences
        return self


class _Stepped(Protocol):
    @property
    def steps(self) -> Sequence[object]: ...


R = TypeVar("R", bound=_Stepped)


def tried(
    case: object,
    groups_: Sequence[tuple[R, ...]],
    differences: Callable[[tuple[R, ...]], Iterator[str]],
    where: Callable[[tuple[R, ...]], str],
) -> tuple[Count, list[str]]:
    """Tries groups of runs; of each group the first difference, or what it fails with.  ``where``: it, as text."""
    count, found = Count(), list[str]()
    for runs in groups_:
        count.cases += len(runs) * len(LEVELS)
        count.steps += len(runs[0].steps)
        try:
            told = list(differences(runs))
        except Exception as error:
            told = [f"{case}\n  {where(runs)}\n  {type(error).__name__}: {error}"]
        count.differences += len(told)
        found += told[:1]
    return count, found


def work(case: Case) -> tuple[tuple[Run, ...], ...]:
    """The groups of runs of a case."""
    return groups(TYPES, LONGEST, WIDEST) if case.together else singles(TYPES, LONGEST)


def check(case: Case, groups_: Sequence[tuple[Run, ...]]) -> tuple[Count, list[str]]:
    """Tries groups of runs; the differences as text."""
    tables = Tables(case.plan)
    return tried(case, groups_, lambda runs: _differences(case, runs, tables), lambda runs: _where(runs, set(), -1))


Told = tuple[str, int, Row]
"""Added or removed, in which run, which row."""


def _differences(case: Case, runs: tuple[Run, ...], tables: Tables) -> Iterator[str]:
    engine = Pipeline(case.plan, LEVELS, CATALOG)
    expected = [[Expected(run, level, tables) for run in runs] for level in LEVELS]
    promised = [BEGINNING for _ in LEVELS]
    given = BEGINNING
    for number, step in enumerate(runs[0].steps):
        given = given if step.guarantee is None else step.guarantee
        found = engine.step(_messages(runs, number), number + 1)
        for of, (level, at_level, changes) in enumerate(zip(LEVELS, expected, found, strict=True)):
            out = promised[of]
            if given > BEGINNING:  # also without a new one: what m has frozen holds nothing back any longer (R34, R36)
                out = max(out, tables.guarantee(runs, given, at_level[0].line))
            wanted = _wanted(at_level, runs, number, out)
            said = _said(changes.to_changes())
            if said != wanted:
                yield f"{case}\n  at {level}: {_where(runs, said ^ wanted, number)}\n{_told(said, wanted)}"
                return
            if changes.guarantee != (out if out > promised[of] else None):
                yield f"{case}\n  at {level}: {_where(runs, set(), number)}\n  guarantee {changes.guarantee}, not {out}"
                return
            promised[of] = out


def _messages(runs: tuple[Run, ...], number: int) -> list[Message]:
    guarantee = runs[0].steps[number].guarantee
    if guarantee is not None:
        return [Guarantee(guarantee)]
    return [insert(_event(run, key, run.steps[number])) for key, run in enumerate(runs)]


def _event(run: Run, key: int, step: Step) -> Event:
    assert step.event is not None
    kind, time = run.history[step.event]
    return primitive(kind, f"{key:04}.{step.event}", time, payload={"k": key, "v": step.event})


def _wanted(expected: list[Expected], runs: tuple[Run, ...], number: int, out: Time) -> set[Told]:
    wanted: set[Told] = set()
    for key, (run, one) in enumerate(zip(runs, expected, strict=True)):
        added, removed = one.step(*run.steps[number], out)
        wanted.update(("added", key, row) for row in added)
        wanted.update(("removed", key, row) for row in removed)
    return wanted


def _said(changes: Sequence[Change]) -> set[Told]:
    """Of a retraction the row as it was: here there are only removals."""
    return {
        ("added" if isinstance(change.message, Insert) else "removed", _key(change.event), row_of(change.event))
        for change in changes
        if change.event is not None
    }


def _key(event: Event) -> int:
    return next(v for name, v in event.payload.items() if name.endswith("k") and isinstance(v, int))


def _told(said: set[Told], wanted: set[Told]) -> str:
    """The difference in the first run that has one."""
    first = min(key for _, key, _ in said ^ wanted)
    parts = (("too much", said - wanted), ("missing", wanted - said))
    lines = (
        f"  {name}: {what}, events {row.events}, valid [{row.valid_start}, {row.valid_end})"
        for name, told in parts
        for what, key, row in sorted(told, key=str)
        if key == first
    )
    return "\n".join(lines)


def _where(runs: tuple[Run, ...], told: set[Told], number: int) -> str:
    run = runs[min((key for _, key, _ in told), default=0)]
    steps = []
    for step in run.steps[: number + 1]:
        kind, time = ("guarantee", step.guarantee) if step.event is None else run.history[step.event]
        steps.append(f"{kind} {time}" + ("" if step.event is None else f" (event {step.event})"))
    return f"{', '.join(steps)}; {len(runs)} histories side by side"
