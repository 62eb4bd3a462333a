"""What was believed: the answers of a history.

Paper: Section 4, Figure 2.  Reading: R24: rows whose occurrence and validity overlap the closed intervals asked for, as
they had been said at a CEDR time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from cedr.connect.tables import Table as Printed
from cedr.data.change_rows import RETRACT
from cedr.data.exports import SHOWN, Exports
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.history.catalog import NAME, Catalog, Known, Segment
from cedr.history.segments import last_of_each_row, read_segments
from cedr.model.time import BEGINNING, FOREVER, Time, format_instant, parse_timestamp

_TRIES: Final = 20
_MADE_ID: Final = 32
"""IDs that are made have so many characters: enough of them is shown to tell rows apart by eye."""
Moment = int | str
"""A time as a number, or a timestamp as text."""
Period = Moment | tuple[Moment | None, Moment | None]
"""An instant, or a closed interval that may be open at either end."""


class Believed(Exports):
    """The rows that were believed, with all three clocks; ``to_arrow``, ``to_pandas`` and ``to_polars`` give them."""

    def __init__(self, name: str, rows: pa.Table, as_of: Time | None) -> None:
        self.name, self.as_of, self._rows = name, as_of, rows

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows, or some of their columns."""
        return self._rows if columns is None else self._rows.select(list(columns))

    def __len__(self) -> int:
        return int(self._rows.num_rows)

    def as_table(self, limit: int | None = SHOWN, *, clocks: bool = False) -> tuple[str, Printed]:
        """A title, and the first rows as text."""
        when = "" if self.as_of is None else f" at CEDR time {format_instant(self.as_of)}"
        title = f"{self.name}: {len(self):,} row{'' if len(self) == 1 else 's'} believed{when}"
        hidden = () if clocks else ("K", "seq", "contributors", "Rt")
        shown = self._rows if limit is None else self._rows.slice(0, limit)
        names = [name for name in shown.column_names if name not in hidden]
        cells = [[_shown(value, name) for value in shown.column(name).to_pylist()] for name in names]
        left = len(self) - shown.num_rows
        right = (place for place, name in enumerate(names) if pa.types.is_integer(shown.schema.field(name).type))
        note = f"{left:,} more row{'' if left == 1 else 's'}" if left else ""
        return title, Printed(tuple(names), tuple(zip(*cells, strict=True)), frozenset(right), note)

    def __repr__(self) -> str:
        return f"<{self.as_table(0)[0]}>"

    def __str__(self) -> str:
        title, table = self.as_table()
        return f"{title}\n{table.as_text()}"


def _shown(value: Any, name: str) -> str:
    if value is None:
        return "∞" if name in ("Ve", "Oe", "Ce") else ""
    if name == "id" and len(value) == _MADE_ID:
        return str(value[:8])
    return value.isoformat(sep=" ").replace("+00:00", "Z") if hasattr(value, "isoformat") else str(value)


class _Asked(NamedTuple):
    """What was asked, as numbers."""

    as_of: Time | None
    occurring: tuple[Time, Time]
    valid: tuple[Time, Time]
    where: Mapping[str, Any]


def read_history(
    table: str | PathLike[str],
    *,
    as_of: Moment | None = None,
    occurring: Period | None = None,
    valid: Period | None = None,
    where: Mapping[str, Any] | None = None,
    versions: bool = False,
) -> Believed:
    """What was believed at a CEDR time about a period of valid time, as of a period of occurrence time.

    ``table`` is the folder of an output in a folder of history.  Without ``as_of`` it is what is believed now.
    ``where`` has values of columns, such as ``{"id": …}``.  With ``versions`` each row has every version that was ever
    said of it by then, with Cs and Ce: the paper's history table.
    """
    asked = _Asked(_time(as_of), _period(occurring), _period(valid), dict(where or {}))
    path = Path(table)
    catalog, name, files = _opened(path)
    try:
        known = catalog.known(name)
        assert known is not None
        _check(known, asked, name)
        said = _said(catalog, files, name, known, asked)
    finally:
        catalog.close()
    rows = _versions(said) if versions else _believed(said)
    return Believed(name, _within(rows, asked), asked.as_of)


