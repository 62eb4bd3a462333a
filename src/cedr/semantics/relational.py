"""The relational part of the algebra: join, difference, distinct; projection, selection and union row by row.

Paper: Section 6, Definitions 7, 8, 9; all of them, and group-by, are view update compliant (Definition 11): how the
changes of a relation are packaged into events does not show.  Readings: R10, R29.  An event with an empty lifetime is
never alive, so it takes no part in what is defined per instant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cedr.expression.tree import variables
from cedr.model.event import EMPTY, Event, Payload
from cedr.model.identity import idgen, idgen_of
from cedr.model.modes import JoinKind
from cedr.model.time import FOREVER, Interval, Time
from cedr.plan.logical import Difference, Distinct, Join, Project, Select
from cedr.semantics.predicates import conjuncts, environment_of, value_of

RowValue = tuple[Payload, ...]


def row_value(event: Event) -> RowValue:
    """What two rows must agree on to be duplicates: the payloads, whatever the variables are called."""
    if event.bindings:
        return tuple(part.payload for _, part in event.bindings)
    return (event.payload,)


def project(node: Project, event: Event) -> Event:
    """Paper: Definition 7.  ``π_f(S) = {(e.Vs, e.Ve, f(e.Payload)) | e ∈ E(S)}``."""
    payload = Payload((column.name, value_of(column.expression, event)) for column in node.columns)
    return replace(event, payload=payload, bindings=())


def selects(node: Select, event: Event, absent: frozenset[str] = frozenset()) -> bool:
    """Paper: Definition 8.  ``σ_f(S) = {(e.Vs, e.Ve, e.Payload) | e ∈ E(S) where f(e.Payload)}``.

    ``absent`` are variables that a LEFT join may leave without a partner: there they are NULL, as in SQL.
    """
    return conjuncts((node.predicate,)).hold(environment_of(event), absent=absent)


def join(node: Join, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """Paper: Definition 9.

    ``{(Vs, Ve, e1.Payload concatenated with e2.Payload) | Vs = max{e1.Vs, e2.Vs}, Ve = min{e1.Ve, e2.Ve}, Vs < Ve, θ}``

    LEFT adds, for each left event, the instants in which it has no partner; ANTI gives only those.
    """
    left, right = inputs
    rows: list[Event] = []
    for e1 in left:
        partners = [e2 for e2 in right if not e1.valid.intersect(e2.valid).empty and _matches(node, e1, e2)]
        if node.kind is not JoinKind.ANTI:
            rows.extend(_joined(node.place, e1, e2) for e2 in partners)
        if node.kind is not JoinKind.INNER:
            rows.extend(pieces(node.place, e1, (e2.valid for e2 in partners)))
    return rows


def _matches(node: Join, e1: Event, e2: Event) -> bool:
    return conjuncts((node.predicate,)).hold(environment_of(e1, e2), absent=variables(node.predicate))


def _joined(place: str, e1: Event, e2: Event) -> Event:
    alive = e1.valid.intersect(e2.valid)
    return Event(
        stream=place,
        id=idgen_of(place, (e1, e2)),
        valid_start=alive.start,
        valid_end=alive.end,
        occurrence_start=0,
        occurrence_end=FOREVER,
        root_time=min(e1.root_time, e2.root_time),
        contributors=(e1, e2),
        bindings=e1.bindings + e2.bindings,
    )


def difference(node: Difference, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """``S1 - S2`` per instant: a payload of S1 is there while no equal payload is alive in S2.  Reading: R29."""
    left, right = inputs
    removed: dict[RowValue, list[Interval]] = defaultdict(list)
    for e2 in right:
        removed[row_value(e2)].append(e2.valid)
    return [piece for e1 in left for piece in pieces(node.place, e1, removed[row_value(e1)])]


def pieces(place: str, event: Event, holes: Iterable[Interval]) -> list[Event]:
    """The maximal parts of an event's lifetime outside some intervals, each a row.  Reading: R8 (ID)."""
    parts, start = [], event.valid_start
    for hole in sorted(h for h in holes if not h.empty):
        parts.append(Interval(start, min(hole.start, event.valid_end)))
        start = max(start, hole.end)
    parts.append(Interval(start, event.valid_end))
    return [
        replace(
            event,
            stream=place,
            id=idgen(place, *event.reference, part.start),
            valid_start=part.start,
            valid_end=part.end,
            contributors=(event,),
        )
        for part in parts
        if not part.empty
    ]


def distinct(node: Distinct, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """Removes duplicates per instant: each payload over the maximal intervals in which it is alive.  Reading: R29."""
    lifetimes: dict[RowValue, list[Interval]] = defaultdict(list)
    samples: dict[RowValue, Event] = {}
    for event in sorted(inputs[0], key=lambda e: (e.valid_start, e.id)):
        lifetimes[row_value(event)].append(event.valid)
        samples.setdefault(row_value(event), event)
    return [
        algebra_row(node.place, (value,), alive, samples[value].payload, samples[value].bindings)
        for value, intervals in lifetimes.items()
        for alive in covered(intervals)
    ]


def covered(intervals: Iterable[Interval]) -> list[Interval]:
    """The maximal intervals covered by some intervals."""
    found: list[Interval] = []
    for interval in sorted(i for i in intervals if not i.empty):
        if found and interval.start <= found[-1].end:
            found[-1] = Interval(found[-1].start, max(found[-1].end, interval.end))
        else:
            found.append(interval)
    return found


def algebra_row(
    place: str,
    group: tuple[object, ...],
    alive: Interval,
    payload: Payload = EMPTY,
    bindings: tuple[tuple[str, Event], ...] = (),
) -> Event:
    """A row that has no contributors of its own: its ID is made of place, group and Vs.  Reading: R8."""
    key = Payload({"group": group})["group"]
    return Event(
        stream=place,
        id=idgen(place, key, alive.start),
        valid_start=alive.start,
        valid_end=alive.end,
        occurrence_start=0,
        occurrence_end=FOREVER,
        root_time=alive.start,
        payload=payload,
        bindings=tuple((name, _headless(part, alive.start)) for name, part in bindings),
    )


def _headless(part: Event, start: Time) -> Event:
    """A stand-in for the variables of merged rows: of several events only the payload is common."""
    return Event(part.stream, "", start, FOREVER, start, FOREVER, start, payload=part.payload)
