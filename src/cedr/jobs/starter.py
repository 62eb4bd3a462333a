"""A job file to start from, written after a look at a file of data: every line says why it is there.

Readings: R39 (a bound on disorder), R50 (units of time).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.instants import read_times
from cedr.data.opening import local_events
from cedr.data.values import inferred, plain, type_of
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, DAY, HOUR, MINUTE, SECOND, format_duration

_ROWS: Final = 200_000
_NICE: Final = tuple(
    unit * count
    for unit, counts in (
        (SECOND, (1, 2, 5, 10, 30)),
        (MINUTE, (1, 2, 5, 10, 30)),
        (HOUR, (1, 2, 6, 12)),
        (DAY, (1, 2, 7, 30)),
    )
    for count in counts
)
_UNITS: Final = (("s", 10**9), ("ms", 10**12), ("us", 10**15), ("ns", 10**18))
"""The units of times since 1970, and about how many of them there were up to now."""
_TIMELY: Final = re.compile(r"(?i)(time|date|stamp|^ts$|^at$|_at$|_ts$|when|created|occurred)")
_NAMING: Final = re.compile(r"(?i)(^id$|_id$|id$|uuid|number|^no$|_no$)")


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at the data has found."""

    rows: int
    columns: Mapping[str, DataType]
    time: str
    unit: str | None
    """Of times that are numbers."""
    id: str | None
    key: str | None
    disorder: int | None
    """How late rows are behind the newest one before them; None if the times have no unit."""
    scope: int


def look_at(path: Path) -> Look:
    """Look at the first rows of a file or folder.  Raises ``StreamError`` where no column has times."""
    (source,) = local_events(path, {"type": "'X'"}).sources
    origin = source.origin
    raw = origin.read(origin.names())
    table = raw.table.slice(0, _ROWS)
    kinds = {name: _kind(table.column(name), untyped=name in raw.untyped) for name in table.column_names}
    time, unit = _time(table, kinds)
    given: pa.Array = plain(table.column(time))
    read = read_times(given, unit, None, "UTC", truncate=True)
    if read is None:
        raise _no_time(kinds)
    times = read.times[read.times > BEGINNING]
    stamped = unit is not None or kinds[time] in (DataType.TIMESTAMP, DataType.DATE)
    others = [name for name in table.column_names if name != time]
    named = _id(table, others)
    key = _key(table, [name for name in others if name != named], kinds)
    behind = int((np.maximum.accumulate(times) - times).max()) if len(times) else 0
    return Look(
        rows=table.num_rows,
        columns=kinds,
        time=time,
        unit=unit,
        id=named,
        key=key,
        disorder=(_nice(behind) if stamped else behind) if behind else (SECOND if stamped else 0),
        scope=_scope(table, key, read.times, stamped=stamped),
    )


def _kind(column: pa.ChunkedArray, *, untyped: bool) -> DataType:
    return inferred(plain(column)) if untyped else type_of(column.type)


def _time(table: pa.Table, kinds: Mapping[str, DataType]) -> tuple[str, str | None]:
    """The column of times, and its unit if it holds numbers."""
    stamps = [name for name, of in kinds.items() if of in (DataType.TIMESTAMP, DataType.DATE)]
    if stamps:
        return next((name for name in stamps if _TIMELY.search(name)), stamps[0]), None
    numbers = [name for name, of in kinds.items() if of is DataType.INTEGER]
    for name in sorted(numbers, key=lambda name: _TIMELY.search(name) is None):
        middle = pc.quantile(plain(table.column(name)).cast(pa.int64()), 0.5)[0].as_py() or 0
        for unit, about in _UNITS:
            if about < middle < 5 * about:
                return name, unit
        if _TIMELY.search(name):
            return name, "ticks"
    raise _no_time(kinds)


def _no_time(kinds: Mapping[str, DataType]) -> StreamError:
    detail = f"the columns are: {', '.join(f'{name} ({of})' for name, of in kinds.items())}"
    hint = "times are ISO 8601, or numbers since 1970; cedr eval --time-format reads other forms"
    return StreamError(
        Diagnostic("unknown-column", "no column looks like the time of an event", detail=detail, hint=hint)
    )


def _id(table: pa.Table, names: Sequence[str]) -> str | None:
    """The column that names an event: nearly all of its values differ."""
    for name in (each for each in names if _NAMING.search(each)):
        column = table.column(name)
        if column.null_count == 0 and pc.count_distinct(column).as_py() > 0.9 * table.num_rows:
            return name
    return None