def _opened(path: Path) -> tuple[Catalog, str, Path]:
    """The catalog, the name of the output, and the folder of its files."""
    for folder, name in ((path.parent, path.name), (path, "")):
        if not (folder / NAME).is_file():
            continue
        try:
            catalog = Catalog(folder)
        except sqlite3.Error as error:
            raise StreamError(Diagnostic("cannot-read", f'the catalog in "{folder}" cannot be read: {error}')) from None
        names = catalog.names()
        if not name and len(names) == 1:
            name = names[0]
        if name in names:
            return catalog, name, folder / name
        catalog.close()
        primary = f'the history in "{folder}" has no output "{name}"' if name else "say which output"
        raise StreamError(Diagnostic("no-such-history", primary, detail=f"outputs: {', '.join(names) or 'none'}"))
    raise StreamError(Diagnostic("no-such-history", f'there is no history at "{path}"'))


def _check(known: Known, asked: _Asked, name: str) -> None:
    unknown = [column for column in asked.where if column not in known.columns.names]
    if unknown:
        detail = f"it has: {', '.join(known.columns.names)}"
        raise StreamError(Diagnostic("unknown-column", f'{name} has no column "{unknown[0]}"', detail=detail))
    if asked.as_of is not None and asked.as_of < known.since:
        primary = f"what {name} was before CEDR time {format_instant(known.since)} is not kept"
        raise StreamError(Diagnostic("not-kept", primary))


def _said(catalog: Catalog, files: Path, name: str, known: Known, asked: _Asked) -> pa.Table:
    """All change rows that bear on the answer; files that were put together meanwhile are looked for again."""
    only = None
    for column, value in asked.where.items():
        field = known.columns.field(column)
        told = pc.field(column) == pa.scalar(value).cast(field.type)
        only = told if only is None else only & told
    if asked.as_of is not None:
        by_then = pc.field("Cs") <= asked.as_of
        only = by_then if only is None else only & by_then
    for attempt in range(_TRIES):
        listed = [each.file for each in catalog.segments(name) if _bears(each, asked)]
        try:
            return read_segments(files, listed, known.columns, only)
        except FileNotFoundError:
            if attempt == _TRIES - 1:
                raise StreamError(Diagnostic("cannot-read", f'files of the history in "{files}" are gone')) from None
    raise AssertionError


def _bears(segment: Segment, asked: _Asked) -> bool:
    return asked.as_of is None or segment.first_cs <= asked.as_of


def _believed(said: pa.Table) -> pa.Table:
    """The rows as they stood: of each K what was said last, without those that never were."""
    last = last_of_each_row(said)
    rows = last.filter(pc.not_equal(last.column("change"), RETRACT))
    return rows.drop_columns(["change"]).sort_by([("Os", "ascending"), ("Vs", "ascending"), ("id", "ascending")])


def _versions(said: pa.Table) -> pa.Table:
    """Every version, with the CEDR time at which the next one of its K was said.  Paper: Figure 2."""
    rows = said.sort_by([("K", "ascending"), ("seq", "ascending")])
    keys, times = rows.column("K").to_pylist(), rows.column("Cs").to_pylist()
    following = zip(keys, [*keys[1:], None], [*times[1:], None], strict=True)
    ends = pa.array([time if key == behind else None for key, behind, time in following], pa.int64())
    place = rows.column_names.index("Cs") + 1
    rows = rows.add_column(place, "Ce", ends)
    return rows.drop_columns(["change"]).sort_by("seq")


def _within(rows: pa.Table, asked: _Asked) -> pa.Table:
    """Reading: R24: closed intervals; rows are not clipped."""
    for (low, high), start, end in ((asked.occurring, "Os", "Oe"), (asked.valid, "Vs", "Ve")):
        if (low, high) == (BEGINNING, FOREVER):
            continue
        starts = pc.cast(rows.column(start), pa.int64())
        ends = pc.fill_null(pc.cast(rows.column(end), pa.int64()), FOREVER)
        rows = rows.filter(pc.and_(pc.less_equal(starts, high), pc.greater(ends, low)))
    return rows


def _period(given: Period | None) -> tuple[Time, Time]:
    if given is None:
        return BEGINNING, FOREVER
    low, high = given if isinstance(given, tuple) else (given, given)
    start, end = _time(low), _time(high)
    return BEGINNING if start is None else start, FOREVER if end is None else end


def _time(given: Moment | None) -> Time | None:
    """A time from a number, or a timestamp.  Raises ``StreamError``."""
    if given is None or isinstance(given, int):
        return given
    text = given.strip()
    if text.lstrip("-").isdecimal():
        return int(text)
    try:
        return parse_timestamp(text)
    except ValueError:
        hint = "write a number, or a timestamp such as 2026-01-31T12:00:00Z"
        raise StreamError(Diagnostic("bad-time", f'"{given}" is no time', hint=hint)) from None
