# ruff: noqa: D102 - a method is named after its rule, and grammar.lark documents that
"""The builder's rules for expressions.

Paper: Section 3.1 (WHERE, OUTPUT).  Reading: R20.  Long chains of AND and OR become balanced trees, which mean the same
and stay shallow; other chains group from the left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from difflib import get_close_matches
from typing import Any, TypeVar

from cedr.diagnostics.span import Span
from cedr.expression.aggregate import AGGREGATES, aggregate_call
from cedr.expression.tree import (
    Aggregate,
    Between,
    Binary,
    Call,
    Case,
    Cast,
    Expression,
    Field,
    In,
    IsNull,
    Item,
    Like,
    Literal,
    Name,
    Unary,
)
from cedr.language.building import DEEPEST, Building, Clause
from cedr.language.tokens import Token, ticks
from cedr.model.schema import TYPE_NAMES, DataType
from cedr.model.time import FOREVER, parse_timestamp

E = TypeVar("E", bound=Expression)

_NUMBERS = (DataType.INTEGER, DataType.FLOAT, DataType.DURATION)
_LONG_CHAIN = 64  # operands of AND and OR from which a tree is balanced
_MOST_DIGITS = 19  # of a 64-bit integer


class ExpressionBuilder(Building):
    """Rules of the grammar that make expressions."""

    RAW = frozenset(
        {"comparator", "join_operator", "sum_operator", "product_operator", "true", "false", "null", "forever_literal"}
    )

    def _made(self, expression: E, *parts: Expression) -> E | Literal:
        """The expression, if it is not too deep."""
        deepest = 0
        for part in parts:
            deepest = max(deepest, self.depths.get(id(part), 0))
        if deepest >= DEEPEST:
            self._too_deep(expression.span)
            return Literal(True, DataType.BOOLEAN, span=expression.span)  # noqa: FBT003 - stands for what was cut off
        self.depths[id(expression)] = deepest + 1
        return expression

    def _too_deep(self, span: Span | None) -> None:
        if span is not None and not any(error.code == "too-deep" for error in self.errors):
            self.report(
                "too-deep",
                f"this nests deeper than {DEEPEST} levels",
                span,
                hint="give parts of it names, as queries of their own, or use CONCAT, IN, LEAST instead of long chains",
            )

    # -- logic and comparison ---------------------------------------------------------------------------------------

    def disjunction(self, span: Span, *operands: Expression) -> Expression:
        return self._logic("OR", span, operands)

    def conjunction(self, span: Span, *operands: Expression) -> Expression:
        return self._logic("AND", span, operands)

    def _logic(self, operator: str, span: Span, operands: Sequence[Expression]) -> Expression:
        if len(operands) <= _LONG_CHAIN:
            return self._left(operands[0], [(operator, operand) for operand in operands[1:]])
        level = list(operands)
        while len(level) > 1:
            pairs = [self._binary(operator, left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
            level = pairs + (level[-1:] if len(level) % 2 else [])
        return replace(level[0], span=span)

    def _left(self, first: Expression, rest: Sequence[tuple[str, Expression]]) -> Expression:
        if len(rest) > DEEPEST:
            self._too_deep(rest[DEEPEST][1].span)
            return first
        result = first
        for operator, operand in rest:
            result = self._binary(operator, result, operand)
        return result

    def _binary(self, operator: str, left: Expression, right: Expression) -> Expression:
        return self._made(Binary(operator, left, right, span=_over(left, right)), left, right)

    def negation(self, span: Span, operand: Expression) -> Expression:
        return self._made(Unary("NOT", operand, span=span), operand)

    def comparison(self, _: Span, left: Expression, operator: Clause, right: Expression) -> Expression:
        return self._binary(operator.value, left, right)

    def is_null(self, span: Span, operand: Expression) -> Expression:
        return self._made(IsNull(operand, span=span), operand)

    def is_not_null(self, span: Span, operand: Expression) -> Expression:
        return self._made(IsNull(operand, negated=True, span=span), operand)

    def between(self, span: Span, operand: Expression, low: Expression, high: Expression) -> Expression:
        return self._made(Between(operand, low, high, span=span), operand, low, high)

    def not_between(self, span: Span, operand: Expression, low: Expression, high: Expression) -> Expression:
        return self._made(Between(operand, low, high, negated=True, span=span), operand, low, high)

    def is_in(self, span: Span, operand: Expression, items: Clause) -> Expression:
        return self._made(In(operand, items.value, span=span), operand, *items.value)

    def is_not_in(self, span: Span, operand: Expression, items: Clause) -> Expression:
        return self._made(In(operand, items.value, negated=True, span=span), operand, *items.value)

    def like(self, span: Span, operand: Expression, pattern: Expression) -> Expression:
        return self._made(Like(operand, pattern, span=span), operand, pattern)

    def not_like(self, span: Span, operand: Expression, pattern: Expression) -> Expression:
        return self._made(Like(operand, pattern, negated=True, span=span), operand, pattern)

    # -- arithmetic -------------------------------------------------------------------------------------------------

    def _operator(self, span: Span, token: Token) -> Clause:
        return Clause("operator", token.value.upper(), span)

    comparator = join_operator = sum_operator = product_operator = _operator

    def chain(self, _: Span, first: Expression, *rest: Any) -> Expression:
        return self._left(first, [(rest[i].value, rest[i + 1]) for i in range(0, len(rest), 2)])

    def negative(self, span: Span, operand: Expression) -> Expression:
        """``-5`` is a literal; ``-(5)``, and a minus in front of anything else, an operator."""
        if isinstance(operand, Literal) and operand.type in _NUMBERS and operand.span and _is_plain(operand.span):
            self.edges = [edge for edge in self.edges if edge.start != operand.span.start]
            assert isinstance(operand.value, int | float)
            return Literal(-operand.value, operand.type, span=span)
        return self._made(Unary("-", operand, span=span), operand)

    def parentheses(self, span: Span, operand: Expression) -> Expression:
        wider = replace(operand, span=span)
        self.depths[id(wider)] = self.depths.get(id(operand), 0)
        return wider

    # -- calls ------------------------------------------------------------------------------------------------------

    def items(self, span: Span, *expressions: Expression) -> Clause:
        return Clause("items", expressions, span)

    def call(self, span: Span, name: Token, items: Clause | None = None) -> Expression:
        arguments = items.value if items else ()
        function = name.value.upper()
        if function in AGGREGATES:
            return self._aggregate(span, name, arguments)
        if function == "DATE_TRUNC" and arguments and isinstance(arguments[0], Name):
            unit = Literal(arguments[0].parts[-1], DataType.STRING, span=arguments[0].span)
            arguments = (unit, *arguments[1:])
        return self._made(Call(function, arguments, span=span), *arguments)

    def call_distinct(self, span: Span, name: Token, items: Clause) -> Expression:
        return self._aggregate(span, name, items.value, distinct=True)

    def call_star(self, span: Span, name: Token) -> Expression:
        if name.value.upper() != "COUNT":
            self.report(
                "wrong-arguments",
                f"{name.value.upper()}(*) means nothing: only COUNT counts whole events",
                span,
                hint=f"name what to take: {name.value.upper()}(price)",
            )
        return Aggregate("COUNT", (), star=True, span=span)

    def _aggregate(
        self, span: Span, name: Token, arguments: tuple[Expression, ...], *, distinct: bool = False
    ) -> Expression:
        function = name.value.upper()
        if function not in AGGREGATES:
            self.report(
                "wrong-arguments",
                f"DISTINCT means nothing in {function}, which is no aggregate",
                span,
                detail=f"aggregates are: {', '.join(sorted(AGGREGATES))}",
                hint=f"write {function}(…) without DISTINCT",
            )
        elif not arguments:
            self.report(
                "wrong-arguments",
                f"{function} needs something to take",
                span,
                hint="COUNT(*) counts events" if function == "COUNT" else f"name an attribute: {function}(price)",
            )
        return self._made(aggregate_call(function, arguments, distinct=distinct, span=span), *arguments)

    def extract(self, span: Span, unit: Token, operand: Expression) -> Expression:
        first = Literal(unit.value, DataType.STRING, span=unit.span)
        return self._made(Call("EXTRACT", (first, operand), span=span), operand)

    def cast(self, span: Span, operand: Expression, data_type: Clause) -> Expression:
        return self._made(Cast(operand, data_type.value, span=span), operand)

    def branch(self, span: Span, condition: Expression, result: Expression) -> Clause:
        return Clause("branch", (condition, result), span)

    def case(self, span: Span, *parts: Any) -> Expression:
        branches = tuple(part.value for part in parts if isinstance(part, Clause))
        default = None if isinstance(parts[-1], Clause) else parts[-1]
        inside = [expression for branch in branches for expression in branch]
        return self._made(Case(branches, default, span=span), *inside, *([default] if default else []))

    # -- names, and what is inside of values ------------------------------------------------------------------------

    def name(self, span: Span, name: Token) -> Expression:
        return self._made(Name((name.value,), span=span))

    def field(self, span: Span, operand: Expression, name: Token) -> Expression:
        """``x.y`` is one name with two parts, unless x is a value: in parentheses or with an index."""
        if not isinstance(operand, Name) or operand.span is None or operand.span.text.startswith("("):
            return self._made(Field(operand, name.value, span=span), operand)
        parts = (*operand.parts, name.value)
        if len(parts) > DEEPEST:
            self._too_deep(span)
            return operand
        found = Name(parts, span=span)
        self.depths[id(found)] = len(parts)
        return found

    def item(self, span: Span, operand: Expression, index: Expression) -> Expression:
        if isinstance(index, Literal) and isinstance(index.value, str) and _is_plain(index.span):
            return self._made(Field(operand, index.value, span=span), operand)
        return self._made(Item(operand, index, span=span), operand, index)

    def data_type(self, span: Span, name: Token, *_: Token) -> Clause:
        found = TYPE_NAMES.get(name.value.upper())
        if found is None:
            close = get_close_matches(name.value.upper(), TYPE_NAMES, 1)
            self.report(
                "unknown-data-type",
                f'"{name.value}" is no data type',
                name.span,
                detail=f"data types are: {', '.join(TYPE_NAMES)}",
                hint=f"did you mean {close[0]}?" if close else "use ANY where the type is not known",
            )
        return Clause("data_type", found or DataType.ANY, span)

    # -- literals ---------------------------------------------------------------------------------------------------

    def integer(self, span: Span, token: Token) -> Expression:
        digits = token.value.lstrip("0") or "0"
        value = int(digits) if len(digits) <= _MOST_DIGITS else FOREVER + 2
        if value == FOREVER + 1:  # fits only with a minus in front
            self.edges.append(span)
        elif value > FOREVER:
            self._out_of_range(span)
        return self._made(Literal(value, DataType.INTEGER, span=span))

    def _out_of_range(self, span: Span) -> None:
        self.report(
            "invalid-literal",
            "this number does not fit in 64 bits",
            span,
            detail=f"the largest is {FOREVER}",
            hint="write it as a FLOAT: 1e20",
        )

    def end_of_statement(self) -> None:
        """Complain of 9223372036854775808 where no minus came in front."""
        for span in self.edges:
            self._out_of_range(span)

    def duration_literal(self, span: Span, token: Token) -> Expression:
        return self._made(Literal(self._ticks(token), DataType.DURATION, span=span))

    def _ticks(self, token: Token) -> int:
        found = ticks(token.value)
        if found is None:
            self.report(
                "invalid-literal",
                "this duration is no whole number of microseconds in 64 bits",
                token.span,
                hint="use a smaller number, or a smaller unit (ms, us); FOREVER has no end",
            )
        return 1 if found is None else found

    def forever_literal(self, span: Span, *_: Token) -> Expression:
        return self._made(Literal(FOREVER, DataType.TIMESTAMP, span=span))

    def floating(self, span: Span, token: Token) -> Expression:
        value = float(token.value)
        if value == float("inf"):
            self.report("invalid-literal", "this number is too large for a FLOAT", span, hint="the largest is 1.8e308")
        return self._made(Literal(value, DataType.FLOAT, span=span))

    def string(self, span: Span, token: Token) -> Expression:
        return self._made(Literal(token.value, DataType.STRING, span=span))

    def binary(self, span: Span, token: Token) -> Expression:
        try:
            value = bytes.fromhex(token.value)
        except ValueError:
            value = b""
            self.report("invalid-literal", "these are no bytes in hexadecimal", span, hint="two digits each: X'00ff'")
        return self._made(Literal(value, DataType.BINARY, span=span))

    def true(self, span: Span, *_: Token) -> Expression:
        return self._made(Literal(True, DataType.BOOLEAN, span=span))  # noqa: FBT003 - the literal itself

    def false(self, span: Span, *_: Token) -> Expression:
        return self._made(Literal(False, DataType.BOOLEAN, span=span))  # noqa: FBT003 - the literal itself

    def null(self, span: Span, *_: Token) -> Expression:
        return self._made(Literal(None, DataType.NULL, span=span))

    def timestamp(self, span: Span, token: Token) -> Expression:
        return self._made(Literal(self._timestamp(token), DataType.TIMESTAMP, span=span))

    def _timestamp(self, token: Token) -> int:
        try:
            return parse_timestamp(token.value)
        except (ValueError, OverflowError):
            self.report(
                "invalid-literal",
                f"'{token.value}' is no timestamp",
                token.span,
                hint="write it as TIMESTAMP '2026-01-31 12:00:00Z'",
            )
            return 0

    def date(self, span: Span, token: Token) -> Expression:
        try:
            value = date.fromisoformat(token.value.strip())
        except ValueError:
            value = date(1970, 1, 1)
            self.report(
                "invalid-literal", f"'{token.value}' is no date", token.span, hint="write it as DATE '2026-01-31'"
            )
        return self._made(Literal(value, DataType.DATE, span=span))


def _over(left: Expression, right: Expression) -> Span:
    assert left.span is not None
    assert right.span is not None
    return Span(left.span.source, left.span.start, right.span.end)


def _is_plain(span: Span | None) -> bool:
    """Whether a literal stands there as it is: not in parentheses, not already negative."""
    return span is not None and span.source.text[span.start] not in "(-"
