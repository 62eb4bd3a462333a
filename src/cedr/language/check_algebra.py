"""FROM queries: sources, windows, groups, OUTPUT.

Paper: Section 6.  Readings: R29 to R32.  Gives the resolved body: every source has a variable, every name is an
attribute or a header field, group items and OUTPUT have names; HAVING and OUTPUT name group keys by the group's own
expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cedr.expression.lattice import OPAQUE
from cedr.expression.tree import (
    Aggregate,
    Attribute,
    Expression,
    Header,
    HeaderField,
    Literal,
    Name,
    aggregates,
    children,
    down,
    shaped,
    transform,
)
from cedr.expression.typing import infer, infer_predicate
from cedr.language.check_pattern import forbid_aggregates, starts_of
from cedr.language.environment import Environment
from cedr.language.outputs import all_fields, name_of, named, output_type
from cedr.language.problems import Problems
from cedr.language.scope import HEADERS, Scope
from cedr.language.sources import SourceCheck
from cedr.language.syntax import (
    AlgebraBody,
    GroupItem,
    HoppingWindow,
    LifetimeWindow,
    MovingWindow,
    OutputItem,
    SessionWindow,
    Subquery,
    TopClause,
    TumblingWindow,
    Window,
)
from cedr.model.schema import DataType, EventType
from cedr.model.time import FOREVER, format_duration


class AlgebraCheck:
    """One FROM body."""

    def __init__(self, body: AlgebraBody, environment: Environment, problems: Problems) -> None:
        self.body = body
        self.problems = problems
        self.sources = SourceCheck(environment, problems, self._subquery)
        self.environment = environment

    def resolved(self) -> AlgebraBody:
        """The body with everything resolved."""
        body = self.body
        checked = self.sources.check(body.source)
        self.scope = Scope(checked.variables, self.problems, "FROM")
        where = self._plain(body.where, "WHERE") if body.where is not None else None
        window = self._window(body.window) if body.window is not None else None
        groups = self._groups(body.group_by) if body.group_by is not None else None
        grouped = body.top is None and (groups is not None or _has_aggregates(body))
        names = _GroupNames(self.scope, groups or (), self.problems, grouped=grouped)
        having = names.resolve(body.having) if body.having is not None else None
        if having is not None:
            infer_predicate(having, self.problems.report)
        top = self._top(body.top, names) if body.top is not None else None
        if body.output is not None:
            output = named([replace(item, expression=names.resolve(item.expression)) for item in body.output])
        elif grouped:
            keys = {item.name: OutputItem(item.expression, item.name, span=item.span) for item in groups or ()}
            output = tuple(keys.values())
        else:
            output = all_fields(checked.variables, prefixed=checked.joined, span=body.span)
        return replace(
            body,
            source=checked.source,
            where=where,
            window=window,
            group_by=groups,
            having=having,
            top=top,
            output=output,
        )

    def _top(self, top: TopClause, names: _GroupNames) -> TopClause:
        """Reading: R45: TOP chooses among rows, those of each group where there is GROUP BY."""
        of_groups = [call for part in _outside(self.body) for call in aggregates(part)] or aggregates(top.expression)
        if of_groups or self.body.having is not None:
            self.problems.error(
                "top-of-groups",
                "TOP chooses among rows, not among groups",
                of_groups[0].span if of_groups else self.body.having.span if self.body.having else top.span,
                detail="with GROUP BY it takes the first rows of each group, so there is nothing to aggregate",
                hint="compute the groups in a query of their own: FROM (… OUTPUT COUNT(*) AS n) AS g TOP 3 BY g.n DESC",
            )
            return top
        if top.count < 1:
            self.problems.error(
                "count-out-of-range",
                f"TOP cannot have the number {top.count} here",
                top.count_span,
                detail="it must be 1 or more",
                hint="TOP 3 BY price DESC",
            )
        expression = names.resolve(top.expression)
        of = infer(expression, self.problems.report)
        if of in OPAQUE:
            self.problems.error(
                "type-mismatch", f"{of} has no order for TOP", expression.span, hint="take a field or an element of it"
            )
        return replace(top, expression=expression)

    def _subquery(self, subquery: Subquery) -> tuple[Subquery, EventType]:
        errors = len(self.problems.errors)
        body = AlgebraCheck(subquery.body, self.environment, self.problems).resolved()
        assert body.output is not None
        of = output_type(subquery.variable, body.output, self.problems, sound=len(self.problems.errors) == errors)
        return replace(subquery, body=body), of

    def _plain(self, predicate: Expression, clause: str) -> Expression:
        forbid_aggregates(predicate, self.problems, clause, "conditions on aggregates stand in HAVING")
        resolved = self.scope.resolve(predicate)
        infer_predicate(resolved, self.problems.report)
        return resolved

    # -- windows ----------------------------------------------------------------------------------------------------

    def _window(self, window: Window) -> Window:
        match window:
            case MovingWindow():
                self._positive(window, window.length)
            case HoppingWindow():
                self._positive(window, window.size, window.hop)
            case TumblingWindow():
                self._positive(window, window.size)
            case SessionWindow():
                self._positive(window, window.gap)
            case LifetimeWindow():
                return self._lifetime(window)
        return window

    def _positive(self, window: Window, *lengths: int) -> None:
        for length in lengths:
            if length <= 0 or (length == FOREVER and not isinstance(window, MovingWindow)):
                self.problems.error(
                    "window-not-positive",
                    f"a window cannot be {format_duration(length)} long",
                    window.span,
                    hint="give a duration longer than nothing: WINDOW MOVING 10 minutes",
                )

    def _lifetime(self, window: LifetimeWindow) -> LifetimeWindow:
        """Paper: Definition 12.  Bare Vs and Ve are the row's own, of a join too."""
        start, duration = (self._time(expression) for expression in (window.start, window.duration))
        if isinstance(duration, Literal) and duration.value == FOREVER:
            duration = replace(duration, type=DataType.DURATION)
        for expression, wanted in ((start, DataType.TIMESTAMP), (duration, DataType.DURATION)):
            of = infer(expression, self.problems.report)
            if of not in (wanted, DataType.INTEGER, DataType.ANY, DataType.NULL):
                self.problems.error(
                    "type-mismatch",
                    f"the {'start' if wanted is DataType.TIMESTAMP else 'duration'} of a LIFETIME is {of}",
                    expression.span,
                    detail=f"it must be {wanted}, or INTEGER for ticks",
                    hint="WINDOW LIFETIME Vs, 10 minutes",
                )
        return replace(window, start=start, duration=duration)

    def _time(self, expression: Expression) -> Expression:
        forbid_aggregates(expression, self.problems, "WINDOW", "compute it in a query of its own, and join that")
        own = transform(expression, self._own_header) if len(self.scope.variables) > 1 else expression
        return self.scope.resolve(own)

    def _own_header(self, part: Expression) -> Expression | None:
        if not isinstance(part, Name) or len(part.parts) > 1 or self.scope.bare_candidates(part.parts[0]):
            return None
        field = HEADERS.get(part.parts[0].upper())
        return None if field is None else Header("", field, span=part.span)

    # -- groups -----------------------------------------------------------------------------------------------------

    def _groups(self, items: Sequence[GroupItem]) -> tuple[GroupItem, ...]:
        found: list[GroupItem] = []
        for position, item in enumerate(items, start=1):
            forbid_aggregates(item.expression, self.problems, "GROUP BY", "group by plain expressions")
            expression = self.scope.resolve(item.expression)
            infer(expression, self.problems.report)
            name = item.name or name_of(expression) or f"column{position}"
            if any(other.name == name for other in found):
                self._duplicate(item, name)
            found.append(replace(item, expression=expression, name=name))
        return tuple(found)

    def _duplicate(self, item: GroupItem, name: str) -> None:
        self.problems.error(
            "duplicate-output",
            f'two group items are called "{name}"',
            item.span,
            hint="give one of them another name with AS",
        )


