"""WHEN queries: variables, WHERE, OUTPUT.

Paper: Sections 3.1 and 3.3.  Readings: R20 to R23.  Gives the resolved body: every leaf has a variable, every name is
an attribute or a header field, OUTPUT is there with all its names, aggregates have one argument for each contributor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cedr.expression.aggregate import AGGREGATES
from cedr.expression.tree import (
    Aggregate,
    Attribute,
    Binary,
    Call,
    Expression,
    Header,
    HeaderField,
    Name,
    aggregates,
    down,
    transform,
    variables,
    walk,
)
from cedr.expression.typing import infer, infer_predicate
from cedr.language.check_operators import OperatorCheck
from cedr.language.check_where import Placement
from cedr.language.environment import Environment
from cedr.language.outputs import all_fields, named
from cedr.language.patterns import Place, Step, operator_name, places, with_variables
from cedr.language.problems import Problems
from cedr.language.scope import HEADERS, Scope, Variable, unknown_attribute
from cedr.language.syntax import (
    AttributeEquals,
    Conjunct,
    CorrelationKey,
    Operator,
    OutputItem,
    PatternBody,
    TypeReference,
)
from cedr.model.schema import DataType, EventType

_Types = dict[tuple[Step, ...], EventType]


class PatternCheck:
    """One WHEN query."""

    def __init__(self, body: PatternBody, environment: Environment, problems: Problems) -> None:
        self.problems = problems
        self.environment = environment
        OperatorCheck(problems, environment.contributors_of).top(body.pattern)
        self.body = replace(body, pattern=with_variables(body.pattern))
        self.places = list(places(self.body.pattern))
        self.all = self._variables()
        self.contributors = [v for v in self.all if v.leaf and not v.negated]

    def resolved(self) -> PatternBody:
        """The body with everything resolved."""
        where = self._where(self.body.where)
        if self.body.output is None:
            output = all_fields(self.contributors, prefixed=True, span=self.body.span)
        else:
            output = named([self._output_item(item) for item in self.body.output])
        return replace(self.body, where=where, output=output)

    # -- variables --------------------------------------------------------------------------------------------------

    def _variables(self) -> list[Variable]:
        types = {place.path: self._leaf_type(place) for place in self.places if place.leaf}
        found: dict[str, Variable] = {}
        for place in self.places:
            name = place.parameter.variable
            if name is None:
                continue
            if name in found:
                self._bound_twice(place, found[name])
                continue
            found[name] = self._variable(name, place, types)
        return list(found.values())

    def _leaf_type(self, place: Place) -> EventType:
        reference = place.parameter.expression
        assert isinstance(reference, TypeReference)
        mode = place.parameter.selection
        return self.environment.event_type(reference.name, reference.span, self.problems, mode.value if mode else "")

    def _variable(self, name: str, place: Place, types: _Types) -> Variable:
        expression = place.parameter.expression
        span = place.parameter.variable_span or place.parameter.span
        if isinstance(expression, Operator):
            shown = operator_name(expression)
            return Variable(name, self._composite_type(name, place, types), shown, span, False, place.negated)  # noqa: FBT003
        return Variable(name, types[place.path], expression.name, span, negated=place.negated)

    def _composite_type(self, name: str, top: Place, types: _Types) -> EventType:
        """The payload of a composite: the fields of its positive leaves as ``variable_field``."""
        depth = len(top.path)
        inside = [
            place
            for place in self.places
            if place.leaf and place.path[:depth] == top.path and not any(step.negated for step in place.path[depth:])
        ]
        attributes = {
            f"{place.parameter.variable}_{field}": of
            for place in inside
            for field, of in types[place.path].attributes.items()
        }
        shapes = {
            f"{place.parameter.variable}_{field}": shape
            for place in inside
            for field, shape in types[place.path].shapes.items()
        }
        return EventType(name, attributes, open=any(types[place.path].open for place in inside), shapes=shapes)

    def _bound_twice(self, place: Place, first: Variable) -> None:
        self.problems.error(
            "variable-bound-twice",
            f'variable "{first.name}" is bound twice',
            place.parameter.variable_span or place.parameter.span,
            "bound again here",
            hint="give one of them another name",
            related=((first.span, "first bound here"),),
        )

    # -- WHERE ------------------------------------------------------------------------------------------------------

    def _where(self, conjuncts: Sequence[Conjunct]) -> tuple[Conjunct, ...]:
        scope = Scope(self.all, self.problems, "WHEN")
        placement = Placement(self.places, self.problems)
        return tuple(self._conjunct(conjunct, scope, placement) for conjunct in conjuncts)

    def _conjunct(self, conjunct: Conjunct, scope: Scope, placement: Placement) -> Conjunct:
        match conjunct:
            case CorrelationKey():
                self._correlation_key(conjunct)
                return conjunct
            case AttributeEquals():
                self._attribute_equals(conjunct)
                return conjunct
        forbid_aggregates(conjunct.expression, self.problems, "WHERE", _AGGREGATE_HINT)
        expression = scope.resolve(conjunct.expression)
        infer_predicate(expression, self.problems.report)
        placement.check(variables(expression), conjunct.span)
        return replace(conjunct, expression=expression)

    def _every_leaf(self, conjunct: CorrelationKey | AttributeEquals) -> list[Expression]:
        """The attribute of every leaf, negated ones included; complains of each that lacks it.  Reading: R22."""
        found: list[Expression] = []
        lacking: set[str] = set()
        for variable in self.all:
            if not variable.leaf:
                continue
            of = variable.type.attribute(conjunct.attribute)
            if of is not None:
                shape = variable.type.shapes.get(conjunct.attribute)
                whole = Attribute(variable.name, conjunct.attribute, of, shape, span=conjunct.span)
                found.append(down(whole, conjunct.fields))
            elif variable.type.name not in lacking:
                lacking.add(variable.type.name)
                unknown_attribute(self.problems, conjunct.attribute, conjunct.span, variable)
        return found

    def _correlation_key(self, key: CorrelationKey) -> None:
        attributes = self._every_leaf(key)
        if len(attributes) == 1:
            infer(attributes[0], self.problems.report)
        for other in attributes[1:]:
            before = len(self.problems.errors)
            infer_predicate(Binary("=", attributes[0], other, span=key.span), self.problems.report)
            if len(self.problems.errors) > before:
                return

    def _attribute_equals(self, equals: AttributeEquals) -> None:
        for attribute in self._every_leaf(equals):
            before = len(self.problems.errors)
            infer_predicate(Binary("=", attribute, equals.value, span=equals.span), self.problems.report)
            if len(self.problems.errors) > before:
                return

    # -- OUTPUT -----------------------------------------------------------------------------------------------------

    def _output_item(self, item: OutputItem) -> OutputItem:
        scope = _OutputScope(self.all, self.problems, "WHEN")
        expanded = transform(item.expression, lambda part: self._aggregate(part, scope))
        return replace(item, expression=scope.resolve(expanded))

    def _aggregate(self, part: Expression, scope: Scope) -> Expression | None:
        """An aggregate with one argument for each contributor.  Reading: R23."""
        if not isinstance(part, Aggregate):
            return None
        if part.star:
            headers = tuple(Header(v.name, HeaderField.ID, span=part.span) for v in self.contributors)
            return replace(part, arguments=headers)
        arguments = tuple(one for argument in part.arguments for one in self._for_each(argument, scope))
        return replace(part, arguments=arguments, starts=starts_of(part, map(self._start, arguments)))

    def _start(self, argument: Expression) -> Expression:
        """When an argument holds: with the latest of the events that it names, a constant with the first of all."""
        names = sorted(variables(argument)) or [self.contributors[0].name]
        headers = tuple(Header(each, HeaderField.VS, span=argument.span) for each in names)
        return headers[0] if len(headers) == 1 else Call("GREATEST", headers, span=argument.span)

    def _for_each(self, argument: Expression, scope: Scope) -> list[Expression]:
        """An argument for each contributor that has all its bare names; as it is where it has none."""
        bare = [part for part in walk(argument) if isinstance(part, Name) and _is_bare(part, scope)]
        if not bare:
            return [scope.resolve(argument)]
        having = [v for v in self.contributors if all(v.find(name.parts[0], name.span) for name in bare)]
        declared = [v for v in having if all(_declares(v, name.parts[0]) for name in bare)] or having
        if not declared:
            return [scope.resolve(argument)]  # which complains
        return [scope.resolve(_qualified(argument, variable, scope)) for variable in declared]


_AGGREGATE_HINT = "aggregates over contributors stand in OUTPUT; aggregates over time need FROM … GROUP BY … HAVING"


def _declares(variable: Variable, name: str) -> bool:
    return name in variable.type.attributes or (not variable.type.open and name.upper() in HEADERS)


def _is_bare(name: Name, scope: Scope) -> bool:
    return len(name.parts) == 1 or scope.is_bare(name.parts[0])


def _qualified(expression: Expression, variable: Variable, scope: Scope) -> Expression:
    """Bare names as names of one variable."""

    def qualify(part: Expression) -> Expression | None:
        if isinstance(part, Name) and _is_bare(part, scope):
            return replace(part, parts=(variable.name, *part.parts))
        return None

    return transform(expression, qualify)


class _OutputScope(Scope):
    """Names in OUTPUT: those of negated expressions are there to be complained of."""

    def lookup(self, name: Name) -> Expression:
        variable = self.variables.get(name.parts[0])
        if len(name.parts) > 1 and variable is not None and variable.negated:
            self._negated(name, variable)
            return Attribute(variable.name, name.parts[1], DataType.ANY, span=name.span)
        return super().lookup(name)

    def bare_candidates(self, attribute: str) -> list[Variable]:
        return [variable for variable in super().bare_candidates(attribute) if not variable.negated]

    def _negated(self, name: Name, variable: Variable) -> None:
        positive = [v for v in self.variables.values() if v.leaf and not v.negated]
        self.problems.error(
            "negated-output",
            f'"{variable.name}" is negated: there is no such event to take a value from',
            name.span,
            hint=f"use a contributor that exists: {' or '.join(v.name for v in positive)}",
            related=((variable.span, "negated here"),),
        )


def starts_of(call: Aggregate, starts: Iterable[Expression]) -> tuple[Expression, ...]:
    """The Vs of the arguments of an aggregate, if it asks for them.  Reading: R45."""
    function = AGGREGATES.get(call.function)
    return tuple(starts) if function is not None and function.timed else ()


def forbid_aggregates(expression: Expression, problems: Problems, clause: str, hint: str) -> None:
    """Complain of every aggregate in an expression that may have none."""
    for aggregate in aggregates(expression):
        problems.error(
            "aggregate-not-allowed", f"{aggregate.function} cannot stand in {clause}", aggregate.span, hint=hint
        )
