"""The operators of a pattern, each by itself: scopes, counts, SC modes, weights.

Paper: Section 3.3.2.  Readings: R11 to R18 (operators), R25 to R27 (SC modes).
"""

from __future__ import annotations

from collections.abc import Callable

from cedr.language import syntax
from cedr.language.building import listed
from cedr.language.patterns import contributors, operands, operator_name
from cedr.language.problems import Problems
from cedr.language.syntax import Operator, Parameter
from cedr.model.modes import Consumption, Selection
from cedr.model.time import FOREVER, format_duration

_Several = syntax.Sequence | syntax.All | syntax.AtLeast
_CHOOSING = [kind.form.word for kind in syntax.OPERATORS if kind.form.chooses]


class OperatorCheck:
    """Checks every operator below a pattern; ``of_query`` says how many contributors a named query has."""

    def __init__(self, problems: Problems, of_query: Callable[[str], int]) -> None:
        self.problems = problems
        self.of_query = of_query

    def top(self, pattern: Parameter) -> None:
        """The whole pattern."""
        self._mode_means_nothing(pattern, "the whole pattern")
        self._weight_means_nothing(pattern, None)
        self._inside(pattern)

    def _inside(self, parameter: Parameter) -> None:
        operator = parameter.expression
        if not isinstance(operator, Operator):
            return
        self._scope(operator)
        self._counts(operator)
        self._modes(operator)
        if isinstance(operator, syntax.Not):
            self._not_over_sequence(operator)
        if isinstance(operator, syntax.Sequence):
            self._nested_order(operator)
        for operand, _ in operands(operator):
            self._weight_means_nothing(operand, operator)
            self._inside(operand)

    # -- scopes and counts ------------------------------------------------------------------------------------------

    def _scope(self, operator: Operator) -> None:
        scope = getattr(operator, "scope", None)
        if scope is None:
            return
        name = operator_name(operator)
        if scope <= 0:
            self.problems.error(
                "scope-not-positive",
                f"the scope of {name} must be longer than nothing, it is {format_duration(scope)}",
                operator.span,
                hint="the shortest is 1, one tick",
            )
        elif scope == FOREVER:
            self.problems.warning(
                "unbounded-scope",
                f"{name} has the scope FOREVER: what it remembers is never released",
                operator.span,
                hint="give the longest time that still makes sense: 30 days",
            )

    def _counts(self, operator: Operator) -> None:
        match operator:
            case syntax.AtLeast():
                k = len(operator.parameters)
                wrong = not 1 <= operator.count <= k
                rule = f"between 1 and {k}, the number of its event expressions"
            case syntax.AtMost():
                wrong = operator.count < 0
                rule = "0 or more"
            case syntax.Unless(contributor=int(n)):
                most = contributors(operator.first.expression, self.of_query)
                wrong = not 1 <= n <= most
                rule = f"between 1 and {most}, the number of contributors of its first event expression"
            case _:
                return
        if wrong:
            count = operator.contributor if isinstance(operator, syntax.Unless) else operator.count
            self.problems.error(
                "count-out-of-range",
                f"{operator_name(operator)} cannot have the number {count} here",
                operator.count_span or operator.span,
                detail=f"it must be {rule}",
                hint=_count_hint(operator),
            )

    def _not_over_sequence(self, operator: syntax.Not) -> None:
        """Paper: Section 3.2.  Reading: R17."""
        if isinstance(operator.sequence.expression, syntax.Sequence):
            return
        self.problems.error(
            "not-over-non-sequence",
            "the second parameter of NOT must be a SEQUENCE",
            operator.sequence.span,
            "this is none",
            detail="NOT(A, SEQUENCE(B, C, w)): no A between the B and the C",
            hint="for a scope in time use UNLESS(A, B, 5 minutes); to stop a detection use CANCEL-WHEN(A, B)",
        )

    def _nested_order(self, operator: syntax.Sequence) -> None:
        for parameter in operator.parameters[1:]:
            if contributors(parameter.expression, self.of_query) > 1:
                self.problems.warning(
                    "nested-order",
                    "a composite inside SEQUENCE is placed by its last contributor only",
                    parameter.span,
                    detail="SEQUENCE(A, SEQUENCE(B, C, w), w) lets B come before A",
                    hint="if all must come in order, write one SEQUENCE(A, B, C, w)",
                )

    # -- SC modes ---------------------------------------------------------------------------------------------------

    def _modes(self, operator: Operator) -> None:
        if not isinstance(operator, _Several):
            for operand, _ in operands(operator):
                self._mode_means_nothing(operand, operator_name(operator))
            return
        by_future = [p for p in _looking_ahead(operator) if p.selection is Selection.LAST]
        alone = len(operator.parameters) == 1 or (isinstance(operator, syntax.AtLeast) and operator.count == 1)
        consuming = any(p.consumption is Consumption.CONSUME for p in operator.parameters)
        for parameter in by_future:
            if alone:
                self._last_unbounded(operator, parameter)
            elif consuming or operator.disjoint:
                self._last_consume(operator, parameter)

    def _mode_means_nothing(self, parameter: Parameter, where: str) -> None:
        mode = parameter.selection or parameter.consumption
        if mode is not None:
            self.problems.error(
                "selection-not-allowed",
                f"{mode.value} means nothing at {where}",
                parameter.mode_span or parameter.span,
                detail=f"EACH, FIRST, LAST, REUSE and CONSUME belong to parameters of {listed(_CHOOSING, last='and')}",
                hint=f"remove {mode.value}",
            )

    def _last_unbounded(self, operator: Operator, parameter: Parameter) -> None:
        """Reading: R25."""
        self.problems.error(
            "last-unbounded",
            f"nothing bounds the LAST event here: a later one may always come in {operator_name(operator)}",
            parameter.mode_span or parameter.span,
            detail="LAST is decided when the scope is over, and the scope begins at another contributor",
            hint="use FIRST or EACH, or let at least two contributors take part",
        )

    def _last_consume(self, operator: Operator, parameter: Parameter) -> None:
        """Reading: R26."""
        other = "DISJOINT" if operator.disjoint else "CONSUME"
        self.problems.error(
            "last-consume",
            f"LAST would choose by the future here, which cannot be combined with {other}",
            parameter.mode_span or parameter.span,
            detail="what is consumed is known when the event comes; the last one only when the scope is over",
            hint=f"use FIRST or EACH, or leave {other} out",
        )

    def _weight_means_nothing(self, parameter: Parameter, operator: Operator | None) -> None:
        """Reading: R14."""
        if parameter.weight is None:
            return
        if not isinstance(operator, syntax.AtMost):
            self.problems.error(
                "weight-not-allowed",
                "WEIGHT means nothing outside of ATMOST",
                parameter.span,
                hint="remove it; only ATMOST counts with weights",
            )
        elif parameter.weight < 0:
            self.problems.error(
                "weight-not-allowed",
                f"a weight must not be negative, this is {parameter.weight}",
                parameter.span,
                hint="WEIGHT 0 does not count at all",
            )


def _looking_ahead(operator: _Several) -> tuple[Parameter, ...]:
    """The parameters at which LAST is known only when the scope is over.  Reading: R25."""
    return operator.parameters[-1:] if isinstance(operator, syntax.Sequence) else operator.parameters


def _count_hint(operator: syntax.AtLeast | syntax.AtMost | syntax.Unless) -> str:
    if isinstance(operator, syntax.AtLeast):
        return "ALL wants every one of them, ANY one of them"
    if isinstance(operator, syntax.Unless):
        return "the number says at which contributor of the first event expression the scope begins"
    return "ATMOST(0, A, w) never gives anything; ATMOST(1, A, w) gives every A without another one before it"
