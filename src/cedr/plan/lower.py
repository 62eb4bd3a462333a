"""Lowering: from the checked tree of the language to the logical plan.

Paper: Section 3.3 (a query is an expression of operators; predicates are injected) and Section 6 for FROM queries.
Readings: R20 to R24, R32.  Names are already resolved; what is left is to give each construct its node and its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import singledispatchmethod
from typing import Any

from cedr.expression.own import DEFINITIONS, owned
from cedr.expression.tree import Attribute, Expression, transform
from cedr.language import syntax
from cedr.language.check import CheckedFile, CheckedQuery
from cedr.model.modes import Consumption, KeyMode, Selection
from cedr.model.schema import EventType
from cedr.plan import logical
from cedr.plan.analyses.scope import bound_variables, positive_leaves
from cedr.plan.inject import equals_conjuncts, inject_all, key_conjuncts, with_keys
from cedr.plan.logical import PLACE, Node
from cedr.plan.lower_relation import lower_relation
from cedr.plan.walk import map_expressions, map_inputs


class Lowering:
    """Lowers the queries of one file; a query that others name is lowered once and shared."""

    def __init__(self, checked: CheckedFile) -> None:
        self._types = checked.types
        self._queries = {q.query.name: q for q in checked.queries}
        self._plans: dict[str, logical.Query] = {}

    def query(self, name: str) -> logical.Query:
        """The plan of a query by its name."""
        if name not in self._plans:
            self._plans[name] = self._lower(self._queries[name])
        return self._plans[name]

    def _lower(self, checked: CheckedQuery) -> logical.Query:
        query = checked.query
        if isinstance(query.body, syntax.PatternBody):
            node = self._pattern_body(query.body, checked.output)
        else:
            node = lower_relation(query.body, self.stream)
        node = _owned(node, query.name)
        if query.occurrence_slice or query.valid_slice or query.as_of is not None:
            node = logical.Slice(node, query.occurrence_slice, query.valid_slice, query.as_of, span=query.span)
        return logical.Query(query.name, node, checked.output, span=query.span)

    def stream(self, name: str) -> logical.Source | logical.Query:
        """An event type, or another query's output, by name.  Reading: R32."""
        if name in self._queries:
            return self.query(name)
        found = self._types.get(name)
        assert found is not None
        return logical.Source(found)

    # -- WHEN ---------------------------------------------------------------------------------------------------------

    def _pattern_body(self, body: syntax.PatternBody, output: EventType) -> Node:
        node = self._operand(body.pattern, PLACE)
        equal = [c.way for c in body.where if isinstance(c, syntax.CorrelationKey) and c.mode is KeyMode.EQUAL]
        predicates = [p for conjunct in body.where for p in _predicates(node, conjunct)]
        resolve = _composites(node)
        node = inject_all(with_keys(node, tuple(equal)), (transform(p, resolve) for p in predicates))
        if body.valid is not None:
            node = logical.SetValid(node, body.valid)
        columns = tuple(
            logical.Column(item.name or "", transform(item.expression, resolve), output.attributes[item.name or ""])
            for item in body.output or ()
        )
        return logical.Project(node, columns, span=body.span)

    def _operand(self, parameter: syntax.Parameter, place: str) -> Node:
        node = self._expression(parameter.expression, place)
        if parameter.variable is not None:
            node = logical.Rename(node, parameter.variable, span=parameter.span)
        return node

    def _operands(self, parameters: tuple[syntax.Parameter, ...], place: str) -> tuple[logical.Parameter, ...]:
        return tuple(
            logical.Parameter(
                self._operand(parameter, f"{place}/{index}/"),
                parameter.selection or Selection.EACH,
                parameter.consumption is Consumption.CONSUME,
                1 if parameter.weight is None else parameter.weight,
            )
            for index, parameter in enumerate(parameters, start=1)
        )

    @singledispatchmethod
    def _expression(self, expression: syntax.TypeReference | syntax.Operator, place: str) -> Node:
        raise NotImplementedError(type(expression).__name__, place)

    @_expression.register
    def _(self, expression: syntax.TypeReference, place: str) -> Node:  # noqa: ARG002 - a leaf has no place
        return self.stream(expression.name)

    @_expression.register(syntax.Sequence | syntax.All | syntax.Any | syntax.AtLeast | syntax.AtMost)
    def _(self, expression: syntax.Several, place: str) -> Node:
        """Operators over any number of parameters have one name and the same fields in the tree and in the plan."""
        place += expression.form.word
        kind = getattr(logical, type(expression).__name__)
        parts = self._operands(expression.parameters, place)
        own = {f.name: getattr(expression, f.name) for f in fields(kind) if f.name in ("count", "scope", "ties")}
        made: Node = kind(parameters=parts, **own, **_common(expression, place))
        return made

    @_expression.register
    def _(self, expression: syntax.Unless, place: str) -> Node:
        place += "UNLESS"
        pair = self._pair(expression.first, expression.second, place)
        if expression.contributor is None:
            return logical.Unless(*pair, expression.scope, **_common(expression, place))
        return logical.UnlessNth(*pair, expression.contributor, expression.scope, **_common(expression, place))

    @_expression.register
    def _(self, expression: syntax.Not, place: str) -> Node:
        place += "NOT"
        return logical.Not(*self._pair(expression.negated, expression.sequence, place), **_common(expression, place))

    @_expression.register
    def _(self, expression: syntax.CancelWhen, place: str) -> Node:
        place += "CANCEL-WHEN"
        pair = self._pair(expression.first, expression.second, place)
        return logical.CancelWhen(*pair, expression.from_root, **_common(expression, place))

    def _pair(self, first: syntax.Parameter, second: syntax.Parameter, place: str) -> tuple[Node, Node]:
        return self._operand(first, f"{place}/1/"), self._operand(second, f"{place}/2/")


def _owned(node: Node, query: str) -> Node:
    """The part of a plan that is a query's own, with the definitions of user-defined functions that it calls now."""
    if not DEFINITIONS or isinstance(node, logical.Query):
        return node
    return map_expressions(map_inputs(node, lambda part: _owned(part, query)), lambda e: owned(e, query))


def _common(operator: syntax.Operator, place: str) -> dict[str, Any]:
    """What every pattern operator has."""
    disjoint = logical.Disjoint() if operator.disjoint else None
    return {"place": place, "disjoint": disjoint, "span": operator.span}


def _predicates(node: Node, conjunct: syntax.Conjunct) -> tuple[Expression, ...]:
    match conjunct:
        case syntax.Predicate():
            return (conjunct.expression,)
        case syntax.CorrelationKey():
            return tuple(key_conjuncts(node, conjunct.way, conjunct.mode))
        case syntax.AttributeEquals():
            return tuple(equals_conjuncts(node, conjunct.way, conjunct.value))


def _composites(node: Node) -> Callable[[Expression], Expression | None]:
    """Turns ``s.x_field`` of a composite s into ``x.field``: its payload is that of its contributors (R20)."""
    inner = {
        part.variable: sorted((leaf.variable for leaf in positive_leaves(part.input)), key=len, reverse=True)
        for part in logical.walk(node)
        if isinstance(part, logical.Rename) and bound_variables(part.input)
    }

    def change(expression: Expression) -> Expression | None:
        if isinstance(expression, Attribute) and expression.variable in inner:
            for variable in inner[expression.variable]:
                if expression.name.startswith(f"{variable}_"):
                    name = expression.name.removeprefix(f"{variable}_")
                    return Attribute(variable, name, expression.type, span=expression.span)
        return None

    return change
