"""Pieces of JSON columns put together: each piece has the types of its own lines.

Whole numbers and numbers with a fraction are numbers.  Where a field has values of different kinds, it has the kind of
nine in ten of them, and the rows of the others are not used; where no kind has so many, it is a field of texts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from cedr.data.places import Places
from cedr.data.rejected import Rejected
from cedr.data.values import ENOUGH
from cedr.diagnostics.diagnostic import Diagnostic


class Piece(NamedTuple):
    """Rows that follow each other, and the number of the first line."""

    table: pa.Table
    first: int


class Assembled(NamedTuple):
    """Columns over all pieces, and the rows whose values are of another kind than the rest."""

    table: pa.Table
    rejected: list[Rejected]
    warnings: list[Diagnostic]
    untyped: frozenset[str]
    dropped: tuple[int, ...]


def assembled(pieces: Sequence[Piece], columns: Sequence[str], places: Places) -> Assembled:
    """Some fields of all pieces; one that a piece lacks is NULL there."""
    assembly = _Assembly(places)
    arrays = {}
    for name in columns:
        parts = [_part(piece.table, name) for piece in pieces]
        if not any(pa.types.is_null(part.type) for part in parts) and len({part.type for part in parts}) == 1:
            arrays[name] = pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)
        else:
            arrays[name] = assembly.united(name, parts)
    return Assembled(
        pa.table(arrays), assembly.rejected, assembly.warnings, frozenset(assembly.untyped), tuple(assembly.dropped)
    )


def _part(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name in table.column_names:
        return table.column(name)
    return pa.chunked_array([pa.nulls(table.num_rows)])


class _Assembly:
    """Puts columns together, and keeps what is wrong with their values."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.rejected: list[Rejected] = []
        self.warnings: list[Diagnostic] = []
        self.untyped: set[str] = set()
        self.dropped: set[int] = set()

    def united(self, name: str, parts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
        """One column of the kind that nine in ten values have."""
        kinds: Counter[str] = Counter()
        for part in parts:
            kinds[_kind(part.type)] += len(part) - part.null_count
        kinds.pop("null", None)
        if not +kinds:
            return pa.chunked_array([pa.nulls(sum(map(len, parts)))])
        kind, count = kinds.most_common(1)[0]
        if count < ENOUGH * kinds.total():
            return self._as_texts(name, parts, kinds)
        fitting = []
        row = 0
        for part in parts:
            fits = _kind(part.type) in (kind, "null")
            fitting.append(part if fits else pa.chunked_array([pa.nulls(len(part))]))
            if not fits:
                self._reject(name, kind, part, row)
            row += len(part)
        tables = [pa.table({name: part}) for part in fitting]
        return pa.concat_tables(tables, promote_options="permissive").column(name)

    def _as_texts(self, name: str, parts: Sequence[pa.ChunkedArray], kinds: Counter[str]) -> pa.ChunkedArray:
        shown = ", ".join(f"{number:,} {each}" for each, number in kinds.most_common())
        primary = f'the field "{name}" has values of several kinds ({shown}): all are taken as texts'
        self.warnings.append(Diagnostic("mixed-values", primary, severity="warning"))
        self.untyped.add(name)
        return pa.chunked_array([_texts(part) for part in parts], pa.string())

    def _reject(self, name: str, kind: str, part: pa.ChunkedArray, row: int) -> None:
        same = f'"{name}" has a value that is none of its {kind}'
        for offset, value in enumerate(part.to_pylist()):
            if value is not None:
                reason = f'"{name}" is {_text(value)}, which is none of its {kind}'
                file, number = self._places.of(row + offset)
                self.rejected.append(Rejected("wrong-value", same, reason, file, number))
                self.dropped.add(row + offset)


def _kind(of: pa.DataType) -> str:
    tests = {
        "null": pa.types.is_null,
        "numbers": lambda of: pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_decimal(of),
        "texts": lambda of: (
            pa.types.is_string(of) or pa.types.is_timestamp(of) or pa.types.is_date(of) or pa.types.is_time(of)
        ),
        "truth values": pa.types.is_boolean,
        "objects": pa.types.is_struct,
        "lists": pa.types.is_list,
    }
    return next((name for name, test in tests.items() if test(of)), str(of))


def _texts(part: pa.ChunkedArray) -> pa.Array:
    return pa.array([None if value is None else _text(value) for value in part.to_pylist()], pa.string())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
