"""Sources of FROM: streams, subqueries, joins, unions, differences, and the variables they bind.

Paper: Definition 9, Section 6.  Reading: R29.  After UNION and EXCEPT the variable of the left side names the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from cedr.expression.lattice import unify
from cedr.expression.tree import Expression
from cedr.expression.typing import infer_predicate
from cedr.language.check_pattern import forbid_aggregates
from cedr.language.environment import Environment
from cedr.language.patterns import implicit_names
from cedr.language.problems import Problems, listing
from cedr.language.scope import Scope, Variable
from cedr.language.syntax import (
    ExceptSource,
    JoinSource,
    RelationSource,
    StreamSource,
    Subquery,
    UnionSource,
)
from cedr.model.modes import JoinKind
from cedr.model.schema import EventType


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A resolved source, what it binds, and whether it is a join."""

    source: RelationSource
    variables: tuple[Variable, ...]
    joined: bool = False


class SourceCheck:
    """The sources of one FROM clause; ``subquery`` checks a body inside of it."""

    def __init__(
        self,
        environment: Environment,
        problems: Problems,
        subquery: Callable[[Subquery], tuple[Subquery, EventType]],
    ) -> None:
        self.environment = environment
        self.problems = problems
        self.subquery = subquery
        self.names: Iterator[str] = iter(())

    def check(self, source: RelationSource) -> CheckedSource:
        """The whole source."""
        primaries = list(_primaries(source))
        taken = {p.variable for p in primaries if p.variable is not None}
        unnamed = [p.name for p in primaries if isinstance(p, StreamSource) and p.variable is None]
        self.names = iter(implicit_names(unnamed, taken))
        return self._checked(source)

    def _checked(self, source: RelationSource) -> CheckedSource:
        match source:
            case StreamSource():
                return self._stream(source)
            case Subquery():
                resolved, of = self.subquery(source)
                return CheckedSource(resolved, (Variable(source.variable, of, "a subquery", source.span),))
            case JoinSource():
                return self._join(source)
        return self._merge(source)

    def _stream(self, source: StreamSource) -> CheckedSource:
        of = self.environment.event_type(source.name, source.span, self.problems)
        name = source.variable if source.variable is not None else next(self.names)
        return CheckedSource(replace(source, variable=name), (Variable(name, of, source.name, source.span),))

    def _join(self, source: JoinSource) -> CheckedSource:
        left, right = self._checked(source.left), self._checked(source.right)
        both = {variable.name: variable for variable in left.variables}
        for variable in right.variables:
            if variable.name in both:
                self._bound_twice(variable, both[variable.name])
            both.setdefault(variable.name, variable)
        predicate = self._on(source.predicate, tuple(both.values()))
        bound = left.variables if source.kind is JoinKind.ANTI else tuple(both.values())
        resolved = replace(source, left=left.source, right=right.source, predicate=predicate)
        return CheckedSource(resolved, bound, joined=left.joined or source.kind is not JoinKind.ANTI)

    def _on(self, predicate: Expression, variables: tuple[Variable, ...]) -> Expression:
        forbid_aggregates(predicate, self.problems, "ON", "conditions on aggregates stand in HAVING")
        resolved = Scope(variables, self.problems, "FROM").resolve(predicate)
        infer_predicate(resolved, self.problems.report)
        return resolved

    def _merge(self, source: UnionSource | ExceptSource) -> CheckedSource:
        left, right = self._checked(source.left), self._checked(source.right)
        word = "UNION" if isinstance(source, UnionSource) else "EXCEPT"
        wide = [side for side in (left, right) if len(side.variables) > 1]
        for side in wide:
            self.problems.error(
                "incompatible-sources",
                f"a side of {word} is a join",
                side.source.span,
                detail=f"each side of {word} is one stream or one subquery",
                hint="put the join into parentheses, with an OUTPUT: (FROM a JOIN b ON … OUTPUT …) AS ab",
            )
        if not wide:
            self._same_attributes(source, word, left.variables[0], right.variables[0])
        merged = replace(source, left=left.source, right=right.source)
        return CheckedSource(merged, left.variables, joined=left.joined)

    def _same_attributes(self, source: RelationSource, word: str, left: Variable, right: Variable) -> None:
        if left.type.open or right.type.open:
            return
        ours, theirs = left.type.attributes, right.type.attributes
        missing = [f"{right} lacks {name}" for name in ours if name not in theirs]
        missing += [f"{left} lacks {name}" for name in theirs if name not in ours]
        missing += [
            f"{name} is {of} in {left} and {theirs[name]} in {right}"
            for name, of in ours.items()
            if name in theirs and unify((of, theirs[name])) is None
        ]
        if missing:
            self.problems.error(
                "incompatible-sources",
                f"the two sides of {word} do not have the same attributes",
                source.span,
                detail=listing(missing),
                hint="bring one side into shape with a subquery: (FROM … OUTPUT … AS …) AS x",
            )

    def _bound_twice(self, again: Variable, first: Variable) -> None:
        self.problems.error(
            "variable-bound-twice",
            f'variable "{first.name}" is bound twice',
            again.span,
            "bound again here",
            hint="give one of them another name with AS",
            related=((first.span, "first bound here"),),
        )


def _primaries(source: RelationSource) -> Iterator[StreamSource | Subquery]:
    """The streams and subqueries of a source, from left to right."""
    if isinstance(source, StreamSource | Subquery):
        yield source
    else:
        yield from _primaries(source.left)
        yield from _primaries(source.right)
