# ruff: noqa: B023 - each closure is called before its loop goes on
"""The algebra by brute force: instant by instant.

Paper: Definitions 7 to 9 and 12.  Readings: R19, R29 to R31.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from cedr.expression.tree import Expression
from cedr.model.event import Event, Payload, Value
from cedr.model.identity import idgen, idgen_of
from cedr.model.modes import JoinKind, Valid
from cedr.model.time import FOREVER, Time, plus
from cedr.plan import logical
from tests.properties.denoting import Tables, denoted, environment, hold, made, of, value


@denoted.register
def _(node: logical.Project, tables: Tables) -> Iterable[Event]:
    return [
        replace(e, payload=Payload((c.name, value(c.expression, environment(e))) for c in node.columns), bindings=())
        for e in of(node.input, tables)
    ]


@denoted.register
def _(node: logical.Select, tables: Tables) -> Iterable[Event]:
    return [e for e in of(node.input, tables) if hold((node.predicate,), environment(e))]


@denoted.register
def _(node: logical.Union, tables: Tables) -> Iterable[Event]:
    return [
        replace(e, stream=node.place, id=idgen(node.place, branch, *e.reference), contributors=(e,))
        for branch, side in (("left", node.left), ("right", node.right))
        for e in of(side, tables)
    ]


def instants(*tables: Iterable[Event]) -> range:
    """Every instant at which something can change, and one before and after."""
    events = [e for table in tables for e in table]
    times = [t for e in events for t in (e.valid_start, e.valid_end) if t != FOREVER]
    return range(min(times, default=0) - 1, max(times, default=0) + 2)


def alive(event: Event, instant: Time) -> bool:
    return event.valid_start <= instant < event.valid_end


def lifelines(at: Callable[[Time], Any], over: range) -> Iterator[tuple[Time, Time, Any]]:
    """The maximal intervals of one value that is not None; what lives at the last instant lives FOREVER."""
    start: Time | None = None
    for instant in (*over, None):
        now = None if instant is None else at(instant)
        if start is not None and (instant is None or now != at(start)):
            yield start, FOREVER if instant is None else instant, at(start)
            start = None
        if now is not None and start is None:
            start = instant


def piece(place: str, event: Event, start: Time, end: Time) -> Event:
    id_ = idgen(place, *event.reference, start)
    return replace(
        event, stream=place, id=id_, valid_start=start, valid_end=end, occurrence_start=start, contributors=(event,)
    )


@denoted.register
def _(node: logical.Join, tables: Tables) -> Iterable[Event]:
    left, right = of(node.left, tables), of(node.right, tables)
    over, rows = instants(left, right), list[Event]()
    for e1 in left:
        partners = [e2 for e2 in right if hold((node.predicate,), environment(e1, e2))]
        for e2 in partners:
            start, end = max(e1.valid_start, e2.valid_start), min(e1.valid_end, e2.valid_end)
            if start < end and node.kind is not JoinKind.ANTI:
                id_, root = idgen_of(node.place, (e1, e2)), min(e1.root_time, e2.root_time)
                both = e1.bindings + e2.bindings
                rows.append(made(node.place, id_, (start, end), root, contributors=(e1, e2), bindings=both))
        if node.kind is not JoinKind.INNER:
            lonely = lifelines(lambda t: (alive(e1, t) and not any(alive(e2, t) for e2 in partners)) or None, over)
            rows += [piece(node.place, e1, start, end) for start, end, _ in lonely]
    return rows


@denoted.register
def _(node: logical.Difference, tables: Tables) -> Iterable[Event]:
    left, right = of(node.left, tables), of(node.right, tables)
    over = instants(left, right)
    return [
        piece(node.place, e1, start, end)
        for e1 in left
        for start, end, _ in lifelines(
            lambda t: (alive(e1, t) and not any(alive(e2, t) and e2.payload == e1.payload for e2 in right)) or None,
            over,
        )
    ]


@denoted.register
def _(node: logical.Distinct, tables: Tables) -> Iterable[Event]:
    rows = of(node.input, tables)
    return [
        made(node.place, idgen(node.place, ((payload,),), start), (start, end), start, payload=payload)
        for payload in {e.payload for e in rows}
        for start, end, _ in lifelines(
            lambda t: any(alive(e, t) and e.payload == payload for e in rows) or None, instants(rows)
        )
    ]


@denoted.register
def _(node: logical.Top, tables: Tables) -> Iterable[Event]:
    """Reading: R45: instant by instant."""
    rows = of(node.input, tables)
    over = instants(rows)

    def read(expression: Expression, event: Event) -> Value:
        return value(expression, environment(event))

    def before(other: Event, event: Event) -> bool:
        mine, its = read(node.by, event), read(node.by, other)
        if mine is None or its is None:
            return its is not None
        return its > mine if node.descending else its < mine  # type: ignore[operator]

    def chosen(event: Event, instant: Time) -> bool | None:
        group = [e for e in rows if all(read(key, e) == read(key, event) for key in node.keys)]
        crowd = sum(alive(e, instant) and before(e, event) for e in group)
        return (alive(event, instant) and crowd < node.count) or None

    return [
        piece(node.place, event, start, end)
        for event in rows
        for start, end, _ in lifelines(lambda t: chosen(event, t), over)
    ]


@denoted.register
def _(node: logical.GroupBy, tables: Tables) -> Iterable[Event]:
    rows = of(node.input, tables)

    def key_of(event: Event) -> tuple[Value, ...]:
        return tuple(value(c.expression, environment(event)) for c in node.keys)

    def aggregates(key: tuple[Value, ...], instant: Time) -> Payload | None:
        members = [e for e in rows if alive(e, instant) and key_of(e) == key]
        if not members:
            return None
        keys = dict(zip((c.name for c in node.keys), key, strict=True))
        return Payload(keys | {c.name: _aggregate(c, members) for c in node.aggregates})

    return [
        made(node.place, idgen(node.place, key, start), (start, end), start, payload=payload)
        for key in {key_of(e) for e in rows}
        for start, end, payload in lifelines(lambda t: aggregates(key, t), instants(rows))
    ]


def _aggregate(column: logical.AggregateColumn, members: list[Event]) -> Value:
    call = column.aggregate
    if call.star:
        return len(members)
    values: list[Any] = [value(call.arguments[0], environment(e)) for e in members]
    known = [v for v in values if v is not None]
    if not known:
        return None
    if call.function in ("FIRST", "LAST"):
        choose = min if call.function == "FIRST" else max
        timed = [(e.valid_start, v) for e, v in zip(members, values, strict=True) if v is not None]
        return min(v for start, v in timed if start == choose(start for start, _ in timed))
    if call.function == "MEDIAN":
        return min(v for v in known if 2 * sum(other <= v for other in known) >= len(known))
    if call.function == "LIST":
        return tuple(sorted(known))
    return {"SUM": sum, "MIN": min, "MAX": max}[call.function](known)


@denoted.register
def _(node: logical.AlterLifetime, tables: Tables) -> Iterable[Event]:
    for e in of(node.input, tables):
        start: Any = value(node.start, environment(e))
        duration: Any = value(node.duration, environment(e))
        if start != FOREVER and duration > 0:
            yield replace(e, valid_start=start, valid_end=plus(start, duration), occurrence_start=start)


@denoted.register
def _(node: logical.Session, tables: Tables) -> Iterable[Event]:
    rows = of(node.input, tables)

    def same(one: Event, other: Event) -> bool:
        return all(value(k, environment(one)) == value(k, environment(other)) for k in node.keys)

    def session(event: Event) -> set[Time]:
        """The starts reachable by steps of less than the gap."""
        starts = {e.valid_start for e in rows if same(e, event)}
        reached = {event.valid_start}
        while more := {s for s in starts - reached if any(abs(s - r) < node.gap for r in reached)}:
            reached |= more
        return reached

    for e in rows:
        starts = session(e)
        yield replace(e, valid_start=min(starts), valid_end=max(starts) + node.gap, occurrence_start=min(starts))


@denoted.register
def _(node: logical.SetValid, tables: Tables) -> Iterable[Event]:
    for e in of(node.input, tables):
        last = max(e.contributors or (e,), key=lambda c: (c.valid_start, c.id))
        yield replace(e, valid_end=FOREVER if node.valid is Valid.FOREVER else max(e.valid_start, last.valid_end))
