# ruff: noqa: D102 - a method is named after its rule, and grammar.lark documents that
"""The builder's rules for statements and for the algebra; with its bases it is the whole builder.

Paper: Section 3.1 and Section 6.  The grammar says which words may come; this says which tree they make.
"""

from __future__ import annotations

from typing import Any

from cedr.diagnostics.span import Span
from cedr.expression.tree import Expression
from cedr.language import syntax
from cedr.language.build_pattern import written
from cedr.language.build_type import TypeBuilder
from cedr.language.building import DEEPEST, Clause
from cedr.language.tokens import Token
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.modes import JoinKind
from cedr.model.time import FOREVER

_CHAINED = (syntax.JoinSource, syntax.UnionSource, syntax.ExceptSource)


class Builder(TypeBuilder):
    """Rules of the grammar that make statements and algebra bodies."""

    RAW = TypeBuilder.RAW | {
        *("inner_join", "left_join", "anti_join", "inserts_window", "deletes_window"),
        *(
            "coalesced_window",
            "distinct",
            "descending",
            "strong",
            "middle",
            "weak",
            "bound",
            "tick_time",
            "forever_time",
        ),
    }

    def begin(self) -> None:
        super().begin()
        self.chains: dict[int, int] = {}

    def statement(self, _: Span, statement: syntax.Statement) -> syntax.Statement:
        return statement

    # -- EVENT ------------------------------------------------------------------------------------------------------

    def query(self, span: Span, name: Token, body: Any, *parts: Clause) -> syntax.Query:
        said = {part.kind: part.value for part in parts}
        return syntax.Query(
            name.value,
            body,
            said["consistency"][0] if "consistency" in said else None,
            said.get("occurrence_slice"),
            said.get("valid_slice"),
            said.get("as_of"),
            name_span=name.span,
            durations=next((part.value[1] for part in parts if part.kind == "consistency"), ()),
            span=span,
        )

    def output(self, span: Span, *items: syntax.OutputItem) -> Clause:
        return Clause("output", items, span)

    def output_item(self, span: Span, expression: Expression, name: Token | None = None) -> syntax.OutputItem:
        return syntax.OutputItem(expression, name.value if name else None, span=span)

    # -- algebra ----------------------------------------------------------------------------------------------------

    def algebra_body(self, span: Span, source: Any, *parts: Clause) -> syntax.AlgebraBody:
        said = {part.kind: part.value for part in parts}
        items, distinct = said.get("output", (None, False))
        return syntax.AlgebraBody(
            source,
            said.get("where"),
            said.get("window"),
            said.get("group_by"),
            said.get("having"),
            items,
            distinct,
            said.get("top"),
            span=span,
        )

    def stream_source(self, span: Span, name: Token, alias: Clause | None = None) -> syntax.StreamSource:
        return syntax.StreamSource(name.value, alias.value if alias else None, span=span)

    def subquery(self, span: Span, body: syntax.AlgebraBody, alias: Clause) -> syntax.Subquery:
        return syntax.Subquery(body, alias.value, span=span)

    def join_source(self, span: Span, left: Any, kind: Clause, right: Any, predicate: Expression) -> Any:
        return self._chained(left, syntax.JoinSource(kind.value, left, right, predicate, span=span))

    def union_source(self, span: Span, left: Any, right: Any) -> Any:
        return self._chained(left, syntax.UnionSource(left, right, span=span))

    def except_source(self, span: Span, left: Any, right: Any) -> Any:
        return self._chained(left, syntax.ExceptSource(left, right, span=span))

    def _chained(self, left: Any, source: Any) -> Any:
        """The source, unless it is the end of too long a chain: then what came before."""
        length = self.chains.get(id(left), 0) + 1
        if length > DEEPEST:
            self._too_deep(source.right.span)
            return left
        self.chains[id(source)] = length
        return source

    def inner_join(self, span: Span, *_: Token) -> Clause:
        return Clause("join_kind", JoinKind.INNER, span)

    def left_join(self, span: Span, *_: Token) -> Clause:
        return Clause("join_kind", JoinKind.LEFT, span)

    def anti_join(self, span: Span, *_: Token) -> Clause:
        return Clause("join_kind", JoinKind.ANTI, span)

    def algebra_where(self, span: Span, predicate: Expression) -> Clause:
        return Clause("where", predicate, span)

    def group_by(self, span: Span, *items: syntax.GroupItem) -> Clause:
        return Clause("group_by", items, span)

    def group_item(self, span: Span, expression: Expression, name: Token | None = None) -> syntax.GroupItem:
        return syntax.GroupItem(expression, name.value if name else None, span=span)

    def top(self, span: Span, count: Clause, by: Expression, descending: Clause | None = None) -> Clause:
        self._whole_number("the count of TOP", count)
        clause = syntax.TopClause(count.value.value, by, descending is not None, count.span, span=span)
        return Clause("top", clause, span)

    def descending(self, span: Span, *_: Token) -> Clause:
        return Clause("descending", True, span)  # noqa: FBT003 - it is there

    def having(self, span: Span, predicate: Expression) -> Clause:
        return Clause("having", predicate, span)

    def distinct(self, span: Span, *_: Token) -> Clause:
        return Clause("distinct", True, span)  # noqa: FBT003 - it is there

    def algebra_output(self, span: Span, *parts: Any) -> Clause:
        items = tuple(part for part in parts if isinstance(part, syntax.OutputItem))
        return Clause("output", (items, len(items) < len(parts)), span)

    # -- windows ----------------------------------------------------------------------------------------------------

    def moving_window(self, span: Span, length: Clause) -> Clause:
        return Clause("window", syntax.MovingWindow(length.value.value, durations=written(length), span=span), span)

    def hopping_window(self, span: Span, size: Clause, hop: Clause) -> Clause:
        made = syntax.HoppingWindow(size.value.value, hop.value.value, durations=written(size, hop), span=span)
        return Clause("window", made, span)

    def tumbling_window(self, span: Span, size: Clause) -> Clause:
        return Clause("window", syntax.TumblingWindow(size.value.value, durations=written(size), span=span), span)

    def session_window(self, span: Span, gap: Clause) -> Clause:
        return Clause("window", syntax.SessionWindow(gap.value.value, durations=written(gap), span=span), span)

    def lifetime_window(self, span: Span, start: Expression, duration: Expression) -> Clause:
        return Clause("window", syntax.LifetimeWindow(start, duration, span=span), span)

    def inserts_window(self, span: Span, *_: Token) -> Clause:
        return Clause("window", syntax.InsertsWindow(span=span), span)

    def deletes_window(self, span: Span, *_: Token) -> Clause:
        return Clause("window", syntax.DeletesWindow(span=span), span)

    def coalesced_window(self, span: Span, *_: Token) -> Clause:
        return Clause("window", syntax.CoalescedWindow(span=span), span)

    # -- consistency and slices -------------------------------------------------------------------------------------

    def consistency(self, span: Span, level: Clause) -> Clause:
        return Clause("consistency", level.value, span)

    def strong(self, span: Span, *_: Token) -> Clause:
        return Clause("level", (STRONG, ()), span)

    def middle(self, span: Span, *_: Token) -> Clause:
        return Clause("level", (MIDDLE, ()), span)

    def weak(self, span: Span, *_: Token) -> Clause:
        return Clause("level", (WEAK, ()), span)

    def blocking_memory(self, span: Span, blocking: Clause, memory: Clause) -> Clause:
        """Paper: Section 5, Figure 9.  Readings: R33, R34."""
        level = ConsistencyLevel(self._bound("B", blocking), self._bound("M", memory))
        return Clause("level", (level, (blocking.value[1], memory.value[1])), span)

    def bound(self, span: Span, quantity: Clause, *rest: Token) -> Clause:
        return Clause("bound", (quantity.value.value, quantity.value.written, bool(rest)), span)

    def _bound(self, name: str, bound: Clause) -> Bound:
        duration, _, cedr_time = bound.value
        if duration >= 0:
            return Bound(duration, cedr_time)
        self.report(
            "level-negative",
            f"{name} must not be negative",
            bound.span,
            detail="B is how long a query may wait, M how far back it remembers",
            hint="the smallest is 0; FOREVER has no end",
        )
        return Bound(0)

    def occurrence_slice(self, span: Span, start: Clause, end: Clause) -> Clause:
        return Clause("occurrence_slice", (start.value, end.value), span)

    def valid_slice(self, span: Span, start: Clause, end: Clause) -> Clause:
        return Clause("valid_slice", (start.value, end.value), span)

    def as_of(self, span: Span, time: Clause) -> Clause:
        return Clause("as_of", time.value, span)

    def tick_time(self, span: Span, *tokens: Token) -> Clause:
        return Clause("time", self.ticks(span, *tokens).value.value, span)

    def timestamp_time(self, span: Span, token: Token) -> Clause:
        return Clause("time", self._timestamp(token), span)

    def forever_time(self, span: Span, *_: Token) -> Clause:
        return Clause("time", FOREVER, span)
