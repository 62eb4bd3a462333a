"""The paper's notation for tables: pipes, a row of column names, cells.

Understood are Markdown tables as the paper's figures are written: ``$V_s$`` or ``Vs``, bold marks, ``∞`` or ``inf``, a
line of dashes under the names.  A column without a name, or named ``...``, is not shown; neither is a cell ``...``.

A ``Grid`` is columns of text.  Cells have one spelling for each value, so that grids can be compared as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from cedr.model.event import Payload, Value
from cedr.model.time import BEGINNING, FOREVER, Time, format_time

COLUMNS = ("ID", "K", "Sync", "Vs", "Ve", "Os", "Oe", "Cs", "Ce", "Rt", "cbt", "Payload")
"""The columns that a table can show, in the order in which they are written."""

TIMES = frozenset(("Sync", "Vs", "Ve", "Os", "Oe", "Cs", "Ce", "Rt"))

_NAMES = {name.lower(): name for name in COLUMNS} | {"p": "Payload"}
_HIDDEN = frozenset(("", "...", "…"))
_MARKS = re.compile(r"[*_$(){}\[\]\s]")
_DASHES = re.compile(r"[\s|:-]+")
_FOREVER = frozenset(("∞", "inf", "infinity", "forever"))
_BARE = re.compile(r"[A-Za-z_][\w .:/-]*")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'")
_ASSIGNMENT = re.compile(rf"\s*([A-Za-z_]\w*)\s*=\s*({_QUOTED.pattern}|[^,]*?)\s*(?:,|$)")
_PIPE = re.compile(r"(?<!\\)\|")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "'": "\\'", "\\": "\\\\", "|": "\\|"}
_ESCAPED = {written[1]: character for character, written in _ESCAPES.items()}
_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Grid:
    """Named columns of cells as text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, name: str) -> list[str]:
        """The cells of a column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def only(self, columns: Sequence[str]) -> Grid:
        """The grid with these columns, empty where it has none of that name."""
        rows = (dict(zip(self.columns, row, strict=True)) for row in self.rows)
        return Grid(tuple(columns), tuple(tuple(row.get(name, "") for name in columns) for row in rows))

    def __str__(self) -> str:
        return format_cells([self.columns, *self.rows])


def read_grids(text: str) -> list[Grid]:
    """The tables in a text; two that stand side by side (Figures 3 to 5) are split where a column name comes again."""
    lines = [line for line in map(str.strip, text.split("\n")) if line.startswith("|") or line.count("|") > 1]
    if not lines:
        message = "there is no table in the text: a line of column names between pipes is needed"
        raise ValueError(message)
    head, *body = (_cells(line) for line in lines if not _DASHES.fullmatch(line))
    for row in body:
        if len(row) != len(head):
            message = f"a row has {len(row)} cells where the head has {len(head)}: {' | '.join(row)}"
            raise ValueError(message)
    return [_grid(names, [[row[place] for place, _ in names] for row in body]) for names in _side_by_side(head)]


def _cells(line: str) -> list[str]:
    inner = line.removeprefix("|").removesuffix("|")
    return [cell.strip().removeprefix("**").removesuffix("**").strip() for cell in _PIPE.split(inner)]


def _side_by_side(head: Sequence[str]) -> list[list[tuple[int, str]]]:
    tables: list[list[tuple[int, str]]] = [[]]
    for place, cell in enumerate(head):
        if cell in _HIDDEN:
            continue
        name = _NAMES.get(_MARKS.sub("", cell).lower())
        if name is None:
            message = f'no column is called "{cell}": there are {", ".join(COLUMNS)}'
            raise ValueError(message)
        if any(name == known for _, known in tables[-1]):
            tables.append([])
        tables[-1].append((place, name))
    return tables


def _grid(names: Sequence[tuple[int, str]], body: Iterable[Sequence[str]]) -> Grid:
    columns = tuple(name for _, name in names)
    return Grid(columns, tuple(tuple(map(_spelled, columns, row)) for row in body))


def _spelled(column: str, cell: str) -> str:
    """A cell in its one spelling."""
    if cell in _HIDDEN:
        return ""
    if column in TIMES:
        return format_time(read_time(cell))
    return format_payload(read_payload(cell)) if column == "Payload" else cell


def read_time(cell: str) -> Time:
    """A time: a whole number, or one of the spellings of infinity."""
    if cell.lower() in _FOREVER:
        return FOREVER
    if cell == "-∞":
        return BEGINNING
    try:
        return int(cell)
    except ValueError:
        message = f'"{cell}" is not a time: a whole number or ∞ is'
        raise ValueError(message) from None


def read_payload(cell: str) -> Payload:
    """A payload: ``a=1, b='x'``, or one bare value, which is then called p (the paper's P1).

    >>> read_payload("a=1, b=x, c=2.5"), read_payload("P1")
    (Payload(a=1, b='x', c=2.5), Payload(p='P1'))
    """
    if "=" not in cell or _QUOTED.fullmatch(cell):
        return Payload({"p": _read_value(cell)})
    items: dict[str, Value] = {}
    place = 0
    while place < len(cell):
        match = _ASSIGNMENT.match(cell, place)
        if match is None:
            message = f'"{cell}" is not a payload: write name=value, name=value'
            raise ValueError(message)
        items[match.group(1)] = _read_value(match.group(2))
        place = match.end()
    return Payload(items)


def _read_value(text: str) -> Value:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _QUOTED.fullmatch(text):
        return re.sub(r"\\(.)", lambda match: _ESCAPED.get(match.group(1), match.group(1)), text[1:-1])
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def format_payload(payload: Payload) -> str:
    """A payload as ``read_payload`` reads it, names in order; what it cannot read (bytes, lists) as Python shows it."""
    if set(payload) == {"p"}:
        return _format_value(payload["p"])
    return ", ".join(f"{name}={_format_value(value)}" for name, value in sorted(payload.items()))


def _format_value(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    if isinstance(value, str):
        plain = _BARE.fullmatch(value) and _read_value(value) == value and not value.endswith(" ")
        return value if plain else "'" + "".join(_ESCAPES.get(character, character) for character in value) + "'"
    return str(value) if isinstance(value, int | float | Decimal | date) else repr(value)


def format_cells(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells between pipes, aligned; the first line is the head."""
    widths = [max(map(len, column), default=0) for column in zip(*lines, strict=True)]
    head, *body = ("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines)
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join((head, rule, *body))
