"""``cedr check``: are these queries right?"""

from __future__ import annotations

import json
from collections.abc import Sequence

import typer

from cedr.cli.reporting import exit_status, report
from cedr.connect.files import read_text
from cedr.errors import CedrError, Diagnostic
from cedr.evaluation.catalog import declared_types, read_catalog
from cedr.language.check import check_text
from cedr.language.parse import parse_all
from cedr.model.schema import Catalog
from cedr.plan.compile import Program, compile_file

NOT_DECLARED = Diagnostic(
    "types-not-declared",
    "no event types are declared: names of types and attributes are not checked",
    hint="declare them with TYPE statements in the file, or give a catalog with --catalog",
    severity="note",
)


def check_files(names: Sequence[str], catalogs: Sequence[str], *, as_json: bool) -> None:
    """Check every file; exit status 1 if any is wrong."""
    known = read_catalog(catalogs)
    status = 0
    for name in names:
        try:
            program, declared = compiled(name, known)
        except CedrError as error:
            found = error.diagnostics
            status = max(status, exit_status(found))
        else:
            found = program.warnings if declared else (*program.warnings, NOT_DECLARED)
            if not as_json:
                typer.echo(_summary(name, program))
        _show(found, as_json=as_json)
    raise typer.Exit(status)


def compiled(name: str, known: Catalog) -> tuple[Program, bool]:
    """A file of queries, compiled against the types of a catalog and its own; and whether any type is declared.

    Errors of syntax and of meaning are raised together.
    """
    text = read_text(name)
    parsed = parse_all(text, name)
    declared = bool(known.types or declared_types(parsed.file).types)
    types = Catalog(dict(known.types), open=not declared)
    if parsed.errors:
        check_text(text, name, types)
    return compile_file(parsed.file, types), declared


def _summary(name: str, program: Program) -> str:
    queries = ", ".join(program.queries) or "no queries"
    return f"{name}: {queries}: no errors" if program.queries else f"{name}: types only: no errors"


def _show(found: Sequence[Diagnostic], *, as_json: bool) -> None:
    if as_json:
        for diagnostic in found:
            typer.echo(json.dumps(diagnostic.as_data(), ensure_ascii=False))
    else:
        report(list(found))
