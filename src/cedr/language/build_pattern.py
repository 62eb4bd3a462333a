# ruff: noqa: D102 - a method is named after its rule, and grammar.lark documents that
"""The builder's rules for patterns: parameters, operators with their scopes and counts, WHERE.

Paper: Section 3.3.2.  The grammar reads the arguments of every operator as one list; what an operator wants of it is
said here, once for each operator.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

from cedr.diagnostics.span import Span
from cedr.expression.tree import TRUE, Expression, Literal
from cedr.language import syntax
from cedr.language.build_expression import ExpressionBuilder
from cedr.language.building import DEEPEST, Clause, clauses, last_character, listed
from cedr.language.tokens import Token
from cedr.model.modes import Consumption, KeyMode, Selection, Valid
from cedr.model.time import FOREVER


class Quantity(NamedTuple):
    """A duration or a bare number; ``ticks`` says that it was the number, ``written`` how it was written.

    ``ties``: WITH TIES stands behind it (R49).
    """

    value: int
    written: syntax.Written
    ticks: bool = False
    ties: bool = False


def _quantity(value: int, span: Span, *, ticks: bool = False) -> Clause:
    text = " ".join(span.text.split())
    return Clause("quantity", Quantity(value, syntax.Written(text, value, not ticks, span), ticks), span)


def written(*quantities: Clause) -> tuple[syntax.Written, ...]:
    """How quantities were written.  Reading: R50."""
    return tuple(quantity.value.written for quantity in quantities)


_KINDS = {kind.form.word: kind for kind in syntax.OPERATORS}
_TYING = [word for word, kind in _KINDS.items() if kind.form.chooses]


class Arguments:
    """The arguments of one operator, taken away from both ends until only event expressions are left."""

    def __init__(self, name: str, span: Span, arguments: list[Clause]) -> None:
        self.name = name
        self.form = _KINDS[name].form
        self.span = span
        self.rest = arguments
        self.count: Clause | None = None
        self.scope = 1
        self.ties = False
        self.durations: tuple[syntax.Written, ...] = ()

    @property
    def patterns(self) -> tuple[syntax.Parameter, ...]:
        """The event expressions."""
        return tuple(argument.value for argument in self.rest)

    @property
    def number(self) -> int:
        """The count, where there is one."""
        return self.count.value.value if self.count else 1


class PatternBuilder(ExpressionBuilder):
    """Rules of the grammar that make patterns."""

    RAW = ExpressionBuilder.RAW | {
        *("selection", "consumption", "operator_name", "disjoint", "ticks", "duration", "forever", "key_mode"),
        *("valid_forever", "valid_with_last"),
    }

    def pattern_body(self, span: Span, *parts: Any) -> syntax.PatternBody:
        said = clauses(parts)
        pattern = parts[0]
        return syntax.PatternBody(
            pattern,
            said["valid"].value if "valid" in said else None,
            said["where"].value if "where" in said else (),
            said["output"].value if "output" in said else None,
            span=span,
        )

    def valid_forever(self, span: Span, *_: Token) -> Clause:
        return Clause("valid", Valid.FOREVER, span)

    def valid_with_last(self, span: Span, *_: Token) -> Clause:
        return Clause("valid", Valid.WITH_LAST, span)

    # -- parameters -------------------------------------------------------------------------------------------------

    def pattern(self, span: Span, *parts: Any) -> syntax.Parameter:
        said = clauses(parts)
        (event,) = (part for part in parts if not isinstance(part, Clause))
        alias, selection, consumption = said.get("alias"), said.get("selection"), said.get("consumption")
        mode = selection or consumption
        return syntax.Parameter(
            event,
            alias.value if alias else None,
            selection.value if selection else None,
            consumption.value if consumption else None,
            said["weight"].value if "weight" in said else None,
            variable_span=alias.span if alias else None,
            mode_span=mode.span if mode else said["weight"].span if "weight" in said else None,
            span=span,
        )

    def type_reference(self, span: Span, name: Token) -> syntax.TypeReference:
        return syntax.TypeReference(name.value, span=span)

    def alias(self, _: Span, name: Token) -> Clause:
        return Clause("alias", name.value, name.span)

    def selection(self, span: Span, token: Token) -> Clause:
        return Clause("selection", Selection(token.word), span)

    def consumption(self, span: Span, token: Token) -> Clause:
        return Clause("consumption", Consumption(token.word), span)

    def weight(self, span: Span, quantity: Clause) -> Clause:
        self._whole_number("a weight", quantity)
        return Clause("weight", quantity.value.value, span)

    # -- quantities -------------------------------------------------------------------------------------------------

    def ticks(self, span: Span, *tokens: Token) -> Clause:
        literal = self.integer(tokens[-1].span, tokens[-1])
        if len(tokens) == 2:
            literal = self.negative(span, literal)
        assert isinstance(literal, Literal)
        return _quantity(_integer(literal), span, ticks=True)

    def duration(self, span: Span, *tokens: Token) -> Clause:
        size = self._ticks(tokens[-1])
        return _quantity(size if len(tokens) == 1 else -size, span)

    def forever(self, span: Span, *_: Token) -> Clause:
        return _quantity(FOREVER, span)

    def _whole_number(self, what: str, quantity: Clause) -> None:
        if not quantity.value.ticks:
            self.report(
                "count-not-number",
                f"{what} must be a whole number",
                quantity.span,
                "this is a duration",
                hint="write a bare number, such as 2",
            )

    # -- operators --------------------------------------------------------------------------------------------------

    def operator_name(self, span: Span, token: Token) -> Clause:
        return Clause("operator_name", token.word, span)

    def disjoint(self, span: Span, *_: Token) -> Clause:
        return Clause("disjoint", True, span)  # noqa: FBT003 - it is there

    def pattern_argument(self, span: Span, parameter: syntax.Parameter) -> Clause:
        return Clause("pattern", parameter, span)

    def from_root(self, span: Span, parameter: syntax.Parameter) -> Clause:
        return Clause("from_root", parameter, span)

    def quantity_argument(self, _: Span, quantity: Clause) -> Clause:
        return quantity

    def quantity_with_ties(self, span: Span, quantity: Clause) -> Clause:
        return Clause("quantity", quantity.value._replace(ties=True), span)

    def literal_argument(self, span: Span, literal: Literal) -> Clause:
        return Clause("literal", literal, span)

    def operator(self, span: Span, name: Clause, *parts: Clause) -> syntax.Operator:
        disjoint = bool(parts) and parts[-1].kind == "disjoint"
        inside = list(parts[:-1] if disjoint else parts)
        closing = span if not disjoint else Span(span.source, span.start, span.source.text.rindex(")", 0, span.end) + 1)
        arguments = Arguments(name.value, closing, inside)
        errors = len(self.errors)
        from_root = self._from_root(arguments)
        arguments.ties = self._with_ties(arguments)
        if arguments.form.scoped:
            self._take_scope(arguments)
        if arguments.form.counted and len(self.errors) == errors:
            self._take_count(arguments)
        if name.value == "UNLESS" and arguments.rest and arguments.rest[-1].kind == "quantity":
            arguments.count = arguments.rest.pop()
            self._whole_number("the number of a contributor", arguments.count)
        if len(self.errors) == errors:
            self._only_patterns(arguments)
        if len(self.errors) > errors:
            return syntax.Any((), span=span)
        return _make(arguments, disjoint, from_root, span)

    def _from_root(self, arguments: Arguments) -> bool:
        """Whether the last argument says FROM ROOT; complains of it elsewhere.  Reading: R18."""
        places = [i for i, argument in enumerate(arguments.rest) if argument.kind == "from_root"]
        wrong = [i for i in places if arguments.name != "CANCEL-WHEN" or i != 1]
        for i in wrong:
            self.report(
                "wrong-arguments",
                "FROM ROOT stands only at the second event of CANCEL-WHEN",
                arguments.rest[i].span,
                hint="write CANCEL-WHEN(A, B FROM ROOT)",
            )
        return bool(places)

    def _with_ties(self, arguments: Arguments) -> bool:
        """Whether the scope says WITH TIES; complains of it elsewhere.  Reading: R49."""
        places = [i for i, a in enumerate(arguments.rest) if a.kind == "quantity" and a.value.ties]
        wrong = [i for i in places if not arguments.form.chooses or i != len(arguments.rest) - 1]
        for i in wrong:
            self.report(
                "wrong-arguments",
                f"WITH TIES stands only behind the scope of {listed(_TYING, last='and')}",
                arguments.rest[i].span,
                hint="write SEQUENCE(A, B, 12 hours WITH TIES)",
            )
        return bool(places)

    def _take_scope(self, arguments: Arguments) -> None:
        last = arguments.rest[-1] if arguments.rest else None
        if last is not None and last.kind == "quantity" and (len(arguments.rest) > 1 or not arguments.form.counted):
            scope = arguments.rest.pop()
            arguments.scope, arguments.durations = scope.value.value, written(scope)
        elif last is not None and last.kind == "literal":
            self.report(
                "scope-not-duration",
                f"the scope of {arguments.name} must be a duration",
                last.span,
                f"this is a {last.value.type}",
                detail="a duration is a number and a unit (12 hours, 250 ms), a bare number of ticks, or FOREVER",
                hint=f"write {arguments.form.usage}",
            )
        else:
            self._scope_missing(arguments)

    def _scope_missing(self, arguments: Arguments) -> None:
        early = [a for a in arguments.rest[arguments.form.counted :] if a.kind == "quantity"]
        self.report(
            "scope-missing",
            f"{arguments.name} has no scope at its end",
            early[0].span if early else last_character(arguments.span),
            "the scope must come last" if early else "a scope is expected before this",
            detail="a scope is the longest time from the first to the last event: 12 hours, 5 minutes, FOREVER",
            hint=f"write {arguments.form.usage}",
        )

    def _take_count(self, arguments: Arguments) -> None:
        first = arguments.rest[0]
        if first.kind == "quantity":
            arguments.count = arguments.rest.pop(0)
            self._whole_number(f"the count of {arguments.name}", arguments.count)
            return
        self.report(
            "count-not-number",
            f"{arguments.name} has no count at its beginning",
            first.span,
            "a whole number is expected before this",
            hint=f"write {arguments.form.usage}",
        )

    def _only_patterns(self, arguments: Arguments) -> None:
        strange = [argument for argument in arguments.rest if argument.kind not in ("pattern", "from_root")]
        for argument in strange:
            self.report(
                "wrong-arguments",
                f"{arguments.name} takes event expressions"
                + (" and has no scope" if not arguments.form.scoped else ", then one scope at its end"),
                argument.span,
                hint=f"write {arguments.form.usage}"
                + ('; a type of that name is quoted: "FOREVER"' if argument.span.text.upper() == "FOREVER" else ""),
            )
        count = len(arguments.rest)
        wrong = count != 2 if arguments.form.pair else count == 0
        if wrong and not strange:
            wanted = "two event expressions" if arguments.form.pair else "at least one event expression"
            self.report(
                "wrong-arguments",
                f"{arguments.name} takes {wanted}, not {count}",
                arguments.span,
                hint=f"write {arguments.form.usage}",
            )

    # -- WHERE ------------------------------------------------------------------------------------------------------

    def where(self, span: Span, conjuncts: Clause) -> Clause:
        return Clause("where", conjuncts.value, span)

    def where_and(self, span: Span, *conjuncts: syntax.Conjunct) -> Clause:
        return Clause("conjuncts", conjuncts, span)

    def where_any(self, span: Span, *branches: Clause) -> Clause:
        """An OR outside of braces: one predicate; what is no bare predicate cannot be part of it."""
        operands: list[Expression] = []
        for branch in branches:
            bare = [c.expression for c in branch.value if isinstance(c, syntax.Predicate) and not c.braces]
            if len(bare) < len(branch.value):
                self.report(
                    "syntax",
                    "only AND joins predicates in braces, CorrelationKey and [… EQUAL …]",
                    branch.span,
                    hint="put the whole alternative into one pair of braces: {a = 1 OR b = 2}",
                )
                return Clause("conjuncts", (), span)
            operands.append(self.conjunction(branch.span, *bare))
        return Clause("conjuncts", (syntax.Predicate(self.disjunction(span, *operands), span=span),), span)

    def braced(self, span: Span, expression: Expression) -> syntax.Predicate:
        return syntax.Predicate(expression, braces=True, span=span)

    def bare(self, span: Span, expression: Expression) -> syntax.Predicate:
        return syntax.Predicate(expression, span=span)

    def way(self, span: Span, *names: Token) -> Clause:
        if len(names) > DEEPEST:
            self._too_deep(span)
        return Clause("way", tuple(name.value for name in names[:DEEPEST]), span)

    def correlation_key(self, span: Span, way: Clause, mode: Clause) -> syntax.CorrelationKey:
        return syntax.CorrelationKey(way.value[0], mode.value, way.value[1:], span=span)

    def key_mode(self, span: Span, token: Token) -> Clause:
        return Clause("key_mode", KeyMode(token.word), span)

    def attribute_equals(self, span: Span, way: Clause, value: Expression) -> syntax.AttributeEquals:
        attribute, *fields = way.value
        if isinstance(value, Literal):
            return syntax.AttributeEquals(attribute, value, tuple(fields), span=span)
        self.report("invalid-literal", "only a number or a duration can be negative", value.span or span)
        return syntax.AttributeEquals(attribute, TRUE, tuple(fields), span=span)


def _integer(literal: Literal) -> int:
    assert isinstance(literal.value, int)
    return literal.value


def _make(arguments: Arguments, disjoint: bool, from_root: bool, span: Span) -> syntax.Operator:  # noqa: FBT001
    """The operator, of those of its arguments that it has."""
    kind, patterns = _KINDS[arguments.name], arguments.patterns
    first, last, count = patterns[0], patterns[-1], arguments.count
    given: dict[str, Any] = {
        "parameters": patterns,
        "first": first,
        "second": last,
        "negated": first,
        "sequence": last,
        "scope": arguments.scope,
        "count": arguments.number,
        "contributor": arguments.number if count else None,
        "count_span": count.span if count else None,
        "from_root": from_root,
        "disjoint": disjoint,
        "ties": arguments.ties,
        "durations": arguments.durations,
        "span": span,
    }
    names = {each.name for each in fields(kind)}
    return kind(**{name: value for name, value in given.items() if name in names})
