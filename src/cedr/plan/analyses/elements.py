"""Where attributes come from: from an expression over a node's rows down to the leaves of the plan.

Reading: R20, R32.  A *part* is a node at its path in the plan; named queries are looked through, so that a key may span
a query and the queries it is made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cedr.expression.tree import Call, Expression, Way, down, variables, way_of
from cedr.model.schema import EventType
from cedr.plan.analyses.shape import certain, possible, signed_inputs
from cedr.plan.logical import ROW, Node, Rename, Source
from cedr.plan.traits.record import Origin, Traits
from cedr.plan.traits.registry import traits_of

Path = tuple[int, ...]
"""The numbers of the inputs on the way from the top of a plan to a node."""

Element = tuple[Path, Way]
"""An attribute of a leaf, or a field inside of one."""

NOWHERE: frozenset[Element] = frozenset()
"""What is computed, or not there at all, comes from no leaf."""


@dataclass(frozen=True, slots=True)
class PlacedLeaf:
    """An event type where the plan takes it in: at a path, under a variable."""

    path: Path
    variable: str
    type: EventType
    negated: bool

    def __str__(self) -> str:
        return f"{self.type.name} {self.variable}".rstrip()


@dataclass(frozen=True, eq=False)
class Part:
    """A node at its path in a plan."""

    node: Node
    path: Path
    inputs: tuple[Part, ...]
    negated: tuple[bool, ...]

    @classmethod
    def of(cls, node: Node, path: Path = ()) -> Part:
        """The node and everything below it, with paths."""
        below = signed_inputs(node)
        parts = tuple(cls.of(part, (*path, index)) for index, (part, _) in enumerate(below))
        return cls(node, path, parts, tuple(negated for _, negated in below))

    def walk(self) -> Iterator[Part]:
        """The part and everything below it."""
        yield self
        for part in self.inputs:
            yield from part.walk()

    def leaves(self) -> tuple[PlacedLeaf, ...]:
        """The event types taken in below, from left to right."""
        return self._leaves

    @cached_property
    def _leaves(self) -> tuple[PlacedLeaf, ...]:
        return tuple(_leaves_of(self, "", negated=False))

    def resolve_row(self, way: Way) -> frozenset[Element]:
        """The elements of an attribute or field by which rows are compared: of the row, or of the event it binds."""
        bound = sorted(possible(self.node)) or [ROW]
        return self.resolve(bound[0], way) if len(bound) == 1 else NOWHERE

    def resolve(self, variable: str, way: Way) -> frozenset[Element]:
        """The elements that an attribute of a variable, or a field of it, stands for; none where it is computed."""
        if isinstance(self.node, Rename):
            return self.inputs[0].resolve(ROW if variable == self.node.variable else variable, way)
        origin = self.traits.shape.origin
        match origin:
            case Origin.LEAF:
                return frozenset({(self.path, way)}) if variable == ROW else NOWHERE
            case Origin.INPUT:
                return self.inputs[0].resolve(variable, way)
            case Origin.EITHER:
                sides = [part.resolve(variable, way) for part in self.inputs]
                return NOWHERE.union(*sides) if all(sides) else NOWHERE
            case Origin.OPERANDS:
                return self._of_operand(variable, way)
            case computed:
                return self._computed(way, computed(self.node)) if variable == ROW else NOWHERE

    @property
    def traits(self) -> Traits[Any]:
        """The traits of the node."""
        return traits_of(self.node)

    def _computed(self, way: Way, columns: Mapping[str, Expression]) -> frozenset[Element]:
        name, *fields = way
        return value_elements(self.inputs[0], down(columns[name], tuple(fields))) if name in columns else NOWHERE

    def _of_operand(self, variable: str, way: Way) -> frozenset[Element]:
        if variable == ROW:
            kept = self.traits.shape.payload
            return self.inputs[kept].resolve(ROW, way) if isinstance(kept, int) else NOWHERE
        operands = (part for part in self.inputs if variable in possible(part.node))
        return next((part.resolve(variable, way) for part in operands), NOWHERE)


def elements_of(part: Part, expression: Expression) -> frozenset[Element]:
    """The elements of an expression that is an attribute or a field inside of one; none where it is computed."""
    found = way_of(expression)
    return NOWHERE if found is None else part.resolve(*found)


def value_elements(part: Part, expression: Expression) -> frozenset[Element]:
    """The same where the expression is a value that rows are told apart by: then it must be of a bound variable.

    An unbound variable is NULL there, and rows with different keys would come together under it.  ``COALESCE`` over all
    variables that may be bound is the value on which the contributors of a row agree (R22).
    """
    bound = certain(part.node) | {ROW}
    found = way_of(expression)
    if found is not None:
        return elements_of(part, expression) if found[0] in bound else NOWHERE
    if isinstance(expression, Call) and expression.function == "COALESCE":
        named = variables(expression)
        sides = [elements_of(part, argument) for argument in expression.arguments]
        positive = {leaf.variable for leaf in part.leaves() if not leaf.negated}
        return NOWHERE.union(*sides) if all(sides) and (named & bound or positive <= named) else NOWHERE
    return NOWHERE


def _leaves_of(part: Part, variable: str, *, negated: bool) -> Iterator[PlacedLeaf]:
    node = part.node
    if isinstance(node, Source):
        yield PlacedLeaf(part.path, variable, node.type, negated)
        return
    if isinstance(node, Rename):
        variable = node.variable
    elif len(part.inputs) != 1 or part.traits.shape.hides_variables or part.traits.keys.compares_rows:
        variable = ""
    for below, refused in zip(part.inputs, part.negated, strict=True):
        yield from _leaves_of(below, variable, negated=negated or refused)
