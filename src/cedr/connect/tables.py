"""Rows and changes as tables of text, with the paper's column heads (Figures 1 and 2).

IDs made by ``idgen`` are cut to eight characters: enough to tell rows apart by eye.  Times are shown as timestamps
where they are such, else as the numbers they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import east_asian_width

from cedr.connect.rows import contributor_ids
from cedr.connect.values import as_json
from cedr.model.event import Event, Value
from cedr.model.schema import DataType, EventType
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract, default_key
from cedr.model.time import FIRST_TIMESTAMP, FOREVER, MINUTE, Time, format_time, format_timestamp

HEADER = ("ID", "Vs", "Ve", "Os", "Oe", "Rt", "cbt[]")
_BEFORE, _AFTER = ("Vs", "Ve"), ("contributors",)
"""What stands before and after the payload where not all clocks are asked for."""
_NAMES = frozenset({"ID", "cbt[]", "K", "type", "contributors"})
_MADE_ID = 32
_DAY = len("2026-01-31")
_BREAKS = re.compile(r"\r\n|[\r\n\v\f\x85\u2028\u2029]")
"""What would break a row of a table."""


@dataclass(frozen=True, slots=True)
class Table:
    """Column heads and cells, all text; ``right`` are the columns of numbers, ``note`` goes below."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    note: str = ""

    def as_text(self) -> str:
        """The table in plain characters."""
        widths = [max(map(_width, column)) for column in zip(self.heads, *self.rows, strict=True)]
        lines = [self._line(self.heads, widths), "  ".join("-" * width for width in widths)]
        lines += [self._line(row, widths) for row in self.rows]
        return "\n".join([*lines, self.note] if self.note else lines)

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        placed = []
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            pad = " " * (width - _width(cell))
            placed.append(pad + cell if column in self.right else cell + pad)
        return "  ".join(placed).rstrip()


def rows_table(
    rows: Sequence[Event],
    event_type: EventType | None,
    primitive: Collection[str],
    *,
    clocks: bool = True,
    left: int = 0,
) -> Table:
    """The rows of a result, with all clocks or with valid time alone; ``left`` rows are not shown."""
    columns = _columns(event_type, rows)
    clock = Clock.of(rows)
    cells = tuple(_row(row, columns, clock, primitive, clocks=clocks) for row in rows)
    heads = _heads(columns, clocks=clocks)
    return Table(heads, cells, _numbers(heads, cells), _note(clock, left))


def changes_table(
    changes: Sequence[Change],
    event_type: EventType | None,
    primitive: Collection[str],
    *,
    clocks: bool = True,
    left: int = 0,
) -> Table:
    """A change stream: what was emitted when, a retraction as the row that it leaves.  Paper: Figure 2."""
    rows = [change.event for change in changes if change.event is not None]
    columns = _columns(event_type, rows)
    told = [change.message.time for change in changes if isinstance(change.message, Guarantee)]
    clock = Clock.of(rows) if rows else Clock(any(FIRST_TIMESTAMP <= time < FOREVER - 1 for time in told))
    cells = tuple(_change(change, clock, columns, primitive, clocks=clocks) for change in changes)
    heads = ("Cs", "change", *_heads(columns, clocks=clocks))
    return Table(heads, cells, _numbers(heads, cells), _note(clock, left))


def _heads(columns: Iterable[str], *, clocks: bool) -> tuple[str, ...]:
    return (*HEADER, *columns) if clocks else (*_BEFORE, *columns, *_AFTER)


def _row(
    row: Event, columns: Mapping[str, DataType], clock: Clock, primitive: Collection[str], *, clocks: bool
) -> tuple[str, ...]:
    header = _header(row, clock, primitive)
    if clocks:
        return (*header, *_payload(row, columns, clock))
    return (*header[1:3], *_payload(row, columns, clock), header[-1])


def _note(clock: Clock, left: int) -> str:
    more = f"… and {left:,} more" if left > 0 else ""
    return "\n".join(text for text in (more, clock.note) if text)


def messages_table(messages: Iterable[tuple[int, Message]]) -> Table:
    """Messages as they arrived, a retraction as the row that it leaves.  Paper: Figure 2."""
    arrived = list(messages)
    rows = {message.lineage_key: message.event for _, message in arrived if isinstance(message, Insert)}
    clock = Clock.of(rows.values())
    cells = []
    for cedr_time, message in arrived:
        row = None if isinstance(message, Guarantee) else rows.get(message.lineage_key)
        if isinstance(message, Retract) and row is not None:
            row = rows[message.lineage_key] = restated(row, message)
        cells.append((str(cedr_time), *_message(message, row, clock)))
    heads = ("Cs", "message", "type", "ID", "Vs", "Ve", "Os", "Oe", "K", "payload")
    return Table(heads, tuple(cells), _numbers(heads, cells), clock.note)


