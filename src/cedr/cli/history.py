"""``cedr history``: what was believed, from the history of an output."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from typing import Any

from cedr.cli.show import show
from cedr.data.exports import SHOWN
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.history.reading import Believed, read_history
from cedr.sinks.streams.lines import as_data


def show_history(  # noqa: PLR0913 - one for each option
    table: str | PathLike[str],
    *,
    as_of: str | None,
    occurring: str | None,
    valid: str | None,
    where: Iterable[str],
    versions: bool,
    as_json: bool,
    clocks: bool,
    limit: int | None,
    output: str | None,
) -> None:
    """Print what was believed, or write it into a file."""
    found = read_history(
        table,
        as_of=as_of,
        occurring=period(occurring),
        valid=period(valid),
        where=dict(map(_condition, where)),
        versions=versions,
    )
    if output is not None:
        found.write(output)
    elif as_json:
        _print_lines(found, limit)
    else:
        show(*found.as_table(SHOWN if limit is None else limit, clocks=clocks))


def _print_lines(found: Believed, limit: int | None) -> None:
    rows = found.to_arrow()
    for row in as_data(rows if limit is None else rows.slice(0, limit)):
        print(json.dumps(row, ensure_ascii=False))


def period(told: str | None) -> Any:
    """An instant, or ``A..B``, of which either may be missing.

    >>> period("3..7"), period("3.."), period("3"), period(None)
    (('3', '7'), ('3', None), '3', None)
    """
    if told is None or ".." not in told:
        return told
    low, _, high = told.partition("..")
    return low.strip() or None, high.strip() or None


def _condition(told: str) -> tuple[str, str]:
    name, equals, value = told.partition("=")
    if not equals or not name:
        raise StreamError(Diagnostic("bad-word", f'"{told}" is no condition', hint="write it as NAME=VALUE"))
    return name.strip(), value
