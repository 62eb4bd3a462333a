"""The oracle: a logical plan on bitemporal tables.

Paper: Section 6 (operators are defined on ideal history tables) and Section 3.3.2.  Readings: R9, R10, R24, R32.
Operators, nested or named, compose through their output tables.  Sugar (ALL, ANY) is read by its definition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatchmethod
from typing import Any

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import InternalError
from cedr.expression.tree import conjuncts
from cedr.model.event import Event
from cedr.model.identity import idgen
from cedr.model.time import FOREVER, Time
from cedr.plan import logical
from cedr.plan.logical import Node
from cedr.semantics import relational
from cedr.semantics.at_most import at_most, sliding_count
from cedr.semantics.bound import always_bound, nullable
from cedr.semantics.cancel_when import cancel_when
from cedr.semantics.exactly import exactly
from cedr.semantics.grouping import group_by
from cedr.semantics.lifetime import alter_lifetime, coalesce, session, set_valid
from cedr.semantics.not_sequence import not_sequence
from cedr.semantics.partition import by_expressions, by_key, by_sides, by_value, pattern_key
from cedr.semantics.runs import Partition, Table, by_belief, row_by_row, whole
from cedr.semantics.sequence import at_least, sequence
from cedr.semantics.top import top
from cedr.semantics.unless import unless, unless_nth

Tables = Mapping[str, Sequence[Event]]
"""The rows of each event type, by its name."""

_BY_EVENT = by_value([lambda event: event.id])
_BY_ROW_VALUE = by_value([relational.row_value])
_BY_ROW_VALUES = by_value([relational.row_value] * 2)

Denotation = Callable[[Any, Sequence[Sequence[Event]]], list[Event]]


def evaluate(node: Node, tables: Tables) -> list[Event]:
    """The bitemporal table of a plan: every row with the header of R10, closed rows included."""
    return Oracle(tables).table(node)


def latest(rows: Sequence[Event]) -> list[Event]:
    """The latest belief: the rows with Oe = FOREVER.  Reading: R10."""
    return [row for row in rows if row.occurrence_end == FOREVER]


class Oracle:
    """Evaluates plans on one set of tables; a part that occurs twice is evaluated once."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._known: dict[int, tuple[Node, list[Event]]] = {}

    def table(self, node: Node) -> list[Event]:
        """The bitemporal table of a node."""
        if id(node) not in self._known:
            self._known[id(node)] = (node, self._evaluate(node))
        return self._known[id(node)][1]

    def table_up_to(self, node: Node, time: Time) -> list[Event]:
        """The table of a node on what its inputs say *to* an occurrence time, and no more: later ends are not known.

        Reading: R36: only the table *to* g is final, so that it is all that a guarantee may be made of.
        """
        given = Oracle(self._tables)
        for part in logical.inputs(node):
            rows = [row for row in self.table(part) if row.occurrence_start <= time]
            known = [row if row.occurrence_end <= time else replace(row, occurrence_end=FOREVER) for row in rows]
            given._known[id(part)] = (part, known)
        return given.table(node)

    @singledispatchmethod
    def _evaluate(self, node: Node) -> list[Event]:
        raise InternalError(Diagnostic("no-denotation", f"{type(node).__name__} has no denotation", node.span))

    @_evaluate.register
    def _(self, node: logical.Source) -> list[Event]:
        return list(self._tables.get(node.type.name, ()))

    @_evaluate.register
    def _(self, node: logical.Query) -> list[Event]:
        return row_by_row(self.table(node.input), lambda e: named(e, node.name))

    @_evaluate.register
    def _(self, node: logical.Rename) -> list[Event]:
        return [replace(e, bindings=(*e.bindings, (node.variable, unbound(e)))) for e in self.table(node.input)]

    # -- patterns -----------------------------------------------------------------------------------------------------

    @_evaluate.register
    def _(self, node: logical.Sequence) -> list[Event]:
        return self._pattern(node, sequence)

    @_evaluate.register
    def _(self, node: logical.AtLeast) -> list[Event]:
        return self._pattern(node, at_least)

    @_evaluate.register
    def _(self, node: logical.Exactly) -> list[Event]:
        return self._pattern(node, exactly)

    @_evaluate.register
    def _(self, node: logical.All) -> list[Event]:
        """Paper: Section 3.3.2.  ``ALL(E1, …, Ek, w) ≡ ATLEAST(k, E1, …, Ek, w)``.  Reading: R13."""
        return self.table(
            logical.AtLeast(
                len(node.parameters),
                node.parameters,
                node.scope,
                node.ties,
                place=node.place,
                predicates=node.predicates,
                disjoint=node.disjoint,
            )
        )

    @_evaluate.register
    def _(self, node: logical.Any) -> list[Event]:
        """Paper: Section 3.3.2.  ``ANY(E1, …, Ek) ≡ ATLEAST(1, E1, …, Ek, 1)``.  Reading: R13."""
        return self.table(
            logical.AtLeast(1, node.parameters, 1, place=node.place, predicates=node.predicates, disjoint=node.disjoint)
        )

    @_evaluate.register
    def _(self, node: logical.AtMost) -> list[Event]:
        return self._counted(node, at_most)

    @_evaluate.register
    def _(self, node: logical.SlidingCount) -> list[Event]:
        return self._counted(node, sliding_count)

    @_evaluate.register
    def _(self, node: logical.Unless) -> list[Event]:
        return self._pattern(node, unless)

    @_evaluate.register
    def _(self, node: logical.UnlessNth) -> list[Event]:
        return self._pattern(node, unless_nth)

    @_evaluate.register
    def _(self, node: logical.Not) -> list[Event]:
        return self._pattern(node, not_sequence)

    @_evaluate.register
    def _(self, node: logical.CancelWhen) -> list[Event]:
        return self._pattern(node, cancel_when)

    @_evaluate.register
    def _(self, node: logical.SetValid) -> list[Event]:
        return row_by_row(self.table(node.input), lambda e: set_valid(node, e))

    # -- algebra ------------------------------------------------------------------------------------------------------

    @_evaluate.register
    def _(self, node: logical.Project) -> list[Event]:
        return row_by_row(self.table(node.input), lambda e: relational.project(node, e))

    @_evaluate.register
    def _(self, node: logical.Select) -> list[Event]:
        absent = nullable(node.input)
        return [e for e in self.table(node.input) if relational.selects(node, e, absent)]

    @_evaluate.register
    def _(self, node: logical.Join) -> list[Event]:
        partition = by_key(conjuncts(node.predicate), [always_bound(node.left), always_bound(node.right)])
        return self._by_belief(node, relational.join, partition=partition)

    @_evaluate.register
    def _(self, node: logical.Union) -> list[Event]:
        """Adds bags; the ID is made of branch and ID.  Readings: R8, R29."""
        return [
            replace(e, stream=node.place, id=idgen(node.place, branch, *e.reference), contributors=(e,))
            for branch, table in (("left", self.table(node.left)), ("right", self.table(node.right)))
            for e in table
        ]

    @_evaluate.register
    def _(self, node: logical.Difference) -> list[Event]:
        return self._by_belief(node, relational.difference, partition=_BY_ROW_VALUES)

    @_evaluate.register
    def _(self, node: logical.Distinct) -> list[Event]:
        return self._by_belief(node, relational.distinct, partition=_BY_ROW_VALUE, lineage=False)

    @_evaluate.register
    def _(self, node: logical.GroupBy) -> list[Event]:
        keys = by_expressions([[key.expression for key in node.keys]])
        return self._by_belief(node, group_by, partition=keys, lineage=False)

    @_evaluate.register
    def _(self, node: logical.Top) -> list[Event]:
        return self._by_belief(node, top, partition=by_expressions([node.keys]))

    @_evaluate.register
    def _(self, node: logical.AlterLifetime) -> list[Event]:
        return self._by_belief(node, alter_lifetime, partition=_BY_EVENT, lineage=False)

    @_evaluate.register
    def _(self, node: logical.Session) -> list[Event]:
        return self._by_belief(node, session, partition=by_expressions([node.keys]), lineage=False)

    @_evaluate.register
    def _(self, node: logical.Coalesce) -> list[Event]:
        return self._by_belief(node, coalesce, partition=_BY_ROW_VALUE, lineage=False)

    @_evaluate.register
    def _(self, node: logical.Slice) -> list[Event]:
        return [e for e in self.table(node.input) if sliced(node, e)]

    # -- how --------------------------------------------------------------------------------------------------------

    def _pattern(self, node: logical.Pattern, meaning: Denotation) -> list[Event]:
        """A pattern operator, evaluated key by key where its equalities make that the same."""
        return self._by_belief(node, meaning, partition=by_sides(pattern_key(node)))

    def _counted(self, node: logical.AtMost | logical.SlidingCount, meaning: Denotation) -> list[Event]:
        """ATMOST counts by its keys; DISJOINT acts by the same ones."""
        return self._by_belief(node, meaning, partition=by_expressions(node.keys) if node.keys else whole)

    def _by_belief(
        self, node: Node, meaning: Denotation, *, partition: Partition = whole, lineage: bool = True
    ) -> list[Event]:
        tables: list[Table] = [self.table(part) for part in logical.inputs(node)]
        return by_belief(tables, lambda inputs: meaning(node, inputs), partition=partition, lineage=lineage)


def named(event: Event, name: str) -> Event:
    """A row as an event of the stream that a query's name stands for; a primitive one contributes itself."""
    primitive = not event.contributors and not event.stream.startswith(logical.PLACE)
    return replace(event, stream=name, contributors=(event,) if primitive else event.contributors)


def unbound(event: Event) -> Event:
    """What a variable stands for: the event itself, without the variables inside it."""
    return replace(event, bindings=())


def sliced(node: logical.Slice, event: Event) -> bool:
    """``Q @ [o1, o2] # [v1, v2]``.  Paper: Section 3.2, "Temporal Slicing".  Reading: R24.

    Keeps the rows whose intervals overlap the closed slices; rows are not clipped.  A detection with an empty lifetime
    counts as the instant at which it starts.
    """
    if node.occurrence is not None:
        first, last = node.occurrence
        if not (event.occurrence_start <= last and event.occurrence_end > first):
            return False
    if node.valid is not None:
        first, last = node.valid
        return event.valid_start <= last and (event.valid_end > first or event.valid_start >= first)
    return True
