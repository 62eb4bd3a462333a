"""Partition keys: by which attributes the input of an operator can be split, so that each part is evaluated alone.

Paper: Section 3.1 (correlation keys, "equality comparisons on a common attribute across multiple contributors are
typical").  Readings: R21, R22, R25 to R27, R29, R30.

An *element* is an attribute of a leaf (of an event type where the plan takes it in), or a field inside of one.
Equalities between attributes put elements into classes.  A class is a key for an operator iff every leaf below it,
positive and negated, has an attribute in it, and no two events with different values can ever meet: neither in one
instance, nor as a cancelled and a cancelling one, nor in a choice, a count, a group or a comparison of payloads.  Where
some variables may be unbound an equality that names them does not constrain (R21), so links must hold whatever is
bound.

What is split are beliefs, not rows: an event whose key changes with a modification belongs to the parts of all its
versions, and each of these is believed there when it would be in the whole (R9), not as if it were the first.

What there is no key for has the reason said instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cedr.expression.tree import Attribute, Binary, Field, Way, conjuncts, variables
from cedr.model.schema import DataType
from cedr.plan.analyses.elements import Element, Part, Path, elements_of
from cedr.plan.analyses.key_checks import Chosen, Edge, acts_by, needs_no_key, reason_against, whole_stream
from cedr.plan.logical import ROW, Node


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """The attribute by which the events of one leaf are split, or the way down to a field inside of one."""

    variable: str
    type: str
    way: Way
    negated: bool = False

    @property
    def attribute(self) -> str:
        """The attribute as it is shown."""
        return ".".join(self.way)

    def __str__(self) -> str:
        return f"{self.variable or self.type}.{self.attribute}"


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """One attribute for each leaf; none where each event stands for itself and any split will do."""

    attributes: tuple[KeyAttribute, ...] = ()

    def __str__(self) -> str:
        return " = ".join(map(str, self.attributes)) or "any"


@dataclass(frozen=True, slots=True)
class NoPartitionKey:
    """Why the input of an operator cannot be split."""

    reason: str

    def __str__(self) -> str:
        return f"none: {self.reason}"


Partitioning = PartitionKey | NoPartitionKey


def partition_key(node: Node) -> Partitioning:
    """The key of one operator, as if it were the whole plan."""
    return partition_keys(node)[()]


def partition_keys(plan: Node) -> Mapping[Path, Partitioning]:
    """The key of every operator, by its path from the top: the numbers of the inputs on the way down.

    Where several classes would do, the one that reaches most leaves of the whole plan is taken, so that an operator and
    those above it agree where they can.
    """
    top = Part.of(plan)
    choices = [_chosen(elements) for elements in _classes(top)]
    return {part.path: _of_part(part, choices) for part in top.walk()}


def _of_part(part: Part, choices: Sequence[Chosen]) -> Partitioning:
    if needs_no_key(part):
        return PartitionKey()
    reason = whole_stream(part)
    if reason is not None:
        return NoPartitionKey(reason)
    reasons = []
    for chosen in sorted(choices, key=lambda c: -sum(leaf.path in c for leaf in part.leaves())):
        missing = [str(leaf) for leaf in part.leaves() if leaf.path not in chosen]
        reason = _unspanned(part, missing) if missing else reason_against(part, chosen, edges)
        if reason is None:
            return _key(part, chosen)
        reasons.append(reason)
    return NoPartitionKey(reasons[0] if reasons else _unspanned(part, [str(leaf) for leaf in part.leaves()]))


def _unspanned(part: Part, missing: list[str]) -> str:
    if len(missing) == len(part.leaves()):
        return f"no equality between {', '.join(missing)}" if len(missing) > 1 else f"no key for {missing[0]}"
    return f"no equality spans {', '.join(missing)}"


def _key(part: Part, chosen: Chosen) -> PartitionKey:
    return PartitionKey(
        tuple(KeyAttribute(leaf.variable, leaf.type.name, chosen[leaf.path], leaf.negated) for leaf in part.leaves())
    )


# -- classes ----------------------------------------------------------------------------------------------------------


def edges(part: Part) -> Iterator[Edge]:
    """The equalities between attributes in the predicates of one operator."""
    for predicate in part.traits.shape.predicates(part.node):
        for conjunct in conjuncts(predicate):
            if isinstance(conjunct, Binary) and conjunct.operator == "=" and _same_type(conjunct):
                left, right = elements_of(part, conjunct.left), elements_of(part, conjunct.right)
                if left and right and not left & right:
                    yield Edge(left, right, variables(predicate) - {ROW})


def _same_type(equality: Binary) -> bool:
    """Whether both sides are of one type: 1 = 1.0 holds, but the two are not the same key."""
    types = {side.type for side in (equality.left, equality.right) if isinstance(side, Attribute | Field)}
    return len(types - {DataType.ANY}) <= 1


def _classes(top: Part) -> list[list[Element]]:
    """The classes of elements that the plan compares, those that reach most leaves first."""
    classes: list[list[Element]] = []
    for group in (group for part in top.walk() for group in _groups(part)):
        touched = [known for known in classes if not group.isdisjoint(known)]
        merged = list(dict.fromkeys([*(e for known in touched for e in known), *sorted(group)]))
        classes = [known for known in classes if known not in touched] + [merged]
    return sorted(classes, key=lambda elements: -len({path for path, _ in elements}))


def _groups(part: Part) -> Iterator[frozenset[Element]]:
    """What one operator compares with each other: equalities, keys, groups, whole payloads."""
    for edge in edges(part):
        yield edge.left | edge.right
    for acts in acts_by(part):
        yield from (frozenset[Element]().union(*sides) for sides in acts.alternatives if sides and all(sides))


def _chosen(elements: list[Element]) -> dict[Path, Way]:
    """One attribute for each leaf of a class: where a leaf has several, the name most others have."""
    often = Counter(name for _, name in elements)
    chosen: dict[Path, Way] = {}
    for path, name in sorted(elements, key=lambda element: (-often[element[1]], element[1])):
        chosen.setdefault(path, name)
    return chosen
