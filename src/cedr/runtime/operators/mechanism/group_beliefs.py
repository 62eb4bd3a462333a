"""Groups that hold revisions, followed run by run of beliefs.

Paper: Section 3.3.2 (the shredded canonical form), Section 6.  Readings: R9, R10.  Between two changes of belief
nothing changes, so a group is followed once for each run of occurrence instants; what holds in neighbouring runs alike
holds over both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.operators.mechanism.accumulators import Values
from cedr.runtime.operators.mechanism.following import State, followed
from cedr.runtime.operators.mechanism.members import Members
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.table import Rows

Held = tuple[Time, Time, Values]
"""An interval of valid time in which the aggregates have the same values."""


def held_over_runs(
    members: Members, group: int, state: State, taken_of: Callable[[Rows], list[Values]]
) -> Iterator[tuple[Held, Time, Time]]:
    """The maximal intervals of equal values after the floor of a group, and the maximal runs over which each holds."""
    rows = members.from_start(group, state.floor)
    rows = rows[members.relation.table.ve.view[rows] > members.relation.table.vs.view[rows]]
    ends = _folded_ends(members, group, state.floor)
    values = taken_of(np.concatenate([rows, ends]))
    starts, stops = members.input.believed(rows)
    cuts = np.unique(np.concatenate([[BEGINNING, FOREVER], starts, stops])).tolist()
    vs, ve = members.relation.table.vs.view, members.relation.table.ve.view
    leaving = [(int(end), False, taken) for end, taken in zip(ve[ends], values[len(rows) :], strict=True)]
    held: dict[tuple[Time, Time, Values], list[list[Time]]] = {}
    for since, until in pairwise(cuts):
        steps = list(leaving)
        for place in np.flatnonzero((starts <= since) & (since < stops)).tolist():
            steps.append((int(vs[rows[place]]), True, values[place]))
            if ve[rows[place]] < FOREVER:
                steps.append((int(ve[rows[place]]), False, values[place]))
        steps.sort(key=lambda step: step[0])
        run = State(state.alive.copy(), state.floor, state.start)
        for found in followed(run, steps, (run.position, FOREVER), run.start, FOREVER):
            spans = held.setdefault(found, [])
            if spans and spans[-1][1] == since:
                spans[-1][1] = until
            else:
                spans.append([since, until])
    for found, spans in held.items():
        for since, until in spans:
            yield found, since, until


def _folded_ends(members: Members, group: int, floor: Time) -> Rows:
    """The rows of a group that began up to its floor and end after it."""
    if floor == BEGINNING:
        return NONE
    store = members.ends.sorted
    places = store.locate(*(np.array([value], np.int64) for value in (group, floor + 1, FOREVER)))
    rows = store.rows[places.expand()[1]]
    found: Rows = rows[members.relation.table.vs.view[rows] <= floor]
    return found