def _outside(body: AlgebraBody) -> list[Expression]:
    """What speaks of groups, where there are any."""
    return [item.expression for item in body.output or ()] + ([body.having] if body.having is not None else [])


def _has_aggregates(body: AlgebraBody) -> bool:
    return any(aggregates(expression) for expression in _outside(body))


class _GroupNames:
    """Names in HAVING and OUTPUT: group items by name or by equal expression, everything else only in aggregates."""

    def __init__(self, scope: Scope, groups: Sequence[GroupItem], problems: Problems, *, grouped: bool) -> None:
        self.scope = scope
        self.problems = problems
        self.grouped = grouped
        self.by_name = {item.name: item.expression for item in groups}
        self.expressions = [item.expression for item in groups]

    def resolve(self, expression: Expression) -> Expression:
        resolved = shaped(transform(expression, self._part))
        if self.grouped:
            self._complain(resolved)
        return resolved

    def _part(self, part: Expression) -> Expression | None:
        if isinstance(part, Aggregate):
            arguments = tuple(self.scope.resolve(argument) for argument in part.arguments)
            return replace(part, arguments=arguments, starts=starts_of(part, (Header("", HeaderField.VS),)))
        if isinstance(part, Name):
            inside = len(part.parts) > 1 and part.parts[0] in self.scope.variables
            key = None if inside else self.by_name.get(part.parts[0])
            return self.scope.lookup(part) if key is None else down(replace(key, span=part.span), part.parts[1:])
        return None

    def _complain(self, expression: Expression) -> None:
        """Of every attribute outside of aggregates that is no part of a group expression."""
        todo = [expression]
        while todo:
            part = todo.pop()
            if isinstance(part, Aggregate) or part in self.expressions:
                continue
            if isinstance(part, Attribute | Header):
                self._not_grouped(part)
            todo.extend(children(part))

    def _not_grouped(self, part: Attribute | Header) -> None:
        name = part.name if isinstance(part, Attribute) else part.field.value
        self.problems.error(
            "not-grouped",
            f'"{name}" has many values in a group',
            part.span,
            detail=f"the group has: {', '.join(map(str, self.by_name))}" if self.by_name else "everything is one group",
            hint="add it to GROUP BY, or take an aggregate of it: MAX, MIN, COUNT",
        )
