# ruff: noqa: B023 - each closure is called before its loop goes on
"""The pattern operators by brute force.

Paper: Section 3.3.2.  Readings: R11 to R18, R21, R25 to R27, R46, R49.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product
from typing import Any

from cedr.expression.tree import Expression, variables
from cedr.model.event import Event, Value
from cedr.model.identity import idgen_of
from cedr.model.modes import Selection
from cedr.model.time import Time
from cedr.plan import logical
from tests.properties.denoting import Tables, denoted, environment, hold, made, of, value

Instance = tuple[Event | None, ...]
"""One place for each parameter."""

# -- SEQUENCE, ATLEAST ------------------------------------------------------------------------------------------------


def contributors(instance: Instance) -> list[Event]:
    return sorted((e for e in instance if e is not None), key=lambda e: e.valid_start)


def increasing(events: Sequence[Event], scope: int, *, ties: bool) -> bool:
    followed = all(a.valid_start < b.valid_start or (ties and tied(a, b)) for a, b in combinations(events, 2))
    return followed and events[-1].valid_start - events[0].valid_start <= scope


def tied(a: Event, b: Event) -> bool:
    """Whether b may follow a at the same time.  Reading: R49."""
    if a.valid_start != b.valid_start or a.reference == b.reference:
        return False
    return a.stream != b.stream or _at_one_time(a) < _at_one_time(b)


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


@denoted.register
def _(node: logical.Sequence, tables: Tables) -> Iterable[Event]:
    inputs = [of(p.input, tables) for p in node.parameters]
    return composites(
        node,
        (
            c
            for c in product(*inputs)
            if increasing(c, node.scope, ties=node.ties) and hold(node.predicates, environment(*c))
        ),
    )


def at_least(node: Any, number: int, scope: int, tables: Tables, *, ties: bool = False) -> Iterator[Instance]:
    """Reading: R12: one instance per list of contributors, bound by the first assignment in parameter order.

    Reading: R49: the list is by (Vs, parameter).
    """
    inputs = [of(p.input, tables) for p in node.parameters]
    seen = set()
    for order in permutations(range(len(inputs)), number):  # in lexicographic order, so the first assignment wins
        for events in product(*(inputs[i] for i in order)):
            references = tuple(e.reference for e in events)
            listed = [(e.valid_start, i) for i, e in zip(order, events, strict=True)]
            if references in seen or listed != sorted(listed) or not increasing(events, scope, ties=ties):
                continue
            if not hold(node.predicates, environment(*events)):
                continue
            seen.add(references)
            places = dict(zip(order, events, strict=True))
            yield tuple(places.get(i) for i in range(len(inputs)))


@denoted.register
def _(node: logical.AtLeast, tables: Tables) -> Iterable[Event]:
    return composites(node, at_least(node, node.count, node.scope, tables, ties=node.ties))


@denoted.register
def _(node: logical.Exactly, tables: Tables) -> Iterable[Event]:
    """Reading: R46: those of ATLEAST with nothing of the other parameters in [first.Vs, first.Vs + w]."""
    inputs = [of(p.input, tables) for p in node.parameters]

    def beside(instance: Instance, other: Event) -> bool:
        own = contributors(instance)
        if other.reference in [e.reference for e in own]:
            return False
        if not own[0].valid_start <= other.valid_start <= own[0].valid_start + node.scope:
            return False
        new = environment(other).keys() - {""}
        named = [p for p in node.predicates if variables(p) & new]
        return hold(named, environment(*own, other))

    return composites(
        node,
        (
            instance
            for instance in at_least(node, node.count, node.scope, tables, ties=node.ties)
            if not any(
                beside(instance, other)
                for filled, events in zip(instance, inputs, strict=True)
                if filled is None
                for other in events
            )
        ),
    )


@denoted.register
def _(node: logical.All, tables: Tables) -> Iterable[Event]:
    return composites(node, at_least(node, len(node.parameters), node.scope, tables, ties=node.ties))


@denoted.register
def _(node: logical.Any, tables: Tables) -> Iterable[Event]:
    return composites(node, at_least(node, 1, 1, tables))


# -- selection and consumption, as R25 to R27 say it -------------------------------------------------------------------


def beats(other: Instance, instance: Instance, parameters: Sequence[logical.Parameter]) -> bool:
    """Whether another instance agrees in all other parameters and is earlier (later) at a FIRST (LAST) one."""
    for i, parameter in enumerate(parameters):
        one, two = instance[i], other[i]
        if parameter.selection is Selection.EACH or one is None or two is None or one.reference == two.reference:
            continue
        if any(_reference(instance[j]) != _reference(other[j]) for j in range(len(parameters)) if j != i):
            continue
        if one.valid_start == two.valid_start:
            if _at_one_time(two) < _at_one_time(one):
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
        after = (
            all(e.root_time > fences[_key(disjoint, c)] for e in contributors(c))
            if _key(disjoint, c) in fences
            else True
        )
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


def _decider(instance: Instance) -> tuple[Time, tuple[tuple[int, str], ...], int]:
    latest = contributors(instance)[-1].valid_start
    return max(
        (e.valid_start, _at_one_time(e), i) for i, e in enumerate(instance) if e is not None and e.valid_start == latest
    )


def _pattern_order(instance: Instance) -> list[tuple[Time, tuple[tuple[int, str], ...], int]]:
    return sorted((e.valid_start, _at_one_time(e), i) for i, e in enumerate(instance) if e is not None)


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


def _detection_order(pair: tuple[Event, Event]) -> tuple[Time, list[tuple[Time, tuple[tuple[int, str], ...]]]]:
    output, operand = pair
    return output.valid_start, [(e.valid_start, _at_one_time(e)) for e in output.contributors or (operand,)]


# -- ATMOST and negation ----------------------------------------------------------------------------------------------


@denoted.register
def _(node: logical.AtMost, tables: Tables) -> Iterable[Event]:
    inputs = [of(p.input, tables) for p in node.parameters]
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


@denoted.register
def _(node: logical.Unless, tables: Tables) -> Iterable[Event]:
    second, w = of(node.second, tables), node.scope
    return disjointed(
        node,
        [
            (negated(e1, node.place, e1.valid_start, e1.valid_start + w), e1)
            for e1 in of(node.first, tables)
            if free(e1, second, node.predicates, lambda e2: e1.valid_start < e2.valid_start < e1.valid_start + w)
        ],
    )


@denoted.register
def _(node: logical.UnlessNth, tables: Tables) -> Iterable[Event]:
    second, w = of(node.second, tables), node.scope
    pairs = []
    for e1 in of(node.first, tables):
        start = (e1.contributors or (e1,))[node.contributor - 1].valid_start
        if free(e1, second, node.predicates, lambda e2: start < e2.valid_start < start + w):
            valid_start = max(start + w, e1.valid_start)
            pairs.append((negated(e1, node.place, valid_start, valid_start + w), e1))
    return disjointed(node, pairs)


@denoted.register
def _(node: logical.Not, tables: Tables) -> Iterable[Event]:
    none = of(node.negated, tables)
    pairs = []
    for es in of(node.sequence, tables):
        first, last = es.contributors[0].valid_start, es.contributors[-1].valid_start
        if free(es, none, node.predicates, lambda e: first < e.valid_start < last):
            pairs.append((replace(es, stream=node.place), es))
    return disjointed(node, pairs)


@denoted.register
def _(node: logical.CancelWhen, tables: Tables) -> Iterable[Event]:
    second = of(node.second, tables)

    def cancels(e1: Event, e2: Event) -> bool:
        return e1.root_time < e2.valid_start < e1.valid_start and (not node.from_root or e1.root_time < e2.root_time)

    firsts = [e1 for e1 in of(node.first, tables) if free(e1, second, node.predicates, lambda e2: cancels(e1, e2))]
    return disjointed(node, [(replace(e1, stream=node.place, occurrence_start=e1.valid_start), e1) for e1 in firsts])


def _at_one_time(event: Event) -> tuple[tuple[int, str], ...]:
    """R42: the primitive events inside, each by (Vs, ID), a shorter list first, and at last the ID of the whole."""
    inside, found = [event], []
    while inside:
        first, *rest = inside
        if not first.contributors:
            found.append((first.valid_start, first.id))
        inside = [*first.contributors, *rest]
    return (*found, (-(2**63), ""), (0, event.id))
