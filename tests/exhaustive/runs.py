"""All small histories, all orders in which they arrive, all places for guarantees.

A history is up to four events at the times 1 to 4, in the order of their IDs.  Two symmetries are used, both sound
because no pattern here names a time or an ID: the earliest event is at 1 (moving everything in time changes nothing
else), and the IDs grow with time (only the order of IDs at equal times can matter, and there all orders are taken).

Runs that show the same newest time and the same guarantee at every step can run side by side in one engine, kept apart
by a key: they make a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from typing import NamedTuple

LATEST = 4
AFTERWARDS = (LATEST, LATEST + 1, 20)
"""The guarantees after everything has come: up to the last event, just after it, far beyond."""

History = tuple[tuple[str, int], ...]
"""Type and time of each event."""


class Step(NamedTuple):
    """An event by its number, or a guarantee."""

    event: int | None
    guarantee: int | None


class Run(NamedTuple):
    """A history and how it arrives."""

    history: History
    steps: tuple[Step, ...]


def histories(types: str, longest: int) -> Iterator[History]:
    """Every history, up to the symmetries."""
    for size in range(1, longest + 1):
        for times in combinations_with_replacement(range(1, LATEST + 1), size):
            if times[0] == 1:
                for kinds in product(types, repeat=size):
                    yield tuple(zip(kinds, times, strict=True))


def runs(history: History, *, guarantees: bool = True) -> Iterator[Run]:
    """Every order, and every set of places where the largest true guarantee is given; or none but at the end."""
    size = len(history)
    for order in permutations(range(size)):
        seen = set()
        for places in product((False, True), repeat=size - 1) if guarantees else [(False,) * (size - 1)]:
            steps = tuple(_steps(history, order, places))
            if steps not in seen:
                seen.add(steps)
                yield Run(history, steps)


def _steps(history: History, order: tuple[int, ...], places: tuple[bool, ...]) -> Iterator[Step]:
    promised = 0
    for number, event in enumerate(order):
        yield Step(event, None)
        rest = [history[later][1] for later in order[number + 1 :]]
        if rest and places[number] and min(rest) - 1 > promised:
            promised = min(rest) - 1
            yield Step(None, promised)
    yield from (Step(None, time) for time in AFTERWARDS)


Signature = tuple[tuple[bool, int], ...]
"""For each step whether it is a guarantee, and its time or the newest time so far."""


def signature(run: Run) -> Signature:
    found, newest = [], 0
    for step in run.steps:
        if step.event is not None:
            newest = max(newest, run.history[step.event][1])
        found.append((False, newest) if step.guarantee is None else (True, step.guarantee))
    return tuple(found)


@cache
def groups(types: str, longest: int, widest: int) -> tuple[tuple[Run, ...], ...]:
    """All runs in groups of up to ``widest`` that can run side by side."""
    by_signature: dict[Signature, list[Run]] = {}
    for history in histories(types, longest):
        for run in runs(history):
            by_signature.setdefault(signature(run), []).append(run)
    return tuple(
        tuple(found[start : start + widest])
        for found in by_signature.values()
        for start in range(0, len(found), widest)
    )


@cache
def singles(types: str, longest: int) -> tuple[tuple[Run, ...], ...]:
    """The runs one by one; of the longest histories only those without guarantees in between."""
    return tuple(
        (run,) for history in histories(types, longest) for run in runs(history, guarantees=len(history) < longest)
    )