@dataclass(frozen=True, slots=True)
class Clock:
    """How times are shown: as numbers, as timestamps, or, where all events start on one day, as times of that day."""

    timestamps: bool
    day: str = ""
    minutes: bool = False

    @classmethod
    def of(cls, events: Iterable[Event]) -> Clock:
        """Timestamps as soon as one time is far enough from zero to be one."""
        starts = {start for event in events for start in (event.valid_start, event.occurrence_start)}
        days = {format_timestamp(start)[:_DAY] for start in starts}
        timestamps = any(start >= FIRST_TIMESTAMP for start in starts)
        minutes = all(start % MINUTE == 0 for start in starts)
        return cls(timestamps, days.pop() if timestamps and len(days) == 1 else "", minutes)

    @property
    def note(self) -> str:
        """What the reader must know beside the table."""
        return f"(times of {self.day}, UTC)" if self.day else ""

    def show(self, time: Time | None) -> str:
        """A time as text; ∞ for FOREVER."""
        if time is None:
            return ""
        if time >= FOREVER - 1:  # the largest guarantee, after which nothing comes, is as good as the end of time
            return format_time(FOREVER)
        if not self.timestamps:
            return format_time(time)
        shown = format_timestamp(time)
        if not self.day or not shown.startswith(self.day):
            return shown
        return shown[_DAY + 1 : -1].removesuffix(":00" if self.minutes else "Z")


def short_id(id: str) -> str:  # noqa: A002 - the paper's word
    """An ID for the eye."""
    return id[:8] if len(id) == _MADE_ID else id


def _header(event: Event, clock: Clock, primitive: Collection[str]) -> tuple[str, ...]:
    times = (event.valid_start, event.valid_end, event.occurrence_start, event.occurrence_end, event.root_time)
    made_of = ", ".join(short_id(made_by) for made_by in contributor_ids(event, primitive))
    return (short_id(event.id), *map(clock.show, times), made_of)


def _columns(event_type: EventType | None, rows: Iterable[Event]) -> dict[str, DataType]:
    """The attributes to show: those of the type, then what else the rows have."""
    found = dict.fromkeys((name for row in rows for name in row.payload), DataType.ANY)
    return {**found, **event_type.attributes} if event_type is not None else found


def _payload(row: Event, columns: Mapping[str, DataType], clock: Clock) -> Iterator[str]:
    return (_cell(row.payload.get(name), data_type, clock) for name, data_type in columns.items())


def _change(
    change: Change, clock: Clock, columns: Mapping[str, DataType], primitive: Collection[str], *, clocks: bool
) -> tuple[str, ...]:
    message, row = change.message, change.event
    told = (str(change.cedr_time), change.kind)
    heads = _heads(columns, clocks=clocks)
    if isinstance(message, Guarantee):
        place = heads.index("Os" if clocks else "Vs")
        return (*told, *("" if at != place else clock.show(message.time) for at, _ in enumerate(heads)))
    if row is None:
        return (*told, *("",) * len(heads))
    row = restated(row, message) if isinstance(message, Retract) else row
    return (*told, *_row(row, columns, clock, primitive, clocks=clocks))


def restated(row: Event, message: Retract) -> Event:
    """A row as a retraction leaves it; one that is removed has Oe = Os.  Paper: Section 4, Figure 2."""
    oe, ve = message.occurrence_end, message.valid_end
    if message.removes:
        oe = row.occurrence_start
    return replace(
        row,
        occurrence_end=row.occurrence_end if oe is None else min(oe, row.occurrence_end),
        valid_end=row.valid_end if ve is None else min(ve, row.valid_end),
    )


def _message(message: Message, row: Event | None, clock: Clock) -> tuple[str, ...]:
    if isinstance(message, Guarantee):
        return ("guarantee", message.provider or "", "", "", "", clock.show(message.time), "", "", "")
    kind, key = type(message).__name__.lower(), message.lineage_key
    if row is None:  # the retraction of a row that never came
        return (kind, "", "", "", "", "", "", key, "")
    times = (row.valid_start, row.valid_end, row.occurrence_start, row.occurrence_end)
    payload = payload_text(row, clock)
    own_key = "" if key == default_key(row) else key
    return (kind, row.stream, row.id, *map(clock.show, times), own_key, payload)


def payload_text(row: Event, clock: Clock, event_type: EventType | None = None) -> str:
    """The payload of a row on one line."""
    types = {} if event_type is None else event_type.attributes
    cells = ((name, _cell(value, types.get(name, DataType.ANY), clock)) for name, value in row.payload.items())
    return ", ".join(f"{name}={cell}" for name, cell in cells)


def _cell(value: Value, data_type: DataType, clock: Clock) -> str:
    if value is None:
        return "NULL"
    if data_type == DataType.TIMESTAMP and isinstance(value, int):
        return clock.show(value)
    return _BREAKS.sub("↵", str(as_json(value)))


def _numbers(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> frozenset[int]:
    """The columns that hold numbers only; names are no numbers, even of digits."""
    columns = (i for i, head in enumerate(heads) if head not in _NAMES)
    return frozenset(i for i in columns if rows and all(_number(row[i]) for row in rows))


def _number(cell: str) -> bool:
    return cell in {"", "∞", "NULL"} or cell.lstrip("-").replace(".", "", 1).isdigit()


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
