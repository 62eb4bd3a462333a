"""Restricting candidates to a key, where that is obviously the same.

Where equalities among an operator's predicates link all its inputs, events with different values can never meet in one
instance, nor cancel one; so each value is evaluated on its own.  This changes no meaning, only how long one waits.
Readings: R21 (where predicates apply), R22 (a NULL agrees with nothing).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

from cedr.expression.tree import Binary, Expression, Way, way_of, ways_in
from cedr.model.belief import Belief
from cedr.model.event import Event, Payload, Value
from cedr.plan.logical import All, AtLeast, Pattern, inputs, parameters
from cedr.semantics.bound import always_bound
from cedr.semantics.predicates import value_of
from cedr.semantics.runs import Partition, whole

Side = tuple[str, Way]
"""A variable and an attribute of it, or a field inside of one."""


def equalities(predicates: Iterable[Expression]) -> list[tuple[Side, Side]]:
    """The conjuncts of the form ``x.a = y.b``."""
    return [
        (left, right)
        for p in predicates
        if isinstance(p, Binary) and p.operator == "="
        if (left := way_of(p.left)) is not None and (right := way_of(p.right)) is not None
    ]


def on_attributes(predicates: Iterable[Expression], keys: Iterable[Expression]) -> tuple[Expression, ...]:
    """The equalities whose two sides are an attribute that the keys read."""
    read = frozenset[Way]().union(*map(ways_in, keys))
    return tuple(p for p in predicates for (_, a), (_, b) in equalities((p,)) if a == b and a in read)


def by_key(
    predicates: Sequence[Expression], names: Sequence[frozenset[str]], *, same_name: bool = False, pairs: bool = False
) -> Partition:
    """A partition by the key of some inputs; by none where they have none."""
    return by_sides(key_of(predicates, names, same_name=same_name, pairs=pairs))


def by_sides(key: Sequence[Side] | None) -> Partition:
    """A partition by the key of each input; by none where there is none."""
    return whole if key is None else by_value([reader_of(side) for side in key])


def key_of(
    predicates: Sequence[Expression], names: Sequence[frozenset[str]], *, same_name: bool = False, pairs: bool = False
) -> list[Side] | None:
    """One side for each input, of the first class of equal attributes that reaches every input; None: there is none.

    ``names[i]`` are the variables always bound in input i.  ``same_name``: only keys that are one attribute for all
    (CONSUME and DISJOINT look at events across parameters).  ``pairs``: every two inputs must be linked directly,
    because instances may leave inputs out.
    """
    if len(names) < 2:
        return None
    for sides in _classes(equalities(predicates), direct=pairs):
        key = [next(((v, a) for v, a in sides if v in bound), None) for bound in names]
        chosen = [side for side in key if side is not None]
        if len(chosen) == len(names) and not (same_name and len({a for _, a in chosen}) > 1):
            return chosen
    return None


def pattern_key(node: Pattern) -> list[Side] | None:
    """The key of a pattern operator: what keeps its events apart where its equalities make that the same."""
    names = [always_bound(part) for part in inputs(node)]
    across = any(p.consume for p in parameters(node)) or node.disjoint is not None
    across = across or isinstance(node, AtLeast | All)  # one output per list of contributors, whatever they fill
    predicates = node.predicates
    if node.disjoint is not None:  # acts across all keys but the query's CorrelationKey (R27)
        predicates = on_attributes(predicates, node.disjoint.keys)
    pairs = isinstance(node, AtLeast) and node.count < len(node.parameters)
    return key_of(predicates, names, same_name=across, pairs=pairs)


def _classes(links: list[tuple[Side, Side]], *, direct: bool) -> list[list[Side]]:
    if direct:
        return [sides for sides in _classes(links, direct=False) if _complete(sides, links)]
    classes: list[list[Side]] = []
    for left, right in links:
        touched = [c for c in classes if left in c or right in c]
        merged = sorted({left, right}.union(*touched))
        classes = [c for c in classes if c not in touched] + [merged]
    return classes


def _complete(sides: list[Side], links: list[tuple[Side, Side]]) -> bool:
    linked = {frozenset(link) for link in links}
    return all(frozenset((a, b)) in linked for a in sides for b in sides if a < b)


def by_value(readers: Sequence[Callable[[Event], Hashable]]) -> Partition:
    """A partition by a value read from the events of each input: the groups of a group-by, the rows of a difference."""

    def split(inputs: Sequence[Sequence[Belief]]) -> Iterable[Sequence[Sequence[Belief]]]:
        groups: dict[Hashable, list[list[Belief]]] = defaultdict(lambda: [[] for _ in inputs])
        for index, (beliefs, reader) in enumerate(zip(inputs, readers, strict=True)):
            for belief in beliefs:
                groups[reader(belief.event)][index].append(belief)
        return groups.values()

    return split


def by_expressions(keys: Sequence[Sequence[Expression]]) -> Partition:
    """A partition by the values of some expressions of each input."""
    return by_value([_key_reader(expressions) for expressions in keys])


def _key_reader(expressions: Sequence[Expression]) -> Callable[[Event], Hashable]:
    return lambda event: tuple(value_of(expression, event) for expression in expressions)


def reader_of(side: Side) -> Callable[[Event], Value]:
    """What reads the value of a side from an event."""
    variable, way = side

    def read(event: Event) -> Value:
        found: Value = next((part.payload for bound, part in event.bindings if bound == variable), None)
        for name in way:
            found = found.get(name) if isinstance(found, Payload) else None
        return found

    return read
