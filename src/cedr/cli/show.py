"""Tables and progress: with colour and lines on a terminal, plain where the output is read by something else."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from cedr.connect.tables import Table

T = TypeVar("T")
_LONG = 200
"""From so many steps on it is worth showing how far they have come."""


def show(title: str, table: Table) -> None:
    """A table with its title on standard output."""
    if sys.stdout.isatty():
        _show_rich(title, table)
    else:
        print("\n".join([title] * bool(title) + [table.as_text()]))


def _show_rich(title: str, table: Table) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False, title_justify="left")
    drawn.title = Text(title) if title else None
    drawn.caption, drawn.caption_justify = Text(table.note) if table.note else None, "left"
    for column, head in enumerate(table.heads):
        drawn.add_column(Text(head), justify="right" if column in table.right else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(cell) for cell in row), style=_STYLES.get(row[1] if len(row) > 1 else ""))
    Console().print(drawn)


_STYLES = {"insert": "green", "retract": "red", "guarantee": "dim"}


def progress(items: Sequence[T], what: str) -> Iterable[T]:
    """Passes items on, with a bar on standard error where that is a terminal and there are many."""
    if len(items) < _LONG or not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, description=what, console=Console(stderr=True), transient=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Shows on standard error that something goes on, where that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
