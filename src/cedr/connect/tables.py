"""Rows and changes as tables of text, with the paper's column heads (Figures 1 and 2).

IDs made by ``idgen`` are cut to eight characters: enough to tell rows apart by eye.  Times are shown as timestamps
where they are such, else as the numbers they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from unicodedata import east_asian_width

from cedr.connect.rows import contributor_ids
from cedr.connect.values import as_json
from cedr.model.event import Event, Value
from cedr.model.schema import DataType, EventType
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract
from cedr.model.time import FOREVER, Time, format_time, format_timestamp

HEADER = ("ID", "Vs", "Ve", "Os", "Oe", "Rt", "contributors")
_MADE_ID = 32
_FIRST_TIMESTAMP = 10**14
"""From here on (1973) a number of microseconds is taken for a timestamp; tests and examples count in small ticks."""


@dataclass(frozen=True, slots=True)
class Table:
    """Column heads and cells, all text; ``right`` are the columns of numbers."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()

    def as_text(self) -> str:
        """The table in plain characters."""
        widths = [max(map(_width, column)) for column in zip(self.heads, *self.rows, strict=True)]
        lines = [self._line(self.heads, widths), "  ".join("-" * width for width in widths)]
        return "\n".join([*lines, *(self._line(row, widths) for row in self.rows)])

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        placed = []
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            pad = " " * (width - _width(cell))
            placed.append(pad + cell if column in self.right else cell + pad)
        return "  ".join(placed).rstrip()


def rows_table(rows: Sequence[Event], event_type: EventType | None, primitive: Collection[str]) -> Table:
    """The rows of a result."""
    names = list(event_type.attributes) if event_type is not None else []
    names += [name for name in dict.fromkeys(name for row in rows for name in row.payload) if name not in names]
    clock = Clock.of(rows)
    types = {} if event_type is None else event_type.attributes
    cells = tuple(
        (*_header(row, clock, primitive), *(_cell(row.payload.get(name), types.get(name), clock) for name in names))
        for row in rows
    )
    return Table((*HEADER, *names), cells, _numbers(cells, len(HEADER) + len(names)))


def changes_table(changes: Sequence[Change], event_type: EventType | None, primitive: Collection[str]) -> Table:
    """A change stream: what was said at which CEDR time."""
    events = [change.message.event for change in changes if isinstance(change.message, Insert)]
    clock = Clock.of(events)
    names = list(event_type.attributes) if event_type is not None else []
    cells = tuple(_change(change, clock, names, primitive) for change in changes)
    return Table(("Cs", "change", *HEADER, *names), cells, _numbers(cells, 2 + len(HEADER) + len(names)))


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
    return Table(heads, tuple(cells), _numbers(cells, len(heads)))


@dataclass(frozen=True, slots=True)
class Clock:
    """How times are shown: as timestamps or as numbers."""

    timestamps: bool

    @classmethod
    def of(cls, events: Iterable[Event]) -> Clock:
        """Timestamps as soon as one time is far enough from zero to be one."""
        return cls(any(event.valid_start >= _FIRST_TIMESTAMP for event in events))

    def show(self, time: Time | None) -> str:
        """A time as text; ∞ for FOREVER."""
        if time is None:
            return ""
        return format_timestamp(time) if self.timestamps and time != FOREVER else format_time(time)


def short_id(id: str) -> str:  # noqa: A002 - the paper's word
    """An ID for the eye."""
    return id[:8] if len(id) == _MADE_ID else id


def _header(event: Event, clock: Clock, primitive: Collection[str]) -> tuple[str, ...]:
    times = (event.valid_start, event.valid_end, event.occurrence_start, event.occurrence_end, event.root_time)
    made_of = ", ".join(short_id(made_by) for made_by in contributor_ids(event, primitive))
    return (short_id(event.id), *map(clock.show, times), made_of)


def _change(change: Change, clock: Clock, names: Sequence[str], primitive: Collection[str]) -> tuple[str, ...]:
    message = change.message
    said = (str(change.cedr_time), change.kind)
    if isinstance(message, Guarantee):
        return (*said, "", clock.show(message.time), *("",) * (len(HEADER) - 2 + len(names)))
    row = change.event
    if row is None:
        return (*said, *("",) * (len(HEADER) + len(names)))
    row = restated(row, message) if isinstance(message, Retract) else row
    return (*said, *_header(row, clock, primitive), *(_cell(row.payload.get(name), None, clock) for name in names))


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
        return ("guarantee", message.provider or "", "", clock.show(message.time), "", "", "", "", "")
    kind = type(message).__name__.lower()
    if row is None:  # the retraction of a row that never came
        return (kind, "", "", "", "", "", "", message.lineage_key, "")
    times = (row.valid_start, row.valid_end, row.occurrence_start, row.occurrence_end)
    payload = ", ".join(f"{name}={_cell(value, None, clock)}" for name, value in row.payload.items())
    return (kind, row.stream, row.id, *map(clock.show, times), message.lineage_key, payload)


def _cell(value: Value, data_type: DataType | None, clock: Clock) -> str:
    if value is None:
        return "NULL"
    if data_type == DataType.TIMESTAMP and isinstance(value, int):
        return clock.show(value)
    return str(as_json(value))


def _numbers(rows: Sequence[Sequence[str]], width: int) -> frozenset[int]:
    """The columns that hold numbers only."""
    return frozenset(i for i in range(width) if rows and all(_number(row[i]) for row in rows))


def _number(cell: str) -> bool:
    return cell in {"", "∞", "NULL"} or cell.lstrip("-").replace(".", "", 1).isdigit()


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
