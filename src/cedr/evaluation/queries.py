"""Queries as they are given: a text, a file, or built in Python; which one of them, and at what level."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Protocol

from cedr.connect.files import read_text
from cedr.errors import Diagnostic, LanguageError
from cedr.language.parse import parse
from cedr.language.syntax import File
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import Catalog
from cedr.plan.compile import CompiledQuery, Program, compile_text


class Builder(Protocol):
    """Queries built in Python: the same tree that a text gives."""

    def to_file(self) -> File:
        """The tree."""


def query_file(query: str | PathLike[str] | Builder | File) -> File:
    """The tree of a query given as a text, as the path of a file, or built in Python."""
    if isinstance(query, File):
        return query
    if isinstance(query, PathLike) or (isinstance(query, str) and query.endswith(".cedr") and "\n" not in query):
        return parse(read_text(fspath(query)), fspath(query))
    return parse(query) if isinstance(query, str) else query.to_file()


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
        queries = compile_text(f"EVENT Q WHEN ANY(A) CONSISTENCY {text}", Catalog(open=True)).queries
    except LanguageError:
        queries = {}
    level = queries["Q"].consistency if len(queries) == 1 else None
    if level is None:
        detail = "levels: STRONG, MIDDLE, WEAK, BLOCKING duration MEMORY duration"
        raise LanguageError(Diagnostic("unknown-level", f'"{text}" is not a consistency level', detail=detail))
    return level
