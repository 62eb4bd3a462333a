"""Check a tree against the event types that exist, and resolve every name in it.

Paper: Section 3.  Readings: R20 to R32.  All errors of a file are found in one pass and reported together; a query that
is wrong counts as one of unknown shape, so that those that use it are not blamed for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import LanguageError
from cedr.language.check_algebra import AlgebraCheck
from cedr.language.check_pattern import PatternCheck
from cedr.language.environment import Environment
from cedr.language.outputs import output_type
from cedr.language.parse import parse_all
from cedr.language.patterns import contributors, places
from cedr.language.problems import Problems
from cedr.language.syntax import (
    AlgebraBody,
    File,
    PatternBody,
    Query,
    RelationSource,
    StreamSource,
    Subquery,
    TypeDeclaration,
    TypeReference,
)
from cedr.model.schema import DataType, EventType, EventTypes, Shape
from cedr.model.time import format_time


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query with everything resolved, the type of its output, and the types and queries that it names."""

    query: Query
    output: EventType
    uses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file without errors: the event types, the queries in the order of the text, and what is merely odd."""

    types: EventTypes
    queries: tuple[CheckedQuery, ...]
    warnings: tuple[Diagnostic, ...] = ()


def check(file: File, catalog: EventTypes | None = None) -> CheckedFile:
    """Check a parsed file.  Raises ``LanguageError`` with everything that is wrong in it."""
    problems = Problems()
    checked = _FileCheck(file, catalog or EventTypes(), problems).checked()
    if problems.errors:
        raise LanguageError(_sorted(problems.errors))
    return checked


def check_text(text: str, name: str = "<query>", catalog: EventTypes | None = None) -> CheckedFile:
    """Parse and check a text.  Raises ``LanguageError`` with the errors of both, together."""
    parsed = parse_all(text, name)
    problems = Problems(list(parsed.errors))
    checked = _FileCheck(parsed.file, catalog or EventTypes(), problems, frozenset(parsed.broken)).checked()
    if problems.errors:
        raise LanguageError(_sorted(problems.errors))
    return checked


def _sorted(errors: Iterable[Diagnostic]) -> list[Diagnostic]:
    """In the order of the text; an expression that is looked at twice is blamed once."""
    return sorted(dict.fromkeys(errors), key=lambda error: error.span.start if error.span else 0)


class _FileCheck:
    """One file."""

    def __init__(
        self, file: File, catalog: EventTypes, problems: Problems, broken: frozenset[str] = frozenset()
    ) -> None:
        self.problems = problems
        self.queries: dict[str, Query] = {}
        types = EventTypes(dict(catalog.types), catalog.open)
        self._declare(file, types)
        self.environment = Environment(types, broken=set(broken))
        self.found: dict[str, CheckedQuery] = {}

    def checked(self) -> CheckedFile:
        for name in self._in_order_of_use():
            self.found[name] = self._query(self.queries[name])
        queries = tuple(self.found[name] for name in self.queries if name in self.found)
        return CheckedFile(self.environment.types, queries, tuple(_sorted(self.problems.warnings)))

    # -- names ------------------------------------------------------------------------------------------------------

    def _declare(self, file: File, types: EventTypes) -> None:
        first: dict[str, TypeDeclaration | Query] = {}
        for statement in file.statements:
            if statement.name in first:
                self.problems.error(
                    "duplicate-name",
                    f'"{statement.name}" is defined twice',
                    statement.name_span if isinstance(statement, Query) else statement.span,
                    hint="event types and queries share their names: rename one of them",
                    related=((first[statement.name].span, "first defined here"),),
                )
                continue
            first[statement.name] = statement
            if isinstance(statement, Query):
                self.queries[statement.name] = statement
                types.types.pop(statement.name, None)
            else:
                types.add(self._event_type(statement, types))

    def _event_type(self, declaration: TypeDeclaration, types: EventTypes) -> EventType:
        if declaration.inferred:  # the catalog knows the attributes once the file was read
            known = types.types.get(declaration.name) or EventType(declaration.name, open=True)
            return replace(known, revisable=declaration.revisable) if declaration.revisable else known
        attributes: dict[str, DataType] = {}
        shapes: dict[str, Shape] = {}
        for attribute in declaration.attributes:
            if attribute.name in attributes:
                self.problems.error(
                    "duplicate-name",
                    f'attribute "{attribute.name}" is declared twice',
                    attribute.span,
                    hint="remove or rename one of them",
                )
            attributes[attribute.name] = attribute.type
            if attribute.shape is not None:
                shapes[attribute.name] = attribute.shape
        return EventType(declaration.name, attributes, declaration.revisable, shapes=shapes)

    def _in_order_of_use(self) -> list[str]:
        """The queries, each after those that it names.  Reading: R32.  Complains of circles."""
        uses = {name: [used for used in uses_of(query) if used in self.queries] for name, query in self.queries.items()}
        done: dict[str, bool] = {}  # False while what it names is being placed
        order: list[str] = []
        for start in self.queries:
            if start in done:
                continue
            done[start] = False
            todo = [(start, iter(uses[start]))]
            while todo:
                name, rest = todo[-1]
                following = next(rest, None)
                if following is None:
                    todo.pop()
                    done[name] = True
                    order.append(name)
                elif following not in done:
                    done[following] = False
                    todo.append((following, iter(uses[following])))
                elif not done[following]:
                    self._circular([*(n for n, _ in todo)], following)
        return order

    def _circular(self, way: list[str], again: str) -> None:
        circle = [*way[way.index(again) :], again]
        self.environment.broken.update(circle)
        query = self.queries[circle[0]]
        self.problems.error(
            "circular-query",
            f'query "{again}" is defined by itself',
            query.name_span or query.span,
            detail=f"the circle is: {' -> '.join(circle)}",
            hint="a query can use only queries that do not use it",
        )

    # -- queries ----------------------------------------------------------------------------------------------------

    def _query(self, query: Query) -> CheckedQuery:
        problems = Problems(warnings=self.problems.warnings)
        body: PatternBody | AlgebraBody
        if isinstance(query.body, PatternBody):
            body = PatternCheck(query.body, self.environment, problems).resolved()
            pattern = query.body.pattern.expression
            self.environment.counts[query.name] = contributors(pattern, self.environment.contributors_of)
        else:
            body = AlgebraCheck(query.body, self.environment, problems).resolved()
        assert body.output is not None
        self._slices(query, problems)
        of = output_type(query.name, body.output, problems)
        self.environment.outputs[query.name] = replace(of, open=bool(problems.errors))
        self.problems.errors.extend(problems.errors)
        return CheckedQuery(replace(query, body=body), of, tuple(uses_of(query)))

    def _slices(self, query: Query, problems: Problems) -> None:
        """Reading: R24."""
        for sign, interval in (("@", query.occurrence_slice), ("#", query.valid_slice)):
            if interval is not None and interval[0] > interval[1]:
                problems.error(
                    "slice-empty",
                    f"the slice {sign} [{format_time(interval[0])}, {format_time(interval[1])}] is empty",
                    query.span,
                    detail="its start lies after its end",
                    hint="write the earlier time first",
                )


def uses_of(query: Query) -> Iterator[str]:
    """The event types and queries that a query names, each once, in order."""
    found: dict[str, None] = {}
    if isinstance(query.body, PatternBody):
        for place in places(query.body.pattern):
            if isinstance(place.parameter.expression, TypeReference):
                found[place.parameter.expression.name] = None
    else:
        _streams(query.body.source, found)
    yield from found


def _streams(source: RelationSource, found: dict[str, None]) -> None:
    match source:
        case StreamSource():
            found[source.name] = None
        case Subquery():
            _streams(source.body.source, found)
        case _:
            _streams(source.left, found)
            _streams(source.right, found)
