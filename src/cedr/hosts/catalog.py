"""``cedr.Catalog``: event types and named queries that belong together, from texts, files, folders and Python.

Paper: Section 3 (queries compose).  Readings: R32, R43, R44.

    catalog = cedr.Catalog("queries/", "types.cedr", query_built_in_python)
    catalog.queries                  each compiled, by its name, after those that it reads
    catalog.types                    the event types that are declared
    catalog.add(…), .replace(…), .remove("Name")
    cedr.run(catalog, messages)      one pipeline for all of them

It is also a query as ``cedr.evaluate``, ``cedr.explain`` and a job take one: ``to_file`` gives the tree of it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import LanguageError, StreamError
from cedr.diagnostics.span import Span
from cedr.hosts.event_types import declared_types
from cedr.hosts.queries import Builder, is_path, query_file
from cedr.language.check import uses_of
from cedr.language.render import render
from cedr.language.syntax import AttributeDeclaration, File, Query, Statement, TypeDeclaration
from cedr.model.schema import EventType, EventTypes
from cedr.plan.compile import CompiledQuery, Program, compile_file

Part = str | PathLike[str] | Builder | File | EventType | EventTypes | Iterable[Any]
"""What a catalog is made of: a text, a file, a folder of ``.cedr`` files, something built in Python, or several."""


class Catalog:
    """Event types and named queries.  Raises ``LanguageError`` for what does not fit together, with its places."""

    def __init__(self, *parts: Part) -> None:
        self._statements: dict[str, Statement] = {}
        self._program = Program({}, EventTypes())
        if parts:
            self.add(*parts)

    # -- what it holds ------------------------------------------------------------------------------------------------

    @property
    def queries(self) -> Mapping[str, CompiledQuery]:
        """The queries by name, each after those that it reads."""
        return {name: self._program.queries[name] for name in self.order}

    @property
    def types(self) -> EventTypes:
        """The event types that are declared."""
        return declared_types(self.to_file())

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is allowed and hardly ever meant."""
        return self._program.warnings

    @property
    def order(self) -> list[str]:
        """The names of the queries, each after those that it reads."""
        found: dict[str, None] = {}

        def place(name: str) -> None:
            if name not in found:
                for used in self.reads(name):
                    place(used)
                found[name] = None

        for query in self._queries():
            place(query.name)
        return list(found)

    def statement(self, name: str) -> Statement:
        """A query as it is written."""
        return self._statements[name]

    def reads(self, name: str) -> list[str]:
        """The queries that a query reads."""
        query = self._statements[name]
        assert isinstance(query, Query)
        return [used for used in uses_of(query) if isinstance(self._statements.get(used), Query)]

    def readers(self, name: str) -> list[str]:
        """The queries that read a query."""
        return [query.name for query in self._queries() if name in self.reads(query.name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(self._statements.get(str(name)), Query)

    def __iter__(self) -> Iterator[str]:
        return iter(self.order)

    def __len__(self) -> int:
        return sum(1 for _ in self._queries())

    def __repr__(self) -> str:
        return f"<Catalog of {len(self)} queries: {', '.join(self.order)}>"

    def to_file(self) -> File:
        """All statements: the types, then the queries, each after those that it reads."""
        types = [each for each in self._statements.values() if isinstance(each, TypeDeclaration)]
        return File((*types, *(self._statements[name] for name in self.order)))

    def to_text(self) -> str:
        """The same as a text: what is stored, and what can be read again."""
        return render(self.to_file())

    def copy(self) -> Catalog:
        """A catalog of its own with the same statements."""
        other = Catalog()
        other._statements, other._program = dict(self._statements), self._program
        return other

    # -- changes ------------------------------------------------------------------------------------------------------

    def add(self, *parts: Part) -> list[str]:
        """Add types and queries; the names of the queries.  A type that is declared twice alike is one."""
        come = dict(self._statements)
        names = []
        for statement in _statements(parts):
            known = come.get(statement.name)
            if known is not None and not (isinstance(known, TypeDeclaration) and known == statement):
                raise LanguageError(_defined_twice(statement, known))
            come[statement.name] = statement
            names += [statement.name] if isinstance(statement, Query) else []
        self._take(come)
        return names

    def replace(self, *parts: Part) -> list[str]:
        """Put queries in the place of those of the same names; the names.

        What others read of them must still be there.  Types that are declared alike, or are new, may come with them.
        """
        come = dict(self._statements)
        names = []
        for statement in _statements(parts):
            known = come.get(statement.name)
            if isinstance(statement, Query) and not isinstance(known, Query):
                raise self._unknown(statement.name)
            if isinstance(statement, TypeDeclaration) and known is not None and known != statement:
                raise LanguageError(_defined_twice(statement, known))
            come[statement.name] = statement
            names += [statement.name] if isinstance(statement, Query) else []
        self._take(come, replaced=names)
        return names

    def remove(self, *names: str) -> None:
        """Remove queries.  One that others read goes only with them."""
        for name in names:
            if name not in self:
                raise self._unknown(name)
        read = [(name, reader) for name in names for reader in self.readers(name) if reader not in names]
        if read:
            raise LanguageError([self._in_use(name, reader) for name, reader in read])
        self._take({name: each for name, each in self._statements.items() if name not in names})

    def _take(self, statements: dict[str, Statement], replaced: Sequence[str] = ()) -> None:
        """Take over other statements, where they fit together."""
        file = File(tuple(statements.values()))
        declared = any(isinstance(each, TypeDeclaration) for each in file.statements)
        try:
            program = compile_file(file, EventTypes(open=not declared))
        except LanguageError as error:
            if not replaced:
                raise
            raise LanguageError([self._of_reader(each, replaced) for each in error.diagnostics]) from None
        self._statements, self._program = statements, program

    # -- what may be wrong --------------------------------------------------------------------------------------------

    def _of_reader(self, error: Diagnostic, replaced: Sequence[str]) -> Diagnostic:
        """An error in a query that stays, as what it is: it reads what the replacement has no more."""
        for name, read in ((reader, one) for one in replaced for reader in self.readers(one)):
            if name not in replaced and _within(error.span, self._statements[name].span):
                primary = f'query "{name}" reads "{read}", and does not fit what that is to be'
                hint = f'replace "{name}" with it, or give "{read}" the attributes that it had'
                return Diagnostic("reader-does-not-fit", primary, error.span, error.label, error.primary, hint)
        return error

    def _in_use(self, name: str, reader: str) -> Diagnostic:
        query = self._statements[reader]
        return Diagnostic(
            "query-in-use",
            f'query "{name}" cannot go: "{reader}" reads it',
            query.span,
            hint=f'remove "{reader}" with it',
        )

    def _unknown(self, name: str) -> LanguageError:
        detail = f"queries: {', '.join(self.order) or 'none'}"
        return LanguageError(Diagnostic("unknown-query", f'there is no query "{name}"', detail=detail))

    def _queries(self) -> Iterator[Query]:
        return (each for each in self._statements.values() if isinstance(each, Query))


def _within(place: Span | None, whole: Span | None) -> bool:
    """Whether a place is in a statement."""
    if place is None or whole is None or place.source is not whole.source:
        return False
    return whole.start <= place.start < whole.end


def _defined_twice(statement: Statement, known: Statement) -> Diagnostic:
    span = statement.name_span if isinstance(statement, Query) else statement.span
    first = () if known.span is None else ((known.span, "first defined here"),)
    both = isinstance(statement, TypeDeclaration) and isinstance(known, TypeDeclaration)
    primary = f'"{statement.name}" is {"declared in two ways" if both else "defined twice"}'
    hint = "event types and queries share their names: rename one of them"
    return Diagnostic("duplicate-name", primary, span or statement.span, hint=hint, related=first)


def _statements(parts: Iterable[Part]) -> Iterator[Statement]:
    """The statements of what a catalog is made of."""
    for part in parts:
        if isinstance(part, EventType):
            yield _declaration(part)
        elif isinstance(part, EventTypes):
            yield from map(_declaration, part)
        elif isinstance(part, str | PathLike) and _is_folder(part):
            yield from _statements(_files_in(Path(fspath(part))))
        elif isinstance(part, Iterable) and not isinstance(part, str | Builder):
            yield from _statements(part)
        else:
            yield from query_file(part).statements


def file_of_folder(folder: Path) -> File:
    """The statements of all ``.cedr`` files of a folder; a type that is declared alike twice is one."""
    found: list[Statement] = []
    for statement in _statements(_files_in(folder)):
        if isinstance(statement, Query) or statement not in found:
            found.append(statement)
    return File(tuple(found))


def _is_folder(part: str | PathLike[str]) -> bool:
    text = fspath(part)
    if "\n" in text or is_path(text):
        return False
    try:
        return Path(text).is_dir()
    except OSError:  # too long for a name: a text of queries on one line
        return False


def _files_in(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.cedr"))
    if not found:
        raise StreamError(Diagnostic("no-files", f"the folder {folder} has no .cedr file"))
    return found


def _declaration(event_type: EventType) -> TypeDeclaration:
    attributes = tuple(
        AttributeDeclaration(name, of, event_type.shapes.get(name)) for name, of in event_type.attributes.items()
    )
    return TypeDeclaration(event_type.name, attributes, event_type.revisable)