def _key(table: pa.Table, names: Sequence[str], kinds: Mapping[str, DataType]) -> str | None:
    """The column that events have in common: of those whose values repeat, the one with most of them."""
    counts = {
        name: pc.count_distinct(table.column(name)).as_py()
        for name in names
        if kinds[name] in (DataType.STRING, DataType.INTEGER)
    }
    fitting = {name: count for name, count in counts.items() if 1 < count <= table.num_rows / 2}
    return max(fitting, key=lambda name: fitting[name], default=None)


def _scope(table: pa.Table, key: str | None, times: Any, *, stamped: bool) -> int:
    """The time within which two events of one key usually follow each other."""
    usable = times > BEGINNING
    ordered = np.sort(times[usable])
    gaps = np.diff(ordered)
    if key is not None:
        codes = table.column(key).combine_chunks().dictionary_encode()
        numbers = pc.fill_null(codes.indices if hasattr(codes, "indices") else codes.combine_chunks().indices, 0)
        own = np.asarray(numbers)[usable]
        order = np.lexsort((times[usable], own))
        same = np.diff(own[order]) == 0
        gaps = np.diff(times[usable][order])[same]
    usual = int(np.median(gaps)) if len(gaps) else MINUTE if stamped else 10
    return _nice(usual) if stamped else max(1, usual)


def _nice(duration: int) -> int:
    """The next duration that people would write."""
    return next((each for each in _NICE if each >= duration), duration // DAY * DAY + DAY)


_TEXT: Final = """\
# A job made by `cedr new {data}`.  Run it: cedr run {stem}.toml
# {rows:,} rows were looked at.  Columns: {listed}

[sources.{low}]
path = {path}
type = "{event}"  # the event type of all rows
time = {time}  # the column that tells when an event happened
{unit}{id}
disorder = "{disorder}"  # how late a row may be behind the newest one before it; in this data none is later

[queries]
# {about} within {scope}.  Change it to your question: docs/reference/language.md
# has the whole language; `cedr check` and `cedr explain` look at a query.
text = '''
EVENT {name}
WHEN SEQUENCE(LAST {event} AS a, FIRST {event} AS b, {scope})
{where}OUTPUT {outputs}
'''

[outputs.view]  # a table that always holds the latest belief: it is corrected when late rows come
kind = "sqlite"
path = "{low}.db"
table = "{name}"
"""


def starter(data: str, folder: Path) -> str:
    """The text of a job file in a folder, for data at a path."""
    found = look_at(Path(data))
    stem = stem_of(data)
    event = stem.upper() if not stem[0].isdigit() else f"E{stem.upper()}"
    stamped = found.unit != "ticks"
    others = (each for each in found.columns if each not in (found.time, found.key))
    shown = [each for each in (found.key, *others) if each is not None][:3]
    known = f"id = {_text(found.id or '')}  # the column that names an event: a row that comes twice counts once"
    return _TEXT.format(
        data=data,
        stem=stem,
        low=stem.lower(),
        event=event,
        rows=found.rows,
        listed=", ".join(f"{each} ({of})" for each, of in found.columns.items()),
        path=_text(os.path.relpath(data, folder) + ("/" if Path(data).is_dir() else "")),
        time=_text(found.time),
        unit="" if found.unit is None else f'time_unit = "{found.unit}"  # what its numbers count\n',
        id=known if found.id is not None else '# id = "…"  # no column names an event: equal rows count once',
        disorder=format_duration(found.disorder or 0) if stamped else found.disorder,
        about=f"Two events in a row{f' of the same {found.key}' if found.key else ''}",
        name=f"Two{event.title().replace('_', '')}",
        scope=format_duration(found.scope) if stamped else found.scope,
        where="" if found.key is None else f"WHERE CorrelationKey({_name(found.key)}, EQUAL)\n",
        outputs=", ".join(f"b.{_name(each)} AS {_name(each)}" for each in shown) or "b.Vs AS since",
    )


def stem_of(data: str) -> str:
    """The name of a job about data at a path."""
    return re.sub(r"\W", "_", Path(data.rstrip("/")).name.split(".")[0]) or "events"


def _name(column: str) -> str:
    return column if re.fullmatch(r"[A-Za-z_]\w*", column) else f'"{column}"'


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
