"""What is known of a node and of everything below it, each fact found once.

The traits of a class say how a fact of a node follows from those of its inputs; this evaluates them from the leaves up.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from cedr.expression.tree import Expression, Header, HeaderField, walk
from cedr.model.schema import DataType
from cedr.model.time import FOREVER, plus
from cedr.plan.logical import ROW, Made, Node, Rename, Source, inputs
from cedr.plan.traits.record import Traits
from cedr.plan.traits.registry import traits_of


class Facts:
    """A node with its traits, its inputs, and the facts that follow from these."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.traits: Traits[Any] = traits_of(node)

    @cached_property
    def inputs(self) -> tuple[Facts, ...]:
        """The inputs in order."""
        return tuple(map(Facts, inputs(self.node)))

    @cached_property
    def signs(self) -> tuple[bool, ...]:
        """For each input whether a row wants that it is *not* there.  Paper: Section 3.3.2, "Negation"."""
        negated = self.traits.shape.negated(self.node)
        return tuple(index == negated for index in range(len(self.inputs)))

    @cached_property
    def positive(self) -> tuple[Facts, ...]:
        """The inputs whose events contribute to rows."""
        return tuple(part for part, negated in zip(self.inputs, self.signs, strict=True) if not negated)

    # -- variables and attributes -------------------------------------------------------------------------------------

    @cached_property
    def certain(self) -> frozenset[str]:
        """The variables that are bound in every row.  Reading: R21."""
        return self.traits.shape.certain(self.node, self.inputs)

    @cached_property
    def possible(self) -> frozenset[str]:
        """The variables that are bound in some row."""
        if self.traits.shape.hides_variables:
            return frozenset()
        below = frozenset[str]().union(*(part.possible for part in self.positive))
        return below | {self.node.variable} if isinstance(self.node, Rename) else below

    @cached_property
    def own_variables(self) -> frozenset[str]:
        """The variables that stand for the very event of a row: named on the way up, only selected since."""
        if not self.traits.shape.same_row:
            return frozenset({ROW})
        below = self.inputs[0].own_variables
        return below | {self.node.variable} if isinstance(self.node, Rename) else below

    @cached_property
    def attributes(self) -> dict[str, DataType]:
        """The payload attributes of rows, in order."""
        payload = self.traits.shape.payload
        return self.inputs[payload].attributes if isinstance(payload, int) else payload(self.node)

    # -- times --------------------------------------------------------------------------------------------------------

    @cached_property
    def own_scope(self) -> int | None:
        """How far apart in Vs the events may lie that the operator itself brings together."""
        return self.traits.times.own_scope(self.node, self.inputs)

    @cached_property
    def scope(self) -> int | None:
        """How far back in Vs a row can reach.  Reading: R37."""
        return self.traits.times.scope(self.node, self.own_scope, self.inputs)

    @cached_property
    def lifetime(self) -> int:
        """The longest lifetime that a row can have."""
        return self.traits.times.lifetime(self.node, self.inputs)

    @cached_property
    def open_end(self) -> bool:
        """Whether the Ve of a row may still be shortened after it was emitted.  Readings: R3, R33."""
        return self.traits.times.open_end(self.node, self.inputs)

    def reads_open_end(self, expression: Expression) -> bool:
        """Whether an expression over its rows reads a Ve that may still be shortened.  Reading: R36."""
        read = {e.variable for e in walk(expression) if isinstance(e, Header) and e.field is HeaderField.VE}
        if ROW in read and self.open_end:
            return True
        return any(named.open_end for variable, named in self._named() if variable in read)

    def _named(self) -> list[tuple[str, Facts]]:
        """The variables on the way down, each with what it stands for."""
        here = [(self.node.variable, self.inputs[0])] if isinstance(self.node, Rename) else []
        return here + [found for part in self.positive for found in part._named()]

    @cached_property
    def reads_open_ends(self) -> bool:
        """Whether the operator decides about its rows by a Ve that may still be shortened."""
        expressions = self.traits.shape.expressions(self.node)
        return any(part.reads_open_end(expression) for expression in expressions for part in self.inputs)

    @cached_property
    def undecided(self) -> int:
        """How long after a row's Vs later events can still decide whether it holds.  Readings: R15, R36."""
        below = [part.undecided for part in self.inputs]
        waits = self.traits.times.undecided(self.node)
        if waits is not None:
            return max(plus(after, longer) for after, longer in zip(waits.after, below, strict=True))
        return FOREVER if self.reads_open_ends else max(below, default=0)

    # -- contributors -------------------------------------------------------------------------------------------------

    @cached_property
    def bare(self) -> Facts:
        """What is below names and selections: the node whose rows these are."""
        return self.inputs[0].bare if self.traits.shape.same_row else self

    @cached_property
    def primitive(self) -> bool:
        """Whether rows are primitive events, perhaps selected and named."""
        return isinstance(self.bare.node, Source) and not isinstance(self.bare.node, Made)

    @cached_property
    def by_time(self) -> bool:
        """Whether the order of cbt[], nested ones flattened, is certain to be that of Vs."""
        return self.traits.composition.by_time(self.node, self.inputs)

    @cached_property
    def last_contributor(self) -> int | None:
        """The number of the contributor that gives a row its Vs.  Reading: R16."""
        return self.traits.composition.last_contributor(self.node, self.inputs)
