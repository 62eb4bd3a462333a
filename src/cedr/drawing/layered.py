"""Where the boxes of a graph without cycles stand: in columns from left to right, with few crossings.

After Sugiyama, Tagawa and Toda (1981): each box stands one column behind the last of those that it follows; an edge
that passes a column has a place in it; each column is ordered by the places of its neighbours, and then moved towards
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_SWEEPS = 12
_APART = 14.0
"""Between two boxes of a column."""


@dataclass(eq=False, slots=True)
class Spot:
    """A box in its column, or the place where an edge passes one."""

    column: int
    size: float
    """How high it is."""
    middle: float = 0.0
    before: list[Spot] = field(default_factory=list)
    after: list[Spot] = field(default_factory=list)


def spots_of(sizes: Mapping[str, float], edges: Sequence[tuple[str, str]]) -> tuple[dict[str, Spot], list[list[Spot]]]:
    """The spot of each box, and for each edge the spots that it goes through, both its ends included.

    ``sizes`` has how high each box is, those first that others follow.
    """
    entering: dict[str, list[str]] = defaultdict(list)
    for start, end in edges:
        entering[end].append(start)
    spots: dict[str, Spot] = {}
    for key, size in sizes.items():
        spots[key] = Spot(max((spots[each].column + 1 for each in entering[key]), default=0), size)
    passing = [_through(spots[start], spots[end]) for start, end in edges]
    columns: dict[int, list[Spot]] = defaultdict(list)
    for spot in dict.fromkeys([*spots.values(), *(spot for way in passing for spot in way)]):
        columns[spot.column].append(spot)
    ordered = [columns[number] for number in sorted(columns)]
    _order(ordered)
    _move(ordered)
    top = min((spot.middle - spot.size / 2 for column in ordered for spot in column), default=0.0)
    for spot in (spot for column in ordered for spot in column):
        spot.middle -= top
    return spots, passing


def _through(start: Spot, end: Spot) -> list[Spot]:
    """The way of an edge; each spot on it knows its neighbours."""
    way = [start, *(Spot(column, 2.0) for column in range(start.column + 1, end.column)), end]
    for left, right in pairwise(way):
        left.after.append(right)
        right.before.append(left)
    return way


def _order(columns: list[list[Spot]]) -> None:
    """Each column by the mean place of the neighbours on one side, from left to right and back."""
    for column in columns:
        _number(column)
    for sweep in range(_SWEEPS):
        rightwards = sweep % 2 == 0
        for column in columns if rightwards else reversed(columns):
            column.sort(key=lambda spot: _mean(spot.before if rightwards else spot.after, spot.middle))
            _number(column)


def _number(column: Iterable[Spot]) -> None:
    for place, spot in enumerate(column):
        spot.middle = float(place)


def _mean(spots: Sequence[Spot], otherwise: float) -> float:
    return sum(spot.middle for spot in spots) / len(spots) if spots else otherwise


def _move(columns: list[list[Spot]]) -> None:
    """Give places in the order that there is: first as near as may be, then towards the neighbours."""
    for column in columns:
        _place(column, [0.0] * len(column))
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            _place(column, [_mean(spot.before + spot.after, spot.middle) for spot in column])


def _place(column: Sequence[Spot], wished: Sequence[float]) -> None:
    """As near to where they wish to be as order and room allow: between what is right from above and from below."""
    down, up = list(wished), list(wished)
    for of in range(1, len(column)):
        down[of] = max(down[of], down[of - 1] + _room(column[of - 1], column[of]))
    for of in range(len(column) - 2, -1, -1):
        up[of] = min(up[of], up[of + 1] - _room(column[of], column[of + 1]))
    for spot, one, other in zip(column, down, up, strict=True):
        spot.middle = (one + other) / 2


def _room(upper: Spot, lower: Spot) -> float:
    """How far apart the middles of two neighbours in a column are at least."""
    return (upper.size + lower.size) / 2 + _APART
