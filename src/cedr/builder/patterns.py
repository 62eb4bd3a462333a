"""Patterns in Python: ``sequence("INSTALL x", event("SHUTDOWN").as_("y"), within="12 hours")``.

Paper: Section 3.3.2.  Readings: R11 to R28.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cedr.builder.columns import Column, Duration, duration, literal, names_in, parse_conjuncts, parse_expression
from cedr.builder.queries import Standing
from cedr.expression.tree import Expression
from cedr.language import syntax
from cedr.language.syntax import Conjunct, CorrelationKey, OutputItem, Parameter, PatternBody, Predicate, TypeReference
from cedr.model.modes import Consumption, KeyMode, Selection, Valid


@dataclass(frozen=True, slots=True)
class Pattern(Standing):
    """An event expression, and the query around it.  As an operand of another pattern only the expression counts."""

    parameter: Parameter
    conjuncts: tuple[Conjunct, ...] = ()
    items: tuple[OutputItem, ...] | None = None
    valid: Valid | None = None

    # -- as an operand ----------------------------------------------------------------------------------------------

    def as_(self, variable: str) -> Pattern:
        """Bind a variable (R20)."""
        return replace(self, parameter=replace(self.parameter, variable=variable))

    def each(self) -> Pattern:
        """Take every instance: the default (R25)."""
        return self._select(Selection.EACH)

    def first(self) -> Pattern:
        """Of instances that agree in all else, take the earliest (R25)."""
        return self._select(Selection.FIRST)

    def last(self) -> Pattern:
        """Of instances that agree in all else, take the latest (R25)."""
        return self._select(Selection.LAST)

    def _select(self, selection: Selection) -> Pattern:
        return replace(self, parameter=replace(self.parameter, selection=selection))

    def consume(self) -> Pattern:
        """An event taken here serves no further output of the operator (R26)."""
        return replace(self, parameter=replace(self.parameter, consumption=Consumption.CONSUME))

    def weight(self, weight: int) -> Pattern:
        """How much an event counts in ``at_most`` (R14)."""
        return replace(self, parameter=replace(self.parameter, weight=weight))

    def disjoint(self) -> Pattern:
        """After an output, only events after its detection contribute (R27)."""
        operator = self.parameter.expression
        if isinstance(operator, TypeReference):
            message = f"DISJOINT follows an operator, not the event type {operator.name}"
            raise TypeError(message)
        return replace(self, parameter=replace(self.parameter, expression=replace(operator, disjoint=True)))

    def with_ties(self) -> Pattern:
        """Let events of equal Vs follow each other, in operators of several contributors (R49)."""
        operator = self.parameter.expression
        if isinstance(operator, TypeReference) or not operator.form.chooses:
            words = ", ".join(kind.form.word for kind in syntax.OPERATORS if kind.form.chooses)
            message = f"WITH TIES belongs to {words}"
            raise TypeError(message)
        return replace(self, parameter=replace(self.parameter, expression=replace(operator, ties=True)))

    # -- as a query -------------------------------------------------------------------------------------------------

    def where(self, *conditions: str | Column | Conjunct) -> Pattern:
        """WHERE: texts as in the language, columns, or ``correlation_key(…)``; all must hold (R21)."""
        added = tuple(conjunct for condition in conditions for conjunct in _conjuncts(condition))
        return replace(self, conjuncts=(*self.conjuncts, *added))

    def output(self, **columns: str | Column) -> Pattern:
        """OUTPUT: names and their expressions (R23)."""
        return replace(self, items=output_items(columns))

    def valid_forever(self) -> Pattern:
        """``VALID FOREVER`` (R19)."""
        return replace(self, valid=Valid.FOREVER)

    def valid_with_last(self) -> Pattern:
        """``VALID WITH LAST``: valid as long as the last contributor (R19)."""
        return replace(self, valid=Valid.WITH_LAST)

    def body(self) -> PatternBody:
        """``WHEN … [VALID …] [WHERE …] [OUTPUT …]``."""
        return PatternBody(self.parameter, self.valid, self.conjuncts, self.items)


Operand = str | Pattern | Standing
"""A type as text ("INSTALL", "INSTALL x", "INSTALL AS x"), a pattern, or another query by its object."""


def output_items(columns: dict[str, str | Column]) -> tuple[OutputItem, ...]:
    """The items of OUTPUT."""
    return tuple(OutputItem(scalar(value), name) for name, value in columns.items())


def scalar(value: str | Column) -> Expression:
    """An expression from its text or from a column."""
    return parse_expression(value) if isinstance(value, str) else value.expression


def _conjuncts(condition: str | Column | Conjunct) -> tuple[Conjunct, ...]:
    if isinstance(condition, str):
        return parse_conjuncts(condition).where
    if isinstance(condition, Column):
        return (Predicate(condition.expression, braces=True),)
    return (condition,)


def correlation_key(attribute: str, *, unique: bool = False) -> CorrelationKey:
    """``CorrelationKey(attribute, EQUAL)``, or UNIQUE (R22); ``card.no`` is a field of the attribute card."""
    name, *fields = names_in(attribute)
    return CorrelationKey(name, KeyMode.UNIQUE if unique else KeyMode.EQUAL, tuple(fields))


def attribute_equals(attribute: str, value: object) -> syntax.AttributeEquals:
    """``[attribute EQUAL value]``: every contributor has it (R22)."""
    name, *fields = names_in(attribute)
    return syntax.AttributeEquals(name, literal(value), tuple(fields))


def event(name: str) -> Pattern:
    """An event type by its name; the text may bind a variable: ``event("INSTALL x")``."""
    words = name.split()
    if len(words) > 1 and words[-2].upper() == "AS":
        words.pop(-2)
    if len(words) == 2:
        return Pattern(Parameter(TypeReference(words[0]), words[1]))
    return Pattern(Parameter(TypeReference(name)))


def _operand(operand: Operand) -> Pattern:
    if isinstance(operand, str):
        return event(operand)
    if isinstance(operand, Pattern) and not (operand.conjuncts or operand.items or operand.valid):
        return operand
    return Pattern(Parameter(TypeReference(operand.name)), uses=(operand,))


def use(query: Standing, variable: str | None = None) -> Pattern:
    """The output of another query as an event type (R32)."""
    return Pattern(Parameter(TypeReference(query.name), variable), uses=(query,))


def _operator(operator: syntax.Operator, operands: Iterable[Pattern]) -> Pattern:
    return Pattern(Parameter(operator), uses=tuple(used for operand in operands for used in operand.uses))


def sequence(*operands: Operand, within: Duration) -> Pattern:
    """``SEQUENCE(p, …, w)``: in this order, the last at most ``within`` after the first (R11)."""
    parts = [_operand(operand) for operand in operands]
    scope = duration(within)
    made = syntax.Sequence(tuple(p.parameter for p in parts), scope.value, durations=(scope,))
    return _operator(made, parts)


def all_of(*operands: Operand, within: Duration) -> Pattern:
    """``ALL(p, …, w)``: one of each, in any order (R13)."""
    parts = [_operand(operand) for operand in operands]
    scope = duration(within)
    made = syntax.All(tuple(p.parameter for p in parts), scope.value, durations=(scope,))
    return _operator(made, parts)


def any_of(*operands: Operand) -> Pattern:
    """``ANY(p, …)``: each event of any of them (R13)."""
    parts = [_operand(operand) for operand in operands]
    return _operator(syntax.Any(tuple(p.parameter for p in parts)), parts)


def at_least(count: int, *operands: Operand, within: Duration) -> Pattern:
    """``ATLEAST(n, p, …, w)``: n of them, in any order (R12)."""
    parts = [_operand(operand) for operand in operands]
    scope = duration(within)
    made = syntax.AtLeast(count, tuple(p.parameter for p in parts), scope.value, durations=(scope,))
    return _operator(made, parts)


def exactly(count: int, *operands: Operand, within: Duration) -> Pattern:
    """``EXACTLY(n, p, …, w)``: n of them, in any order, and none of the others (R46)."""
    parts = [_operand(operand) for operand in operands]
    scope = duration(within)
    made = syntax.Exactly(count, tuple(p.parameter for p in parts), scope.value, durations=(scope,))
    return _operator(made, parts)


def at_most(count: int, *operands: Operand, within: Duration) -> Pattern:
    """``ATMOST(n, p, …, w)``: each event with at most n in the time before it (R14)."""
    parts = [_operand(operand) for operand in operands]
    scope = duration(within)
    made = syntax.AtMost(count, tuple(p.parameter for p in parts), scope.value, durations=(scope,))
    return _operator(made, parts)


def unless(first: Operand, second: Operand, *, within: Duration, contributor: int | None = None) -> Pattern:
    """``UNLESS(p, p, w)``, or from the n-th contributor on ``UNLESS(p, p, n, w)`` (R15, R16)."""
    parts = [_operand(first), _operand(second)]
    scope = duration(within)
    made = syntax.Unless(parts[0].parameter, parts[1].parameter, scope.value, contributor, durations=(scope,))
    return _operator(made, parts)


def not_(negated: Operand, scope: Operand) -> Pattern:
    """``NOT(p, SEQUENCE(…))``: no p between first and last contributor of the sequence (R17)."""
    parts = [_operand(negated), _operand(scope)]
    return _operator(syntax.Not(parts[0].parameter, parts[1].parameter), parts)


def cancel_when(first: Operand, second: Operand, *, from_root: bool = False) -> Pattern:
    """``CANCEL-WHEN(p, p [FROM ROOT])``: no second during the detection of the first (R18)."""
    parts = [_operand(first), _operand(second)]
    return _operator(syntax.CancelWhen(parts[0].parameter, parts[1].parameter, from_root), parts)
