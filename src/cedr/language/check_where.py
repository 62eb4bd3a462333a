"""Where a conjunct of WHERE can act: predicate injection, as far as it can fail.

Paper: Section 3.2, "Value Correlation in the WHERE clause".  Reading: R21.  A conjunct acts at the lowest place under
which all its variables are bound.  A variable inside a negated expression is seen by the operator that negates it and
by what is negated, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from cedr.diagnostics.span import Span
from cedr.language import syntax
from cedr.language.patterns import Place, Step, operator_name
from cedr.language.problems import Problems

Path = tuple[Step, ...]


class Placement:
    """Checks conjuncts against the places of the variables of one pattern."""

    def __init__(self, places: list[Place], problems: Problems) -> None:
        self.by_path = {place.path: place for place in places}
        self.by_variable: Mapping[str, Place] = {
            place.parameter.variable: place for place in places if place.parameter.variable is not None
        }
        self.choosing = [p for p in places if isinstance(p.parameter.expression, _CHOOSING)]
        self.problems = problems

    def check(self, names: frozenset[str], span: Span | None) -> None:
        """One conjunct that names these variables."""
        paths = {name: self.by_variable[name].path for name in sorted(names) if name in self.by_variable}
        if len(paths) < 2:
            return
        self._never_applies(paths, span)
        lowest = _common(list(paths.values()))
        bound_here = lowest in paths.values()  # a variable of the composite itself: it is bound above its operator
        hidden = [name for name, path in paths.items() if _hidden(path[len(lowest) :], above=bound_here)]
        if not hidden:
            return
        regions = {name: region for name, path in paths.items() if (region := _region(path, len(lowest)))}
        if len(set(regions.values())) > 1:
            self._two_negations(regions, span)
        else:
            self._negated_elsewhere(hidden[0], [name for name in paths if name not in regions], regions, span)

    def _two_negations(self, regions: Mapping[str, Path], span: Span | None) -> None:
        first = {region: name for name, region in reversed(list(regions.items()))}
        related = tuple(
            (self.by_path[region].parameter.span, f"{name} is in this negated expression")
            for region, name in sorted(first.items(), key=lambda item: item[0])
        )
        self.problems.error(
            "two-negations",
            "this predicate compares events of two different negated expressions",
            span,
            detail="an event that must not exist can be compared only with events that do",
            hint="compare each of them with a contributor that exists, in a conjunct of its own",
            related=related,
        )

    def _negated_elsewhere(
        self, hidden: str, others: list[str], regions: Mapping[str, Path], span: Span | None
    ) -> None:
        negation = self.by_path[regions[hidden]]
        operator = self.by_path[negation.path[:-1]].parameter.expression
        assert isinstance(operator, syntax.Operator)
        self.problems.error(
            "negated-elsewhere",
            f'"{hidden}" is negated by {operator_name(operator)} and cannot be compared with '
            + (" and ".join(f'"{name}"' for name in others) or "events outside of what negates it"),
            span,
            detail=f"outside of that {operator_name(operator)} there is no {hidden}: it is what did not happen",
            hint=f"compare {hidden} with what stands beside it in {operator_name(operator)}",
            related=((negation.parameter.span, "negated here"),),
        )

    def _never_applies(self, paths: Mapping[str, Path], span: Span | None) -> None:
        for place in self.choosing:
            depth = len(place.path)
            below = {path[depth].place for path in paths.values() if len(path) > depth and path[:depth] == place.path}
            operator = place.parameter.expression
            assert isinstance(operator, syntax.Operator)
            most = (operator.count if isinstance(operator, syntax.AtLeast) else 1) + operator.form.negates
            if len(below) > max(most, 1):
                self.problems.warning(
                    "never-applies",
                    f"this predicate needs {len(below)} events of {operator_name(operator)}, which binds only {most}",
                    span,
                    detail="a conjunct constrains only instances in which every variable that it names is bound",
                    hint="name one variable in each conjunct, or use ALL",
                )


_CHOOSING = (syntax.Any, syntax.AtMost, syntax.AtLeast)


def _common(paths: list[Path]) -> Path:
    shortest = min(paths, key=len)
    for length in range(len(shortest), 0, -1):
        if all(path[:length] == shortest[:length] for path in paths):
            return shortest[:length]
    return ()


def _hidden(way: Path, *, above: bool) -> bool:
    """Whether a negation lies on the way down, other than that of the operator at the top of it."""
    return any(step.negated for step in way[0 if above else 1 :])


def _region(path: Path, start: int) -> Path | None:
    """The outermost negated expression on the way below a place."""
    return next((path[: i + 1] for i in range(start, len(path)) if path[i].negated), None)
