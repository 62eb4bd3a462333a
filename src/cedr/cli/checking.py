"""``cedr check``: are these queries right?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from cedr.cli.reporting import exit_status, report
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import CedrError
from cedr.diagnostics.span import Span
from cedr.hosts.event_types import read_types
from cedr.hosts.queries import query_file, types_for
from cedr.model.level import MIDDLE
from cedr.model.schema import EventTypes
from cedr.plan.compile import Program, compile_file
from cedr.plan.notes import unless_note

NOT_DECLARED = Diagnostic(
    "types-not-declared",
    "no event types are declared: names of types and attributes are not checked",
    hint="declare them with TYPE statements in the file, or give a catalog with --catalog",
    severity="note",
)


def check_files(names: Sequence[str], catalogs: Sequence[str], *, as_json: bool) -> None:
    """Check every file; exit status 1 if any is wrong."""
    known = read_types(catalogs)
    status = 0
    for name in names:
        try:
            program, declared = compiled(name, known)
        except CedrError as error:
            found = error.diagnostics
            status = max(status, exit_status(found))
        else:
            found = (*program.warnings, *_notes(program), *(() if declared else (NOT_DECLARED,)))
            if not as_json:
                typer.echo(_summary(name, program))
        _show(found, as_json=as_json)
    raise typer.Exit(status)


def compiled(name: str, known: EventTypes) -> tuple[Program, bool]:
    """A file of queries, compiled against the types of a catalog and its own; and whether any type is declared.

    Errors of syntax and of meaning are raised together.
    """
    file = query_file(Path(name), known)
    types = types_for(file, known)
    return compile_file(file, types), not types.open


def _notes(program: Program) -> Iterator[Diagnostic]:
    """What queries do at their levels that surprises; one place is told once, though others read that query (R43)."""
    told: set[Span | None] = set()
    for query in program.queries.values():
        note = unless_note(query.plan, query.consistency or MIDDLE)
        if note is not None and note.span not in told:
            yield note
            told.update((note.span, *(span for span, _ in note.related)))


def _summary(name: str, program: Program) -> str:
    queries = ", ".join(program.queries) or "no queries"
    return f"{name}: {queries}: no errors" if program.queries else f"{name}: types only: no errors"


def _show(found: Sequence[Diagnostic], *, as_json: bool) -> None:
    if as_json:
        for diagnostic in found:
            typer.echo(json.dumps(diagnostic.as_data(), ensure_ascii=False))
    else:
        report(list(found))
