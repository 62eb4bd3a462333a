"""A predicate over one event type: read and checked by the language, with errors in its own text.

Paper: Section 3.2 (WHERE).  Reading: R20.  It is what stands in the WHERE of a pattern with one parameter: attributes
by their names, with or without the name of the type in front.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import LanguageError
from cedr.diagnostics.span import Source, Span
from cedr.expression.own import owned
from cedr.expression.tree import Expression
from cedr.expression.typing import infer_predicate
from cedr.language.check_pattern import forbid_aggregates
from cedr.language.parse import parse_all
from cedr.language.problems import Problems
from cedr.language.scope import Scope, Variable
from cedr.language.syntax import AlgebraBody, Query
from cedr.language.tokens import tokens
from cedr.model.schema import EventType

_HEAD: Final = "EVENT filter FROM stream WHERE\n"


def read_predicate(text: str, of: EventType, name: str = "<subscription>") -> Expression:
    """A predicate with every name resolved.  Raises ``LanguageError`` with places in the text.

    Spans of the expression count from the beginning of the statement that it was read in: see ``place_of``.
    """
    source = Source(name, text)
    predicate = _parsed(source)
    problems = Problems()
    forbid_aggregates(predicate, problems, "a subscription", "aggregates stand in queries: FROM … GROUP BY")
    scope = Scope([Variable(of.name, of, of.name)], problems, "the subscription")
    resolved = scope.resolve(predicate)
    infer_predicate(resolved, problems.report)
    if problems.errors:
        raise _error(dict.fromkeys(problems.errors), source)
    return owned(resolved, "")


def place_of(part: Expression) -> tuple[int, int]:
    """Where a part of a predicate stands in its text."""
    assert part.span is not None
    return part.span.start - len(_HEAD), part.span.end - len(_HEAD)


def _parsed(source: Source) -> Expression:
    words = [*tokens(source)]
    if not words:
        primary, hint = "the predicate of a subscription is empty", "TRUE takes every event"
        raise LanguageError(Diagnostic("empty-predicate", primary, Span(source, 0, 0), hint=hint))
    for token in words:
        if token.word == ";":
            primary, hint = "a subscription has one predicate", "remove the semicolon and what comes after it"
            raise LanguageError(Diagnostic("syntax", primary, token.span, hint=hint))
    found = parse_all(f"{_HEAD}{source.text}\n", source.name)
    if found.errors:
        raise _error(found.errors, source)
    (statement,) = found.statements
    assert isinstance(statement, Query)
    assert isinstance(statement.body, AlgebraBody)
    where = statement.body.where
    assert where is not None
    plain = replace(statement.body, window=None, group_by=None, having=None, top=None, output=None, distinct=False)
    if statement.body != plain or replace(statement, body=plain) != Query(statement.name, plain):
        place = Span(source, place_of(where)[1], len(source.text))
        primary, hint = "a subscription is a predicate alone", "what else a query can do, EVENT name FROM … does"
        raise LanguageError(Diagnostic("syntax", primary, place, "this is a clause of a query", hint=hint))
    return where


def _error(errors: Iterable[Diagnostic], source: Source) -> LanguageError:
    return LanguageError(
        [
            replace(
                error,
                span=None if error.span is None else _own(error.span, source),
                related=tuple((_own(span, source), text) for span, text in error.related),
            )
            for error in errors
        ]
    )


def _own(span: Span, source: Source) -> Span:
    """A place in the text of the predicate alone."""
    shift, end = len(_HEAD), len(source.text)
    return Span(source, min(max(span.start - shift, 0), end), min(max(span.end - shift, 0), end))
