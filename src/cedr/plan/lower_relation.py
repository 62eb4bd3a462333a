"""Lowering of FROM queries to the algebra.

Paper: Section 6.  Readings: R29 to R32.  Windows by name become the AlterLifetime that defines them.
"""

from __future__ import annotations

from collections.abc import Callable

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.expression.tree import Aggregate, Attribute, Expression, aggregates, transform
from cedr.expression.typing import infer
from cedr.language import syntax
from cedr.model.schema import DataType
from cedr.plan import logical
from cedr.plan.logical import PLACE, Node
from cedr.plan.windows import altered

Streams = Callable[[str], logical.Source | logical.Query]


def lower_relation(body: syntax.AlgebraBody, stream: Streams, place: str = PLACE) -> Node:
    """The plan of a FROM body: source, WHERE, WINDOW, GROUP BY or TOP, HAVING, OUTPUT, in this order."""
    node = _source(body.source, stream, f"{place}FROM/")
    if body.where is not None:
        node = logical.Select(node, body.where, span=body.where.span)
    if body.window is not None:
        keys = tuple(item.expression for item in body.group_by or ())
        node = _windowed(node, body.window, keys, place)
    grouped = _Grouping(body, place)
    if grouped.needed:
        node = logical.GroupBy(node, grouped.keys, grouped.aggregates, place=f"{place}GROUP", span=body.span)
    if body.top is not None:
        node = _top(node, body.top, tuple(item.expression for item in body.group_by or ()), place)
    if body.having is not None:
        node = logical.Select(node, grouped.outside(body.having), span=body.having.span)
    columns = tuple(
        logical.Column(item.name or "", grouped.outside(item.expression), _type_of(item.expression))
        for item in body.output or ()
    )
    node = logical.Project(node, columns, span=body.span)
    return logical.Distinct(node, place=f"{place}DISTINCT") if body.distinct else node


def _ignore(diagnostic: Diagnostic) -> None:
    """Types were checked with the text; nothing new can be wrong here."""


def _type_of(expression: Expression) -> DataType:
    return infer(expression, _ignore)


# -- sources ----------------------------------------------------------------------------------------------------------


def _source(source: syntax.RelationSource, stream: Streams, place: str) -> Node:
    match source:
        case syntax.StreamSource():
            return logical.Rename(stream(source.name), source.variable or source.name, span=source.span)
        case syntax.Subquery():
            body = lower_relation(source.body, stream, f"{place}{source.variable}/")
            return logical.Rename(body, source.variable, span=source.span)
        case syntax.JoinSource():
            left, right = _source(source.left, stream, f"{place}1/"), _source(source.right, stream, f"{place}2/")
            return logical.Join(left, right, source.predicate, source.kind, place=f"{place}JOIN", span=source.span)
        case syntax.UnionSource():
            sides, name = _sides(source, stream, place)
            return logical.Rename(logical.Union(*sides, place=f"{place}UNION", span=source.span), name)
        case syntax.ExceptSource():
            sides, name = _sides(source, stream, place)
            return logical.Rename(logical.Difference(*sides, place=f"{place}EXCEPT", span=source.span), name)


def _sides(
    source: syntax.UnionSource | syntax.ExceptSource, stream: Streams, place: str
) -> tuple[tuple[Node, Node], str]:
    """Both sides without their variables, and the left one's variable, which names the result."""
    left, right = _source(source.left, stream, f"{place}1/"), _source(source.right, stream, f"{place}2/")
    assert isinstance(left, logical.Rename)
    assert isinstance(right, logical.Rename)
    return (left.input, right.input), left.variable


def _windowed(node: Node, window: syntax.Window, keys: tuple[Expression, ...], place: str) -> Node:
    match window:
        case syntax.SessionWindow():
            return logical.Session(node, window.gap, keys, place=f"{place}SESSION", span=window.span)
        case syntax.CoalescedWindow():
            return logical.Coalesce(node, place=f"{place}COALESCED", span=window.span)
        case syntax.MovingWindow():
            return altered(node, "MOVING", window.length, span=window.span)
        case syntax.HoppingWindow():
            return altered(node, "HOPPING", window.size, window.hop, span=window.span)
        case syntax.TumblingWindow():
            return altered(node, "TUMBLING", window.size, window.size, span=window.span)
        case syntax.InsertsWindow():
            return altered(node, "INSERTS", span=window.span)
        case syntax.DeletesWindow():
            return altered(node, "DELETES", span=window.span)
        case syntax.LifetimeWindow():
            return logical.AlterLifetime(node, window.start, window.duration, "LIFETIME", span=window.span)


def _top(node: Node, top: syntax.TopClause, keys: tuple[Expression, ...], place: str) -> Node:
    return logical.Top(node, keys, top.count, top.expression, top.descending, place=f"{place}TOP", span=top.span)


# -- GROUP BY ---------------------------------------------------------------------------------------------------------


class _Grouping:
    """What GROUP BY computes, and how HAVING and OUTPUT speak of it afterwards."""

    def __init__(self, body: syntax.AlgebraBody, place: str) -> None:
        self._place = place
        outside = [item.expression for item in body.output or ()]
        if body.having is not None:
            outside.append(body.having)
        calls = dict.fromkeys(call for expression in outside for call in aggregates(expression))
        self.needed = body.top is None and (body.group_by is not None or bool(calls))
        self.keys = tuple(
            logical.Column(item.name or "", item.expression, _type_of(item.expression)) for item in body.group_by or ()
        )
        self.aggregates = tuple(
            logical.AggregateColumn(f"${number}", call, _type_of(call)) for number, call in enumerate(calls, start=1)
        )

    def outside(self, expression: Expression) -> Expression:
        """The expression over the group's row: keys and aggregates become its attributes."""
        return transform(expression, self._attribute) if self.needed else expression

    def _attribute(self, expression: Expression) -> Expression | None:
        for key in self.keys:
            if expression == key.expression:
                return Attribute("", key.name, key.type, span=expression.span)
        if isinstance(expression, Aggregate):
            column = next(c for c in self.aggregates if c.aggregate == expression)
            return Attribute("", column.name, column.type, span=expression.span)
        return None
