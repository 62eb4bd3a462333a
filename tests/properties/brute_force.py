"""The paper's table once more, as naively as Python can: all combinations, then the condition.

For plain histories only (R9: there the meaning is unitemporal).  No keys, no search, no sharing with the oracle but the
evaluation of expressions.  Paper: Section 3.3.2, Definitions 7 to 9 and 12.  Readings: R11 to R18, R21, R25 to R31.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import singledispatch
from itertools import pairwise, permutations, product
from typing import Any

from cedr.expression.evaluate import evaluate as value
from cedr.expression.tree import Expression, variables
from cedr.model.event import Event, Payload, Value
from cedr.model.identity import idgen, idgen_of
from cedr.model.modes import JoinKind, Selection, Valid
from cedr.model.time import FOREVER, Time, plus
from cedr.plan import logical
from cedr.plan.logical import Node

Tables = dict[str, list[Event]]
Instance = tuple[Event | None, ...]


def meaning(node: Node, tables: Tables) -> list[Event]:
    """The table of a plan on plain tables."""
    return [_plain(e) for e in _of(node, tables)]


def _plain(event: Event) -> Event:
    return replace(event, occurrence_end=FOREVER)


def environment(*events: Event) -> dict[str, Event]:
    bound = {"": events[0]}
    for event in events:
        bound.update(event.bindings)
    return bound


def hold(predicates: Iterable[Expression], bound: dict[str, Event]) -> bool:
    """Reading: R21: a conjunct constrains only where every variable that it names is bound; only *true* passes."""
    return all(value(p, bound) is True for p in predicates if variables(p) <= bound.keys())


def made(place: str, id_: str, valid: tuple[Time, Time], root: Time, **rest: Any) -> Event:
    return Event(place, id_, *valid, valid[0], FOREVER, root, **rest)


def _of(node: Node, tables: Tables) -> list[Event]:
    return list(_denoted(node, tables))


@singledispatch
def _denoted(node: Node, tables: Tables) -> Iterable[Event]:
    raise NotImplementedError(type(node).__name__)


@_denoted.register
def _(node: logical.Source, tables: Tables) -> Iterable[Event]:
    return tables.get(node.type.name, [])


@_denoted.register
def _(node: logical.Rename, tables: Tables) -> Iterable[Event]:
    return [replace(e, bindings=(*e.bindings, (node.variable, replace(e, bindings=())))) for e in _of(node.input, tables)]


# -- SEQUENCE, ATLEAST ------------------------------------------------------------------------------------------------


def contributors(instance: Instance) -> list[Event]:
    return sorted((e for e in instance if e is not None), key=lambda e: e.valid_start)


def increasing(events: Sequence[Event], scope: int) -> bool:
    return (
        all(a.valid_start < b.valid_start for a, b in pairwise(events))
        and events[-1].valid_start - events[0].valid_start <= scope
    )


def composites(node: Any, instances: Iterable[Instance]) -> Iterator[Event]:
    for instance in chosen(list(instances), node.parameters, node.disjoint):
        parts = contributors(instance)
        yield made(
            node.place,
            idgen_of(node.place, parts),
            (parts[-1].valid_start, parts[0].valid_start + getattr(node, "scope", 1)),
            min(e.root_time for e in parts),
            contributors=tuple(parts),
            bindings=tuple(binding for e in instance if e is not None for binding in e.bindings),
        )


@_denoted.register
def _(node: logical.Sequence, tables: Tables) -> Iterable[Event]:
    inputs = [_of(p.input, tables) for p in node.parameters]
    return composites(
        node,
        (c for c in product(*inputs) if increasing(c, node.scope) and hold(node.predicates, environment(*c))),
    )


def at_least(node: Any, number: int, scope: int, tables: Tables) -> Iterator[Instance]:
    """Reading: R12: one instance per list of contributors, bound by the first assignment in parameter order."""
    inputs = [_of(p.input, tables) for p in node.parameters]
    seen = set()
    for order in permutations(range(len(inputs)), number):  # in lexicographic order, so the first assignment wins
        for events in product(*(inputs[i] for i in order)):
            references = tuple(e.reference for e in events)
            if references in seen or not increasing(events, scope) or not hold(node.predicates, environment(*events)):
                continue
            seen.add(references)
            places = dict(zip(order, events, strict=True))
            yield tuple(places.get(i) for i in range(len(inputs)))


@_denoted.register
def _(node: logical.AtLeast, tables: Tables) -> Iterable[Event]:
    return composites(node, at_least(node, node.count, node.scope, tables))


@_denoted.register
def _(node: logical.All, tables: Tables) -> Iterable[Event]:
    return composites(node, at_least(node, len(node.parameters), node.scope, tables))


@_denoted.register
def _(node: logical.Any, tables: Tables) -> Iterable[Event]:
    return composites(node, at_least(node, 1, 1, tables))


# -- selection and consumption, as R25 to R27 say it -------------------------------------------------------------------


def beats(other: Instance, instance: Instance, parameters: Sequence[logical.Parameter]) -> bool:
    """Whether another instance agrees in all other parameters and has an earlier (later) event at a FIRST (LAST) one."""
    for i, parameter in enumerate(parameters):
        one, two = instance[i], other[i]
        if parameter.selection is Selection.EACH or one is None or two is None or one.reference == two.reference:
            continue
        if any(_reference(instance[j]) != _reference(other[j]) for j in range(len(parameters)) if j != i):
            continue
        if one.valid_start == two.valid_start:
            if two.id < one.id:
                return True
        elif (two.valid_start < one.valid_start) == (parameter.selection is Selection.FIRST):
            return True
    return False


def _reference(event: Event | None) -> tuple[str, str] | None:
    return None if event is None else event.reference


def chosen(
    instances: list[Instance], parameters: Sequence[logical.Parameter], disjoint: logical.Disjoint | None
) -> list[Instance]:
    """R25 where nothing is consumed; else R26 and R27, deciding event by deciding event."""
    if disjoint is None and not any(p.consume for p in parameters):
        return [c for c in instances if not any(beats(other, c, parameters) for other in instances)]
    consumed: set[tuple[str, str]] = set()
    fences: dict[Value, Time] = {}
    compared: list[Instance] = []
    output: list[Instance] = []

    def available(c: Instance) -> bool:
        spared = not any(e is not None and e.reference in consumed for e in c)
        after = all(e.root_time > fences[_key(disjoint, c)] for e in contributors(c)) if _key(disjoint, c) in fences else True
        return spared and after

    for decider in sorted({_decider(c) for c in instances}):
        own = [c for c in instances if _decider(c) == decider and available(c)]
        compared += own
        selected = [c for c in own if not any(beats(other, c, parameters) for other in compared)]
        for c in sorted(selected, key=_pattern_order):
            if available(c):
                output.append(c)
                consumed |= {e.reference for e, p in zip(c, parameters, strict=True) if p.consume and e is not None}
                if disjoint is not None:
                    fences[_key(disjoint, c)] = decider[0]
    return output


def _decider(instance: Instance) -> tuple[Time, str, int]:
    latest = contributors(instance)[-1].valid_start
    return max((e.valid_start, e.id, i) for i, e in enumerate(instance) if e is not None and e.valid_start == latest)


def _pattern_order(instance: Instance) -> list[tuple[Time, str, int]]:
    return sorted((e.valid_start, e.id, i) for i, e in enumerate(instance) if e is not None)


def _key(disjoint: logical.Disjoint | None, instance: Instance) -> Value:
    if disjoint is None:
        return None
    bound = environment(*contributors(instance))
    return tuple(value(key, bound) for key in disjoint.keys)


def disjointed(node: Any, pairs: list[tuple[Event, Event]]) -> list[Event]:
    """DISJOINT after an operator with one positive operand: in the order of detection.  Reading: R27."""
    if node.disjoint is None:
        return [output for output, _ in pairs]
    fences: dict[Value, Time] = {}
    kept = []
    for output, operand in sorted(pairs, key=_detection_order):
        key = _key(node.disjoint, (operand,))
        if key not in fences or operand.root_time > fences[key]:
            kept.append(output)
            fences[key] = output.valid_start
    return kept


def _detection_order(pair: tuple[Event, Event]) -> tuple[Time, list[tuple[Time, str]]]:
    output, operand = pair
    return output.valid_start, [(e.valid_start, e.id) for e in output.contributors or (operand,)]


# -- ATMOST and negation ----------------------------------------------------------------------------------------------


@_denoted.register
def _(node: logical.AtMost, tables: Tables) -> Iterable[Event]:
    inputs = [_of(p.input, tables) for p in node.parameters]
    weighted = [(e, p.weight) for p, events in zip(node.parameters, inputs, strict=True) for e in events]
    pairs, seen = [], set()
    for events in inputs:
        for e in events:
            total = sum(w for other, w in weighted if e.valid_start - node.scope < other.valid_start <= e.valid_start)
            if e.reference not in seen and total <= node.count:
                valid = e.valid_start, e.valid_start + node.scope
                id_ = idgen_of(node.place, (e,))
                pairs.append((made(node.place, id_, valid, e.root_time, contributors=(e,), bindings=e.bindings), e))
            seen.add(e.reference)
    return disjointed(node, pairs)


def free(e1: Event, seconds: Iterable[Event], predicates: Iterable[Expression], scope: Callable[[Event], bool]) -> bool:
    """There does not exist e2 in the scope that satisfies the predicates together with e1."""
    return not any(scope(e2) and hold(predicates, environment(e1, e2)) for e2 in seconds)


def negated(e1: Event, place: str, start: Time, end: Time) -> Event:
    return made(place, e1.id, (start, end), e1.root_time, contributors=(e1,), payload=e1.payload, bindings=e1.bindings)


@_denoted.register
def _(node: logical.Unless, tables: Tables) -> Iterable[Event]:
    second, w = _of(node.second, tables), node.scope
    return disjointed(
        node,
        [
            (negated(e1, node.place, e1.valid_start, e1.valid_start + w), e1)
            for e1 in _of(node.first, tables)
            if free(e1, second, node.predicates, lambda e2: e1.valid_start < e2.valid_start < e1.valid_start + w)
        ],
    )


@_denoted.register
def _(node: logical.UnlessNth, tables: Tables) -> Iterable[Event]:
    second, w = _of(node.second, tables), node.scope
    pairs = []
    for e1 in _of(node.first, tables):
        start = (e1.contributors or (e1,))[node.contributor - 1].valid_start
        if free(e1, second, node.predicates, lambda e2: start < e2.valid_start < start + w):
            valid_start = max(start + w, e1.valid_start)
            pairs.append((negated(e1, node.place, valid_start, valid_start + w), e1))
    return disjointed(node, pairs)


@_denoted.register
def _(node: logical.Not, tables: Tables) -> Iterable[Event]:
    none = _of(node.negated, tables)
    pairs = []
    for es in _of(node.sequence, tables):
        first, last = es.contributors[0].valid_start, es.contributors[-1].valid_start
        if free(es, none, node.predicates, lambda e: first < e.valid_start < last):
            pairs.append((replace(es, stream=node.place), es))
    return disjointed(node, pairs)


@_denoted.register
def _(node: logical.CancelWhen, tables: Tables) -> Iterable[Event]:
    second = _of(node.second, tables)

    def cancels(e1: Event, e2: Event) -> bool:
        return e1.root_time < e2.valid_start < e1.valid_start and (not node.from_root or e1.root_time < e2.root_time)

    firsts = [e1 for e1 in _of(node.first, tables) if free(e1, second, node.predicates, lambda e2: cancels(e1, e2))]
    return disjointed(node, [(replace(e1, stream=node.place, occurrence_start=e1.valid_start), e1) for e1 in firsts])


# -- algebra ----------------------------------------------------------------------------------------------------------


@_denoted.register
def _(node: logical.Project, tables: Tables) -> Iterable[Event]:
    return [
        replace(e, payload=Payload((c.name, value(c.expression, environment(e))) for c in node.columns), bindings=())
        for e in _of(node.input, tables)
    ]


@_denoted.register
def _(node: logical.Select, tables: Tables) -> Iterable[Event]:
    return [e for e in _of(node.input, tables) if hold((node.predicate,), environment(e))]


@_denoted.register
def _(node: logical.Union, tables: Tables) -> Iterable[Event]:
    return [
        replace(e, stream=node.place, id=idgen(node.place, branch, *e.reference), contributors=(e,))
        for branch, side in (("left", node.left), ("right", node.right))
        for e in _of(side, tables)
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


@_denoted.register
def _(node: logical.Join, tables: Tables) -> Iterable[Event]:
    left, right = _of(node.left, tables), _of(node.right, tables)
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
            lonely = lifelines(lambda t: alive(e1, t) and not any(alive(e2, t) for e2 in partners) or None, over)
            rows += [piece(node.place, e1, start, end) for start, end, _ in lonely]
    return rows


@_denoted.register
def _(node: logical.Difference, tables: Tables) -> Iterable[Event]:
    left, right = _of(node.left, tables), _of(node.right, tables)
    over = instants(left, right)
    return [
        piece(node.place, e1, start, end)
        for e1 in left
        for start, end, _ in lifelines(
            lambda t: alive(e1, t) and not any(alive(e2, t) and e2.payload == e1.payload for e2 in right) or None, over
        )
    ]


@_denoted.register
def _(node: logical.Distinct, tables: Tables) -> Iterable[Event]:
    rows = _of(node.input, tables)
    return [
        made(node.place, idgen(node.place, ((payload,),), start), (start, end), start, payload=payload)
        for payload in {e.payload for e in rows}
        for start, end, _ in lifelines(
            lambda t: any(alive(e, t) and e.payload == payload for e in rows) or None, instants(rows)
        )
    ]


@_denoted.register
def _(node: logical.GroupBy, tables: Tables) -> Iterable[Event]:
    rows = _of(node.input, tables)

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
    return {"SUM": sum, "MIN": min, "MAX": max}[call.function](known)


@_denoted.register
def _(node: logical.AlterLifetime, tables: Tables) -> Iterable[Event]:
    for e in _of(node.input, tables):
        start: Any = value(node.start, environment(e))
        duration: Any = value(node.duration, environment(e))
        if start != FOREVER and duration > 0:
            yield replace(e, valid_start=start, valid_end=plus(start, duration), occurrence_start=start)


@_denoted.register
def _(node: logical.Session, tables: Tables) -> Iterable[Event]:
    rows = _of(node.input, tables)

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


@_denoted.register
def _(node: logical.SetValid, tables: Tables) -> Iterable[Event]:
    for e in _of(node.input, tables):
        last = max(e.contributors or (e,), key=lambda c: (c.valid_start, c.id))
        yield replace(e, valid_end=FOREVER if node.valid is Valid.FOREVER else max(e.valid_start, last.valid_end))

