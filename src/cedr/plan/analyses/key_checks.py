"""Whether events with different key values can ever meet in an operator.

Readings: R12 and R21 (what may be unbound), R22, R25 (FIRST and LAST compare instances), R26 and R27 (consumption),
R29 and R30 (rows that are compared or grouped by their payload).  Every check is on the safe side: it may say no
where a cleverer one would say yes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb

from cedr.expression.tree import Way
from cedr.plan.analyses.elements import Element, Part, Path, value_elements
from cedr.plan.analyses.schema import attributes_of
from cedr.plan.analyses.shape import certain
from cedr.plan.logical import Pattern, parameters
from cedr.plan.traits.pattern import chooses

Chosen = Mapping[Path, Way]
"""The attribute chosen for each leaf, or a field inside of one, by the leaf's path."""

_MOST_CHOICES = 1_000


@dataclass(frozen=True, slots=True)
class Edge:
    """An equality between two sides, each of one element or, below a union, several; it holds where all is bound."""

    left: frozenset[Element]
    right: frozenset[Element]
    requires: frozenset[str]

    def by(self, chosen: Chosen) -> bool:
        """Whether both sides are the attributes that were chosen."""
        return all(chosen.get(path) == name for path, name in self.left | self.right)


Edges = Callable[[Part], Iterable[Edge]]


def needs_no_key(part: Part) -> bool:
    """Whether each event stands for itself all the way down, so that any split will do."""
    return all(_by_itself(p) for p in part.walk())


def _by_itself(part: Part) -> bool:
    """Whether each row depends on one row of the input, and nothing chooses among these."""
    disjoint = isinstance(part.node, Pattern) and part.node.disjoint is not None
    return part.traits.keys.by_itself(part.node) and not disjoint and not chooses(part.node)


def whole_stream(part: Part) -> str | None:
    """Why an operator at or below this one acts over the whole stream, whatever the key; None if none does."""
    return next((reason for p in part.walk() if (reason := _acts_on_everything(p)) is not None), None)


def _acts_on_everything(part: Part) -> str | None:
    node = part.node
    if isinstance(node, Pattern) and node.disjoint is not None and not node.disjoint.keys:
        return "DISJOINT without CorrelationKey acts over the whole stream"
    groups = part.traits.keys.groups(node)
    if groups is not None and not groups.alternatives:
        return groups.over_everything
    if chooses(node) and (part.traits.keys.meeting(node) == 1 or not part.traits.composition.several(node)):
        return "FIRST or LAST with nothing else to agree on chooses over the whole stream"
    return None


def reason_against(part: Part, chosen: Chosen, edges: Edges) -> str | None:
    """Why events with different values of a key may meet in an operator or below it; None where they cannot."""
    return next((r for p in part.walk() if (r := _reason_here(p, chosen, edges)) is not None), None)


def _reason_here(part: Part, chosen: Chosen, edges: Edges) -> str | None:
    for acts in acts_by(part, chosen.values()):
        if not any(all(_by(side, chosen) for side in sides) for sides in acts.alternatives):
            return acts.reason
    return _unlinked(part, chosen, edges, part.traits.keys.meeting(part.node)) or _across_attributes(part, chosen)


@dataclass(frozen=True, slots=True)
class Acts:
    """What an operator tells rows apart by: one of the alternatives, with a side for every input, must be the key."""

    alternatives: tuple[tuple[frozenset[Element], ...], ...]
    reason: str


def acts_by(part: Part, ways: Iterable[Way] = ()) -> Iterator[Acts]:
    """By what an operator counts, groups, compares or consumes.  ``ways``: more attributes that rows may have."""
    node = part.node
    groups = part.traits.keys.groups(node)
    if groups is not None:
        grouped = [tuple(map(value_elements, part.inputs, keys)) for keys in groups.alternatives]
        yield Acts(tuple(grouped), groups.by_another_key)
    if isinstance(node, Pattern) and node.disjoint is not None:
        fenced = [(value_elements(part, key),) for key in node.disjoint.keys]
        yield Acts(tuple(fenced), "DISJOINT acts by another key")
    if part.traits.keys.compares_rows:
        shared = dict.fromkeys((*((name,) for name in attributes_of(node)), *sorted(ways)))
        compared = [tuple(p.resolve_row(way) for p in part.inputs) for way in shared]
        yield Acts(tuple(compared), f"{type(node).__name__.upper()} compares rows in which the key is not left")


