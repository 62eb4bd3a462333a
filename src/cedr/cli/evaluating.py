"""``cedr eval``: a query on data or messages."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from cedr.cli.describing import Data
from cedr.cli.reporting import WRONG, report, say
from cedr.cli.show import progress, show, working
from cedr.connect.files import CANNOT_READ
from cedr.connect.rows import change_as_data, row_as_data
from cedr.consistency.measures import Measures
from cedr.data.change_log import ChangeLog
from cedr.data.writing import format_of
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError, unwritable
from cedr.hosts.event_types import read_types
from cedr.hosts.measured import measures_as_data, measures_table
from cedr.hosts.result import Result
from cedr.hosts.run import evaluate

_DRAWN = 20
"""So many dead letters are drawn with their line; the rest is told by reason."""
_SHOWN = 1_000
"""So many rows are printed as a table where nobody says how many."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be evaluated."""

    file: str
    data: Data
    event: str | None
    host: str | None
    consistency: str | None
    catalogs: tuple[str, ...]
    batch: int | None = None

    def given(self) -> Any:
        """The data, None where only the query may name it.  Raises ``StreamError``."""
        if self.file == "-" and self.data.stdin:
            reason = "standard input cannot be both the query and the messages"
            raise StreamError(Diagnostic(CANNOT_READ, reason))
        return self.data.given()


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing:
    """What is shown of a result, and how."""

    as_json: bool
    changes: bool
    measures: bool
    clocks: bool
    limit: int | None
    output: str | None
    draw: str | None


def eval_file(request: Request, printing: Printing, *, strict: bool, dead_letters: str | None) -> None:
    """Evaluate and print; dead letters and warnings go to standard error."""
    if printing.output is not None:
        format_of(printing.output)  # a wrong name is told before anything is computed
    result = _evaluated(request)
    report(result.warnings)
    letters, summary = result.dead_letters, result.summary
    stream = result.change_stream(progress) if printing.changes or printing.measures else None
    if printing.changes and stream is not None:
        report(stream.warnings)
        letters, summary = stream.dead_letters, stream.summary
        _print(stream.changes, printing, (change_as_data(change, result.primitive) for change in stream.changes))
    else:
        _print(result, printing, (row_as_data(row, result.primitive) for row in result.first(printing.limit)))
    if printing.measures and stream is not None and stream.measures is not None:
        print_measures([stream.measures], as_json=printing.as_json)
    if printing.draw is not None:
        picture = result.draw()
        picture.save(printing.draw)
        say(f"{printing.draw}: {picture.note}")
    _report_dead_letters(letters, summary)
    if dead_letters is not None:
        _write_dead_letters(letters, dead_letters)
    raise typer.Exit(WRONG if strict and letters else 0)


def _evaluated(request: Request) -> Result:
    data = request.given()
    catalog = read_types(request.catalogs)
    with working("evaluating"):
        return evaluate(
            Path(request.file),
            data,
            host=request.host,
            consistency=request.consistency,
            event=request.event,
            catalog=catalog,
            batch=request.batch,
            bad_rows=request.data.bad_rows,
            **request.data.words,
        )


def _print(found: Result | ChangeLog, printing: Printing, lines: Iterable[Mapping[str, object]]) -> None:
    if printing.output is not None:
        found.write(printing.output)
        say(f"{printing.output}: {len(found):,} rows")
    elif printing.as_json:
        _print_lines(islice(lines, printing.limit))
    else:
        show(*found.as_table(_SHOWN if printing.limit is None else printing.limit, clocks=printing.clocks))


def print_measures(measures: Sequence[Measures], *, as_json: bool) -> None:
    """What each level has cost, as a table or as a line of JSON."""
    if as_json:
        _print_lines([{"measures": measures_as_data(each)} for each in measures])
        return
    print()
    show("", measures_table(measures))


def _print_lines(lines: Iterable[Mapping[str, object]]) -> None:
    for line in lines:
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")


def _report_dead_letters(letters: Sequence[Diagnostic], summary: Sequence[Diagnostic] | None) -> None:
    """Of data a line for each reason; of messages the first ones drawn at their place, and the rest by reason."""
    if not letters:
        return
    report(list(letters[:_DRAWN] if summary is None else summary))
    if summary is None:
        for code, several in _by_code(letters[_DRAWN:]).items():
            first = several[0]
            place = (
                ""
                if first.span is None
                else f" (first: {first.span.source.name}:{first.span.line}:{first.span.column})"
            )
            say(f"{first.severity}[{code}]: {len(several):,} more: {first.primary}{place}")
    say(f"{len(letters):,} dead letter{'' if len(letters) == 1 else 's'}")


def _by_code(letters: Sequence[Diagnostic]) -> dict[str, list[Diagnostic]]:
    found: dict[str, list[Diagnostic]] = {}
    for letter in letters:
        found.setdefault(letter.code, []).append(letter)
    return found


def _write_dead_letters(letters: Sequence[Diagnostic], path: str) -> None:
    lines = (json.dumps(letter.as_data(), ensure_ascii=False) + "\n" for letter in letters)
    try:
        with Path(path).open("w", encoding="utf-8") as stream:
            stream.writelines(lines)
    except OSError as error:
        raise unwritable(path, error) from None
