"""Patterns as trees of places: operands, variables of leaves, contributors.

Paper: Section 3.3.2.  A place is a parameter and the way to it from the top; a way through the second operand of
UNLESS or CANCEL-WHEN, or the first of NOT, leads into a negated expression.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from cedr.language import syntax
from cedr.language.syntax import Operator, Parameter, TypeReference


class Step(NamedTuple):
    """From a parameter to one of its operator's operands."""

    place: int
    negated: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A parameter and the way to it."""

    parameter: Parameter
    path: tuple[Step, ...] = ()

    @property
    def negated(self) -> bool:
        """Whether it lies inside a negated expression."""
        return any(step.negated for step in self.path)

    @property
    def leaf(self) -> bool:
        """Whether it is an event type or a named query."""
        return isinstance(self.parameter.expression, TypeReference)


def operands(operator: Operator) -> tuple[tuple[Parameter, bool], ...]:
    """The operands in order, each with whether it is negated."""
    match operator:
        case syntax.Unless() | syntax.CancelWhen():
            return (operator.first, False), (operator.second, True)
        case syntax.Not():
            return (operator.negated, True), (operator.sequence, False)
        case syntax.Sequence() | syntax.All() | syntax.Any() | syntax.AtLeast() | syntax.AtMost():
            return tuple((parameter, False) for parameter in operator.parameters)
    raise AssertionError(operator)


def with_operands(operator: Operator, changed: tuple[Parameter, ...]) -> Operator:
    """The same operator over other operands."""
    match operator:
        case syntax.Unless() | syntax.CancelWhen():
            return replace(operator, first=changed[0], second=changed[1])
        case syntax.Not():
            return replace(operator, negated=changed[0], sequence=changed[1])
        case syntax.Sequence() | syntax.All() | syntax.Any() | syntax.AtLeast() | syntax.AtMost():
            return replace(operator, parameters=changed)
    raise AssertionError(operator)


def places(parameter: Parameter, path: tuple[Step, ...] = ()) -> Iterator[Place]:
    """All places of a pattern, from the top, in the order of the text."""
    yield Place(parameter, path)
    if isinstance(parameter.expression, Operator):
        for index, (operand, negated) in enumerate(operands(parameter.expression)):
            yield from places(operand, (*path, Step(index, negated)))


def with_variables(pattern: Parameter) -> Parameter:
    """The pattern with a variable at every leaf.

    Reading: R23.  A leaf without one is called like its type, and numbered where that type has several such leaves.
    """
    parameters = [place.parameter for place in places(pattern)]
    taken = {parameter.variable for parameter in parameters if parameter.variable is not None}
    unnamed = [
        parameter.expression.name
        for parameter in parameters
        if parameter.variable is None and isinstance(parameter.expression, TypeReference)
    ]
    names = iter(implicit_names(unnamed, taken))
    return _fill(pattern, lambda: next(names))


def implicit_names(types: Iterable[str], taken: set[str]) -> list[str]:
    """Names for things without one: that of the type, numbered where it repeats or is taken.

    >>> implicit_names(["A", "B", "A"], {"B"})
    ['A1', 'B1', 'A2']
    """
    wanted = list(types)
    repeated = Counter(wanted)
    found: list[str] = []
    used = set(taken)
    for name in wanted:
        candidate = name
        if repeated[name] > 1 or name in used:
            numbers = (f"{name}{i}" for i in range(1, len(wanted) + len(used) + 2))
            candidate = next(c for c in numbers if c not in used)
        used.add(candidate)
        found.append(candidate)
    return found


def _fill(parameter: Parameter, name: Callable[[], str]) -> Parameter:
    expression = parameter.expression
    if isinstance(expression, Operator):
        changed = tuple(_fill(operand, name) for operand, _ in operands(expression))
        return replace(parameter, expression=with_operands(expression, changed))
    return parameter if parameter.variable is not None else replace(parameter, variable=name())


def contributors(expression: TypeReference | Operator, of_query: Callable[[str], int]) -> int:
    """How many contributors an instance has in its cbt[].  Reading: R16.  ``of_query`` answers for names."""
    match expression:
        case TypeReference():
            return of_query(expression.name)
        case syntax.Sequence() | syntax.All():
            return len(expression.parameters)
        case syntax.AtLeast():
            return expression.count
        case syntax.Not():
            return contributors(expression.sequence.expression, of_query)
        case syntax.CancelWhen():
            return contributors(expression.first.expression, of_query)
    return 1


def operator_name(operator: Operator) -> str:
    """The keyword of an operator."""
    return operator.form.word
