"""All small histories of rows with ends, all orders in which they arrive, all places for guarantees.

A history is up to three rows whose starts and ends are on a grid of four instants; up to two rows of which some may
last for good; or up to two rows and a retraction of one of them, which shortens or removes it.  Two symmetries are
used: the earliest row starts at 1, and rows that are alike are told apart by their places only.

Runs that show the same newest time and the same guarantee at every step can run side by side in one engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations_with_replacement, permutations, product
from typing import NamedTuple

from cedr.model.time import FOREVER, Time

GRID = (1, 2, 3, 4)
AFTERWARDS = (GRID[-1], GRID[-1] + 1, 20, FOREVER)
"""The guarantees after everything has come: up to the last instant, just after it, far beyond, and of everything."""


class Stated(NamedTuple):
    """A row: its type, its lifetime and its value."""

    kind: str
    start: Time
    end: Time
    value: int

    def sync(self, _: History) -> Time:
        """Reading: R7: an insert bears on the stream from its start on."""
        return self.start


class Taken(NamedTuple):
    """A retraction of the row of that place: to a new end, or of all of it."""

    row: int
    end: Time | None

    def sync(self, history: History) -> Time:
        """Reading: R7: a shortening bears on the stream from the new end on, a removal from the start on."""
        row = history[self.row]
        assert isinstance(row, Stated)
        return row.start if self.end is None else self.end


Statement = Stated | Taken
History = tuple[Statement, ...]


class Step(NamedTuple):
    """A statement by its place, or a guarantee."""

    statement: int | None
    guarantee: Time | None


class Run(NamedTuple):
    """A history and how it arrives."""

    history: History
    steps: tuple[Step, ...]


def histories(types: str) -> Iterator[History]:
    """Every history, up to the symmetries."""
    closed = [(start, end) for start in GRID for end in GRID if start < end]
    open_ = [(start, FOREVER) for start in GRID]
    for size in (1, 2, 3):
        yield from _rows(types, closed, size)
    lasting = [*_rows(types, [*closed, *open_], 1), *_rows(types, [*closed, *open_], 2)]
    for rows in lasting:
        if any(row.end == FOREVER for row in rows):
            yield rows
    for rows in lasting:
        for place, row in enumerate(rows):
            for end in (None, *(instant for instant in GRID if row.start < instant < row.end)):
                yield (*rows, Taken(place, end))


def _rows(types: str, lifetimes: list[tuple[Time, Time]], size: int) -> Iterator[tuple[Stated, ...]]:
    every = [Stated(kind, start, end, value) for kind in types for start, end in lifetimes for value in (0, 1)]
    for rows in combinations_with_replacement(every, size):
        if min(row.start for row in rows) == GRID[0]:
            yield rows


def runs(history: History, *, guarantees: bool = True) -> Iterator[Run]:
    """Every order, and every set of places where the largest true guarantee is given; or none but at the end.

    A retraction comes after its row: one that comes before it waits for it, which is a matter of the door.
    """
    seen = set()
    for order in permutations(range(len(history))):
        if any(isinstance(one, Taken) and order.index(one.row) > order.index(n) for n, one in enumerate(history)):
            continue
        for places in product((False, True), repeat=len(history) - 1) if guarantees else [()]:
            steps = tuple(_steps(history, order, places))
            told = tuple(step.guarantee if step.statement is None else history[step.statement] for step in steps)
            if told not in seen:
                seen.add(told)
                yield Run(history, steps)


def _steps(history: History, order: tuple[int, ...], places: tuple[bool, ...]) -> Iterator[Step]:
    promised = 0
    for number, place in enumerate(order):
        yield Step(place, None)
        rest = [history[later].sync(history) for later in order[number + 1 :]]
        if rest and places and places[number] and min(rest) - 1 > promised:
            promised = min(rest) - 1
            yield Step(None, promised)
    yield from (Step(None, time) for time in AFTERWARDS)


Signature = tuple[tuple[bool, Time], ...]
"""For each step whether it is a guarantee, and its time or the newest time so far."""


def signature(run: Run) -> Signature:
    found, newest = [], 0
    for step in run.steps:
        if step.statement is not None:
            newest = max(newest, run.history[step.statement].sync(run.history))
        found.append((False, newest) if step.guarantee is None else (True, step.guarantee))
    return tuple(found)


@cache
def groups(types: str, widest: int) -> tuple[tuple[Run, ...], ...]:
    """All runs in groups of up to ``widest`` that can run side by side."""
    by_signature: dict[Signature, list[Run]] = {}
    for run in chain.from_iterable(map(runs, histories(types))):
        by_signature.setdefault(signature(run), []).append(run)
    return tuple(
        tuple(found[start : start + widest])
        for found in by_signature.values()
        for start in range(0, len(found), widest)
    )


@cache
def singles(types: str) -> tuple[tuple[Run, ...], ...]:
    """The runs one by one; of three statements only those without guarantees in between."""
    return tuple((run,) for history in histories(types) for run in runs(history, guarantees=len(history) < 3))