def _by(elements: frozenset[Element], chosen: Chosen) -> bool:
    return bool(elements) and all(chosen.get(path) == name for path, name in elements)


def _across_attributes(part: Part, chosen: Chosen) -> str | None:
    """An event that serves several parameters under different attributes is in several parts.

    There it could be consumed in one part only (R26), and a list of contributors be found in two (R12).
    """
    consumes = any(p.consume for p in parameters(part.node))
    if not consumes and part.traits.keys.ordered(part.node):
        return None
    used: dict[str, set[Way]] = defaultdict(set)
    for leaf in part.leaves():
        used[leaf.type.name].add(chosen[leaf.path])
    several = [name for name, attributes in used.items() if len(attributes) > 1]
    if not several:
        return None
    word = "CONSUME" if consumes else "ATLEAST"
    return f"{word} where {several[0]} fills several parameters by different attributes"


# -- links between operands -------------------------------------------------------------------------------------------


def _unlinked(part: Part, chosen: Chosen, edges: Edges, count: int) -> str | None:
    """Why some operands that can meet are not linked: those of any ``count`` operands must hang together."""
    if count < 2:  # nothing meets
        return None
    usable = [edge for edge in edges(part) if edge.by(chosen)]
    size = len(part.inputs)
    linked = {pair for pair in combinations(range(size), 2) if _linked(part, *pair, usable, all_bound=count == size)}
    if count == size or comb(size, count) > _MOST_CHOICES:
        groups: Iterable[tuple[int, ...]] = [tuple(range(size))] if count == size else combinations(range(size), 2)
    else:
        groups = combinations(range(size), count)
    for group in groups:
        apart = _apart(group, linked)
        if apart is not None:
            return _not_linked(part, *apart, optional=count < size)
    return None


def _apart(group: tuple[int, ...], linked: set[tuple[int, int]]) -> tuple[int, int] | None:
    """Two operands of a group that no chain of links within the group connects."""
    reached, todo = {group[0]}, [group[0]]
    while todo:
        here = todo.pop()
        new = [i for i in group if i not in reached and (min(i, here), max(i, here)) in linked]
        reached.update(new)
        todo.extend(new)
    return next(((group[0], other) for other in group if other not in reached), None)


def _not_linked(part: Part, left: int, right: int, *, optional: bool) -> str:
    one, two = (", ".join(map(str, part.inputs[i].leaves())) for i in (left, right))
    if optional:
        return f"nothing links {one} and {two} where the others are left out"
    return f"no equality that always holds spans {one} and {two}"


def _linked(part: Part, left: int, right: int, usable: list[Edge], *, all_bound: bool) -> bool:
    """Whether events of two operands that meet agree on the key, whatever is bound.

    Either an equality holds for sure between them, or each leaf of the one is linked to each leaf of the other by an
    equality that names no others.
    """
    one, two = part.inputs[left], part.inputs[right]
    around = part.inputs if all_bound else (one, two)
    bound = frozenset[str]().union(*(certain(p.node) for p in around))
    between = [e for e in usable if _touches(e, one, two)]
    if any(edge.requires <= bound for edge in between):
        return True
    pairs = {frozenset((p, q)) for e in between if len(e.requires) == 2 for p, _ in e.left for q, _ in e.right}
    return all(frozenset((p.path, q.path)) in pairs for p in one.leaves() for q in two.leaves())


def _touches(edge: Edge, one: Part, two: Part) -> bool:
    left, right = ({path for path, _ in side} for side in (edge.left, edge.right))
    first, second = ({leaf.path for leaf in part.leaves()} for part in (one, two))
    return (left <= first and right <= second) or (left <= second and right <= first)
