"""Runs a group of histories of rows through the columnar engine and compares each step with the naive engine.

Reading: R35.  At M = FOREVER all that is emitted is compared, step by step.  With a finite M a query over rows with
ends promises the payloads that are alive at a sync point, and these are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from cedr.model.stream import Guarantee
from cedr.model.time import BEGINNING, FOREVER
from tests.consistency.engines import Pipeline
from tests.exhaustive.check import Count, tried
from tests.exhaustive.expectation import LEVELS
from tests.exhaustive.relations import CATALOG, Relation
from tests.exhaustive.row_expectation import Alive, Expected, Said, Tables, message, said
from tests.exhaustive.row_runs import GRID, Run, groups, singles

WIDEST = 256


def work(case: Relation) -> tuple[tuple[Run, ...], ...]:
    """The groups of runs of a case."""
    return groups(case.types, WIDEST) if case.together else singles(case.types)


def check(case: Relation, groups_: Sequence[tuple[Run, ...]]) -> tuple[Count, list[str]]:
    """Tries groups of runs; the differences as text."""
    tables = Tables(case.plan)
    return tried(case, groups_, lambda runs: _differences(case, runs, tables), lambda runs: _where(runs, 0, -1))


def _differences(case: Relation, runs: tuple[Run, ...], tables: Tables) -> Iterator[str]:
    engine = Pipeline(case.plan, LEVELS, CATALOG)
    expected = [[Expected(run, level, tables) for run in runs] for level in LEVELS]
    alive = [Alive(case.together) for _ in LEVELS]
    promised, given = [BEGINNING for _ in LEVELS], BEGINNING
    for number, step in enumerate(runs[0].steps):
        given = given if step.guarantee is None else step.guarantee
        batch = [Guarantee(given)] if step.statement is None else _statements(runs, number)
        for of, changes in enumerate(engine.step(batch, number + 1)):
            out = promised[of]
            if given > BEGINNING:  # also without a new one: what m has frozen holds nothing back any longer (R34, R36)
                out = max(out, tables.guarantee(runs, given, expected[of][0].line))
            emitted = changes.to_changes()
            meant = [one.take(number, out) for one in expected[of]]
            if changes.guarantee != (out if out > promised[of] else None):
                where = f"{case}\n  at {LEVELS[of]}: {_where(runs, 0, number)}"
                yield f"{where}\n  guarantee {changes.guarantee}, not {out}"
                return
            promised[of] = out
            told = Counter(said(emitted, keyed=case.together))
            wanted = Counter((key, one) for key, each in enumerate(meant) for _, one in said(each, keyed=False))
            if LEVELS[of].memory.duration < FOREVER:
                alive[of].take(emitted)
                due = LEVELS[of].blocking.duration == 0 or out >= given
                settled = step.statement is None and given >= GRID[-1] and due  # a sync point: all has come
                told = alive[of].at(given) if settled else Counter()
                wanted = tables.alive(runs, given) if settled else Counter()
            if told != wanted:
                yield f"{case}\n  at {LEVELS[of]}: {_difference(runs, told, wanted, number)}"
                return


def _statements(runs: tuple[Run, ...], number: int) -> list[object]:
    found: list[object] = []
    for key, run in enumerate(runs):
        place = run.steps[number].statement
        assert place is not None
        found.append(message(run.history, place, key))
    return found


Told = Counter[tuple[int, Said]]
"""What is said, each with the history that it belongs to."""


def _difference(runs: tuple[Run, ...], told: Told, wanted: Told, number: int) -> str:
    """The difference in the first run that has one."""
    more, less = told - wanted, wanted - told
    first = min(key for key, _ in [*more, *less])
    lines = [
        f"  {name}: {of}"
        for name, found in (("too much", more), ("missing", less))
        for key, of in sorted(found, key=str)
        if key == first
    ]
    return "\n".join([_where(runs, first, number), *lines])


def _where(runs: tuple[Run, ...], key: int, number: int) -> str:
    run, steps = runs[key], []
    for step in run.steps[: number + 1]:
        steps.append(f"guarantee {step.guarantee}" if step.statement is None else str(run.history[step.statement]))
    return f"{', '.join(steps)}; {len(runs)} histories side by side"
