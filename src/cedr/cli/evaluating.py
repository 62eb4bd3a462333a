"""``cedr eval``: a query on a file of messages."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from cedr.cli.reporting import WRONG, report, say
from cedr.cli.show import progress, show, working
from cedr.connect.files import CANNOT_READ
from cedr.connect.rows import Data, change_as_data
from cedr.connect.tables import changes_table, rows_table
from cedr.consistency.measures import Measures
from cedr.errors import Diagnostic, StreamError
from cedr.evaluation.catalog import read_catalog
from cedr.evaluation.measured import measures_as_data, measures_table
from cedr.evaluation.result import Result
from cedr.evaluation.run import evaluate
from cedr.model.stream import Change

_DRAWN = 20
"""So many dead letters are drawn with their line; the rest is a line each."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be evaluated."""

    file: str
    messages: str
    event: str | None
    host: str | None
    consistency: str | None
    catalogs: tuple[str, ...]


def eval_file(request: Request, *, as_json: bool, changes: bool, measures: bool, strict: bool) -> None:
    """Evaluate and print; dead letters and warnings go to standard error."""
    result = _evaluated(request)
    report(result.warnings)
    letters = result.dead_letters
    said = result.change_stream(progress) if changes or measures else None
    if changes and said is not None:
        letters = said.dead_letters
        _print_changes(result, said.changes, as_json=as_json)
    elif as_json:
        _print_lines(result.to_dicts())
    else:
        show(result.title, rows_table(result.rows, result.type, result.primitive))
    if measures and said is not None and said.measures is not None:
        print_measures([said.measures], as_json=as_json)
    _report_dead_letters(letters)
    raise typer.Exit(WRONG if strict and letters else 0)


def not_both_from_stdin(request: Request) -> None:
    """Raises ``StreamError`` where the query and the messages would be read from the same stream."""
    if request.file == request.messages == "-":
        reason = "standard input cannot be both the query and the messages"
        raise StreamError(Diagnostic(CANNOT_READ, reason))


def _evaluated(request: Request) -> Result:
    not_both_from_stdin(request)
    catalog = read_catalog(request.catalogs)
    with working("evaluating"):
        return evaluate(
            Path(request.file),
            request.messages,
            host=request.host,
            consistency=request.consistency,
            event=request.event,
            catalog=catalog,
        )


def _print_changes(result: Result, said: Sequence[Change], *, as_json: bool) -> None:
    if as_json:
        _print_lines([change_as_data(change, result.primitive) for change in said])
    else:
        title = f"{result.name}: {len(said)} changes at {result.level}"
        show(title, changes_table(said, result.type, result.primitive))


def print_measures(measures: Sequence[Measures], *, as_json: bool) -> None:
    """What each level has cost, as a table or as a line of JSON."""
    if as_json:
        _print_lines([{"measures": measures_as_data(each)} for each in measures])
        return
    print()
    show("", measures_table(measures))


def _print_lines(lines: Iterable[Data]) -> None:
    for line in lines:
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")


def _report_dead_letters(letters: Sequence[Diagnostic]) -> None:
    if not letters:
        return
    report(list(letters[:_DRAWN]))
    for letter in letters[_DRAWN:]:
        place = "" if letter.span is None else f"{letter.span.source.name}:{letter.span.line}:{letter.span.column}: "
        say(f"{place}{letter.severity}[{letter.code}]: {letter.primary}")
    say(f"{len(letters)} dead letter{'' if len(letters) == 1 else 's'}")
