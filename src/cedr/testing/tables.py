"""History tables as text in the paper's own notation, so that a test is the figure and one call.

    history_table(text)    one table             annotated_table(text)  with the column Sync
    history_tables(text)   side by side          events_table(text, s)  rows of stream s
    format_table(table)    back to text

``cedr.testing.grid`` says what is understood.  The column ``cbt`` (ids of the primitive contributors) is written and
compared, but not read into rows: an id is not yet an event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from cedr.model.annotated import AnnotatedRow, AnnotatedTable
from cedr.model.event import Event, primitive_contributors
from cedr.model.history import HistoryRow, HistoryTable
from cedr.model.time import Time, format_time
from cedr.testing.grid import COLUMNS, Grid, format_payload, read_grids, read_payload, read_time

Table = HistoryTable | AnnotatedTable | Iterable[Event]
"""What can be shown as a table: a history table, plain or annotated, or the rows of a stream."""


def history_table(text: str) -> HistoryTable:
    """The history table that a text shows; a column Sync is left aside.

    Paper: Section 4, Figure 2.

    >>> table = history_table('''
    ... | K  | $O_s$ | $O_e$ | $C_s$ | $C_e$ | ... |
    ... |----|-------|-------|-------|-------|-----|
    ... | E0 | 1     | 5     | 1     | 3     | ... |
    ... | **E0** | **1** | **3** | **3** | **∞** | ... |
    ... ''')
    >>> [(row.lineage_key, row.occurrence_end) for row in table]
    [('E0', 5), ('E0', 3)]
    """
    tables = history_tables(text)
    if len(tables) > 1:
        message = f"the text shows {len(tables)} tables side by side: read them with history_tables"
        raise ValueError(message)
    return tables[0]


def history_tables(text: str) -> list[HistoryTable]:
    """The history tables that stand side by side in a text.  Paper: Section 4, Figures 3 to 5."""
    return [_history(grid) for grid in read_grids(text)]


def annotated_table(text: str) -> AnnotatedTable:
    """The annotated history table that a text shows.  Paper: Section 4, Figure 6."""
    (grid,) = read_grids(text)
    syncs = map(read_time, grid.column("Sync"))
    return AnnotatedTable(tuple(map(AnnotatedRow, syncs, _history(grid))))


def events_table(text: str, stream: str) -> list[Event]:
    """The rows of a stream that a text shows; what it does not show has its default.  Reading: R2.

    Paper: Section 2, Figure 1.

    >>> [(e.id, e.occurrence_start) for e in events_table('''
    ... | ID | Vs |
    ... | e0 | 1  |
    ... ''', "A")]
    [('e0', 1)]
    """
    return history_table(text).events(stream)


def format_table(table: Table, columns: Sequence[str] | None = None) -> str:
    """A table as text: the given columns, or those in which it shows something."""
    return str(grid_of(table, columns))


def grid_of(table: Table, columns: Sequence[str] | None = None) -> Grid:
    """A table as a grid of text: the given columns, or those in which it shows something."""
    cells = [_shown(row) for row in (table if isinstance(table, AnnotatedTable) else _rows(table))]
    names = tuple(columns or (name for name in COLUMNS if any(row.get(name) for row in cells)))
    return Grid(names, tuple(tuple(row.get(name, "") for name in names) for row in cells))


def _rows(table: HistoryTable | Iterable[Event]) -> HistoryTable:
    return table if isinstance(table, HistoryTable) else HistoryTable.from_events(table)


def _history(grid: Grid) -> HistoryTable:
    rows = (dict(zip(grid.columns, row, strict=True)) for row in grid.rows)
    return HistoryTable(tuple(_row(cells) for cells in rows))


def _row(cells: Mapping[str, str]) -> HistoryRow:
    def time(name: str) -> Time | None:
        return read_time(cells[name]) if cells.get(name) else None

    return HistoryRow(
        id=cells.get("ID") or None,
        valid_start=time("Vs"),
        valid_end=time("Ve"),
        occurrence_start=time("Os"),
        occurrence_end=time("Oe"),
        cedr_start=time("Cs"),
        cedr_end=time("Ce"),
        lineage_key=cells.get("K") or None,
        payload=read_payload(cells["Payload"]) if cells.get("Payload") else None,
        root_time=time("Rt"),
    )


_TIMES: Mapping[str, Callable[[HistoryRow], Time | None]] = {
    "Vs": lambda row: row.valid_start,
    "Ve": lambda row: row.valid_end,
    "Os": lambda row: row.occurrence_start,
    "Oe": lambda row: row.occurrence_end,
    "Cs": lambda row: row.cedr_start,
    "Ce": lambda row: row.cedr_end,
    "Rt": lambda row: row.root_time,
}


def _shown(row: HistoryRow | AnnotatedRow) -> dict[str, str]:
    """The cells of a row by column."""
    if isinstance(row, AnnotatedRow):
        return {**_shown(row.row), "Sync": format_time(row.sync)}
    times = {name: time for name, read in _TIMES.items() if (time := read(row)) is not None}
    return {
        "ID": row.id or "",
        "K": row.lineage_key or "",
        **{name: format_time(time) for name, time in times.items()},
        "cbt": ", ".join(leaf.id for event in row.contributors for leaf in primitive_contributors(event)),
        "Payload": "" if row.payload is None else format_payload(row.payload),
    }
