"""Queries as they are given: a text, a file, or built in Python; which one of them, and at what level."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, overload, runtime_checkable

from cedr.connect.files import read_text
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import LanguageError
from cedr.diagnostics.naming import named
from cedr.hosts.event_types import declared_types, read_types
from cedr.language.check import check_text
from cedr.language.parse import parse_all
from cedr.language.syntax import File
from cedr.language.tokens import duration_of
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.plan.analyses.reads import types_read
from cedr.plan.compile import CompiledQuery, Program, compile_file, compile_text
from cedr.plan.explain import Explanation, explain

if TYPE_CHECKING:
    from cedr.hosts.catalog import Catalog
    from cedr.hosts.catalog_graph import CatalogGraph


@runtime_checkable
class Builder(Protocol):
    """Queries built in Python: the same tree that a text gives."""

    def to_file(self) -> File:
        """The tree."""


AnyQuery = str | PathLike[str] | Builder | File | Program | CompiledQuery
"""A query as it may be given: a text, the path of a ``.cedr`` file, built in Python, or compiled."""


Parsed = File | Program
"""The same, read: a text or a file is read once, as it may be standard input."""


@runtime_checkable
class HasExplanation(Protocol):
    """A query that is set up already, and knows what it does."""

    cedr_explanation: Explanation


def query_file(query: str | PathLike[str] | Builder | File, known: EventTypes | None = None) -> File:
    """The tree of a query given as a text, as the path of a file or of a folder of them, or built in Python.

    Raises ``LanguageError`` for a text that cannot be parsed, with what is wrong in its other statements: against the
    types that are ``known``, or where these come later, with the data, all that is wrong whatever they are.
    """
    if isinstance(query, File):
        return query
    if isinstance(query, PathLike) and Path(query).is_dir():
        from cedr.hosts.catalog import file_of_folder

        return file_of_folder(Path(query))
    if isinstance(query, PathLike) or (isinstance(query, str) and is_path(query)):
        return _parsed(read_text(fspath(query)), fspath(query), known)
    if isinstance(query, str):
        return _parsed(query, "<query>", known)
    if not hasattr(query, "to_file"):
        raise _wrong_query(query)
    return query.to_file()


def _wrong_query(given: object) -> LanguageError:
    """The error for something that is no query; data, perhaps, given first."""
    detail = "taken are: a text, the path of a .cedr file, a query built in Python, or a compiled one"
    hint = "the query comes first, then the data" if given is not None and not isinstance(given, int | float) else ""
    return LanguageError(Diagnostic("wrong-query", f"{named(given)} is no query", detail=detail, hint=hint))


def parsed(query: AnyQuery) -> Parsed:
    """A query as it was given, read if it is a text or a file.  Raises ``LanguageError``."""
    if isinstance(query, CompiledQuery):
        return Program({query.name: query}, EventTypes(types_read(query.plan)))
    return query if isinstance(query, Program) else query_file(query)


def folder_of(query: AnyQuery) -> Path:
    """Where paths in a query begin: at its file, or here."""
    if isinstance(query, PathLike) or (isinstance(query, str) and is_path(query)):
        return Path(fspath(query)).parent
    return Path()


def is_path(text: str) -> bool:
    """Whether a text is the path of a file of queries, and no query."""
    return text.endswith(".cedr") and "\n" not in text


def _parsed(text: str, name: str, known: EventTypes | None) -> File:
    parsed = parse_all(text, name)
    if parsed.errors:
        check_text(text, name, EventTypes(open=True) if known is None else types_for(parsed.file, known))
    return parsed.file


def types_for(file: File, known: EventTypes) -> EventTypes:
    """The types that a file is checked against: any name is taken where none is declared, in the file or elsewhere."""
    declared = known.types or declared_types(file).types
    return EventTypes(dict(known.types), open=known.open or not declared)


def compile_query(
    query: str | PathLike[str] | Builder | File, catalog: EventTypes | str | PathLike[str] | None = None
) -> Program:
    """Compile queries: a text, the path of a ``.cedr`` file, or built in Python.  Raises ``LanguageError``.

    Names are checked against the types of the text and of the catalog, a file of TYPE statements or ``EventTypes``;
    where no type is declared at all, any name and any attribute is taken as it comes.
    """
    known = catalog_of(catalog)
    file = query_file(query, known)
    return compile_file(file, types_for(file, known))


@overload
def explain_query(  # type: ignore[overload-overlap]  # a catalog is a query, too
    query: Catalog,
    *,
    consistency: ConsistencyLevel | str | None = None,
    event: None = None,
    catalog: EventTypes | str | PathLike[str] | None = None,
) -> CatalogGraph: ...
@overload
def explain_query(
    query: str | PathLike[str] | Builder | File | Program | HasExplanation,
    *,
    consistency: ConsistencyLevel | str | None = None,
    event: str | None = None,
    catalog: EventTypes | str | PathLike[str] | None = None,
) -> Explanation: ...
def explain_query(
    query: str | PathLike[str] | Builder | File | Program | HasExplanation,
    *,
    consistency: ConsistencyLevel | str | None = None,
    event: str | None = None,
    catalog: EventTypes | str | PathLike[str] | None = None,
) -> Explanation | CatalogGraph:
    """What a query does at a level and what that costs; by default the last query, at its own level or MIDDLE.

    Of a ``cedr.Catalog`` it is the graph of all its queries, each at its own level or at the one given: which operators
    there are, and which queries share them; with ``event`` it is what that query does.  The DataFrame that
    ``cedr.query`` gave is explained as it was made: with its level, and how it is split.
    """
    from cedr.hosts.catalog import Catalog

    if isinstance(query, HasExplanation):
        return query.cedr_explanation
    level = parse_level(consistency) if isinstance(consistency, str) else consistency
    program = query if isinstance(query, Program) else compile_query(query, catalog)
    if isinstance(query, Catalog) and event is None:
        from cedr.hosts.catalog_graph import graph_of

        return graph_of(program, query.order, level)
    chosen = choose(program, event)
    return explain(chosen.plan, level or chosen.consistency or MIDDLE)


def catalog_of(given: EventTypes | str | PathLike[str] | None) -> EventTypes:
    """A catalog as it is given: itself, a file, or none."""
    if isinstance(given, EventTypes):
        return given
    return EventTypes() if given is None else read_types([given])


def choose(program: Program, event: str | None) -> CompiledQuery:
    """The query of a name, by default the last one."""
    names = list(program.queries)
    if not names:
        raise LanguageError(Diagnostic("no-query", "the text has no query", hint="a query starts with EVENT name"))
    if event is not None and event not in names:
        detail = f"queries: {', '.join(names)}"
        raise LanguageError(Diagnostic("unknown-query", f'there is no query "{event}"', detail=detail))
    return program.queries[names[-1] if event is None else event]


def parse_level(text: str) -> ConsistencyLevel:
    """A consistency level as the language writes it: STRONG, or BLOCKING 2 seconds MEMORY 10 minutes.  Reading: R35."""
    try:
        queries = compile_text(f"EVENT Q WHEN ANY(A) CONSISTENCY {text}", EventTypes(open=True)).queries
    except LanguageError:
        queries = {}
    level = queries["Q"].consistency if len(queries) == 1 else None
    if level is None:
        detail = "levels: STRONG, MIDDLE, WEAK, BLOCKING duration MEMORY duration"
        raise LanguageError(Diagnostic("unknown-level", f'"{text}" is not a consistency level', detail=detail))
    return level


def parse_duration(text: str, what: str) -> int:
    """A duration as the language writes it: 10 minutes, 1.5 hours, 250 ms."""
    found = duration_of(text)
    if found is None:
        detail = "a duration is a number and a unit: 10 minutes, 1.5 hours, 250 ms"
        raise LanguageError(Diagnostic("bad-duration", f'{what}: "{text}" is not a duration', detail=detail))
    return found
