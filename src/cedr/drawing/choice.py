"""Which bars and dots a drawing shows, and which dots a bar is linked to: no more than the limit allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cedr.drawing.story import IN_RESULT, Arrival, Bar, Dot, Reference, State
from cedr.model.event import Event, primitive_contributors
from cedr.model.time import FOREVER

_DOTS_PER_BAR, _FEWEST_DOTS = 4, 40
_LINKS_PER_BAR = 24


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown."""

    bars: tuple[Bar, ...]
    dots: tuple[Dot, ...]
    links: tuple[tuple[Reference, ...], ...]
    """The dots that each bar is linked to."""
    note: str
    """The counts, and what is left out, as one line."""


def choose(bars: Sequence[Bar], arrived: dict[Reference, Dot], limit: int) -> Shown:
    """The first bars in valid time up to the limit, and of the events first those that these are made of."""
    shown = tuple(bars[: max(0, limit)])
    made_of = [leaves(bar.event) for bar in shown]
    missing = Arrival.DERIVED if arrived else Arrival.UNKNOWN
    dots = dict(arrived)
    for event in (leaf for found in made_of for leaf in found):
        dots.setdefault(event.reference, Dot(event, missing))
    wanted = dict.fromkeys(leaf.reference for found in made_of for leaf in found)
    others = sorted(dots.keys() - wanted.keys(), key=lambda name: (dots[name].event.valid_start, name))
    if len(shown) < len(bars):
        last = max((_last(bar.event) for bar in shown), default=FOREVER)
        others = [name for name in others if dots[name].event.valid_start <= last]
    most = max(_FEWEST_DOTS, _DOTS_PER_BAR * max(0, limit))
    kept = set([*wanted, *others][:most])
    links = tuple(_links(found, kept) for found in made_of)
    drawn = tuple(dot for name, dot in dots.items() if name in kept)
    counts = (
        ", ".join(_counts(bars)),
        ", ".join(_dot_counts(dots.values())),
        _cut(len(shown), len(bars), "row"),
        _cut(len(drawn), len(dots), "event"),
    )
    return Shown(shown, drawn, links, "; ".join(count for count in counts if count))


def leaves(row: Event) -> tuple[Event, ...]:
    """The events that a row is made of, flattened; none for an aggregate."""
    return primitive_contributors(row) if row.contributors else ()


def _links(found: Iterable[Event], kept: set[Reference]) -> tuple[Reference, ...]:
    names = dict.fromkeys(leaf.reference for leaf in found if leaf.reference in kept)
    return tuple(names)[:_LINKS_PER_BAR]


def _last(event: Event) -> int:
    return event.valid_start if event.valid_end == FOREVER else max(event.valid_start, event.valid_end)


def _counts(bars: Sequence[Bar]) -> Iterable[str]:
    count = {state: sum(bar.state is state for bar in bars) for state in State}
    yield plural(sum(count[state] for state in IN_RESULT), "row")
    if count[State.CLOSED]:
        yield f"{count[State.CLOSED]:,} no longer believed"
    if count[State.RETRACTED]:
        yield f"{count[State.RETRACTED]:,} retracted"
    if count[State.AGAIN]:
        yield f"{count[State.AGAIN]:,} retracted and emitted again"
    if count[State.STRAY]:
        yield f"{count[State.STRAY]:,} emitted but not in the result"
    if shortened := sum(bar.shortened for bar in bars):
        yield f"{shortened:,} shortened"


def _dot_counts(dots: Iterable[Dot]) -> Iterable[str]:
    came = [dot for dot in dots if dot.arrival is not Arrival.DERIVED]
    if came:
        yield plural(len(came), "event")
    if late := sum(dot.arrival is Arrival.LATE for dot in came):
        yield f"{late:,} late"
    if retracted := sum(dot.retracted for dot in came):
        yield f"{retracted:,} retracted"


def _cut(shown: int, total: int, what: str) -> str:
    return "" if shown == total else f"{shown:,} shown of {plural(total, what)}"


def plural(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
