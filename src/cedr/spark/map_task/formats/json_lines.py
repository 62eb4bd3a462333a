"""Reads lines of JSON, each an object, as Spark does; but a value that Spark would silently read as NULL is a fault.

Reading: R2.  Missing fields are NULL, fields that the query does not read are skipped.  Arrow reads many lines at once
and ignores where lines end; so its result is used only if each line certainly has one object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.json as pa_json

from cedr.spark.map_task.formats import values
from cedr.spark.map_task.formats.lines import Columns, Typed

_LINE_END, _RETURN, _OPEN, _CLOSE = b"\n\r{}"
_TEXTS: Final = ("string", "timestamp", "timestamp_ntz", "date")
"""Types whose values are strings in JSON."""
_FINITE_NOT: Final = frozenset({"NaN", "Infinity", "+Infinity", "-Infinity", "INF", "+INF", "-INF"})


class _Number(str):
    """A number as it is written in the file."""

    __slots__ = ()


class JsonLines(Typed):
    """Reads some fields of objects."""

    place = "field"

    def __init__(self, types: Mapping[str, str], arrow: Mapping[str, pa.DataType], zone: str) -> None:
        super().__init__(types, arrow, zone)
        fields = [(name, pa.string() if of in _TEXTS else arrow[name]) for name, of in types.items()]
        self._parse = pa_json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore")

    def together(self, lines: bytes) -> Columns:
        """Read many lines.  Raises ``ValueError`` if one cannot be read, or might be read differently alone."""
        lines.decode("utf-8")
        count = _objects(lines)
        options = pa_json.ReadOptions(use_threads=False, block_size=len(lines))
        found = pa_json.read_json(pa.BufferReader(lines), options, self._parse)
        if found.num_rows != count:
            raise ValueError
        columns = found.combine_chunks()
        return {name: self._typed(values.joined(columns.column(name)), of) for name, of in self._types.items()}

    def _typed(self, column: Any, of: str) -> Any:
        match of:
            case "timestamp":
                return values.instants(column, self._zone)
            case "timestamp_ntz":
                return values.locals_of(column)
            case "date":
                return values.days(column)
            case _:
                return column

    def alone(self, line: bytes) -> list[Mapping[str, Any]]:
        """Read one line: one row, or those of an array.  Raises ``ValueError`` with the cause."""
        try:
            found = json.loads(line.decode("utf-8"), parse_int=_Number, parse_float=_Number, parse_constant=_Number)
        except UnicodeDecodeError:
            message = "it is not UTF-8"
            raise ValueError(message) from None
        except json.JSONDecodeError as error:
            message = f"{error.msg} at column {error.colno}"
            raise ValueError(message) from None
        except RecursionError:
            message = "it is nested too deeply"
            raise ValueError(message) from None
        rows = found if isinstance(found, list) else [found]
        if not all(isinstance(row, dict) for row in rows):
            message = "it is not an object"
            raise ValueError(message)
        return [self._row(row) for row in rows]

    def _of(self, value: Any, of: str, arrow: pa.DataType) -> Any:
        """Convert a value to the type of its column."""
        plain = isinstance(value, str) and not isinstance(value, _Number)
        match of:
            case "string" if isinstance(value, str):
                value.encode("utf-8")  # half of a surrogate pair is no character
                return str(value)
            case "string" | "boolean" if isinstance(value, bool):
                return value if of == "boolean" else str(value).lower()
            case "timestamp" if plain:
                return values.instant(value, self._zone)
            case "timestamp" if isinstance(value, _Number):
                return values.whole(value, pa.int64()) * 1_000_000
            case "timestamp_ntz" if plain:
                return values.local(value)
            case "date" if plain:
                return values.day(value)
            case "float" | "double" if isinstance(value, _Number) or value in _FINITE_NOT:
                return values.number(value)
            case "tinyint" | "smallint" | "int" | "bigint" if isinstance(value, _Number):
                return values.whole(value, arrow)
            case _:
                shown = json.dumps(value)
                message = f"{shown if len(shown) <= 80 else shown[:80] + '…'} is not of type {of}"
                raise ValueError(message)


def _objects(lines: bytes) -> int:
    """The number of lines; raises ``ValueError`` unless each begins and ends like an object.

    In any object or list a comma separates ``}`` and ``{``; so no object continues on the next such line.
    """
    letters = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(letters == _LINE_END)
    width = 1
    if b"\r" in lines:
        width = 2
        if lines.count(b"\r") != len(ends) or (letters[ends - 1] != _RETURN).any():
            raise ValueError
    firsts = np.concatenate([[0], ends + 1])
    lasts = np.concatenate([ends - width, [len(lines) - 1]])
    if lines.endswith(b"\n"):
        firsts, lasts = firsts[:-1], lasts[:-1]
    if (letters[firsts] != _OPEN).any() or (letters[lasts] != _CLOSE).any():
        raise ValueError
    return len(firsts)
