"""Changes as rows of the result.

Readings: R8 (K), R10 (the latest belief), R36 (what is final), R40 (the order of Sync).  Times are timestamps if those
of the input are, with NULL for FOREVER; otherwise they are whole numbers.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import types as st

from cedr.connect.outgoing import message_as_line
from cedr.consistency.emission.columns import SAID, STREAM, TABLE, Contributors, keys_of, payload_column
from cedr.model.time import FOREVER, Time
from cedr.spark.layout.layout import Layout, Shown
from cedr.spark.layout.read_faults import Letter, ReadFault

Rows = NDArray[np.int64]

_CLOCKS: Final = ("Vs", "Ve", "Os", "Oe", "Cs", "Rt")
_NAMES: Final = st.ArrayType(st.StringType(), containsNull=False)
ON_DEMAND: Final = (st.StructField("contributor_types", _NAMES),)
"""Columns that the result has only if ``columns=`` names them."""
_ENDS: Final = ("Ve", "Oe")
"""The clocks that may be FOREVER."""
LETTER: Final = ("code", "reason", "message")
_ROWS: Final = 65_536
"""The most rows that Spark gets at a time."""
DEAD_LETTER: Final = "dead-letter"


class Emission(Protocol):
    """What one level emitted at one step: ``Changes`` of a pipeline, or columns that a step before made of them."""

    @property
    def level_name(self) -> str:
        """The name of the level."""

    @property
    def cedr_time(self) -> Time:
        """The CEDR time of the step."""

    @property
    def guarantee(self) -> Time | None:
        """The guarantee that the level emitted, if any."""

    @property
    def standing(self) -> bool:
        """Whether all changes are inserts of rows whose Oe is FOREVER."""

    def to_arrow(self, header: Container[str] | None = None) -> pa.RecordBatch:
        """Inserts and retractions as columns, with the given columns of the header."""


class EmittedColumns(NamedTuple):
    """An emission as columns, which can leave the process that made it."""

    level_name: str
    cedr_time: Time
    guarantee: Time | None
    rows: pa.RecordBatch
    standing: bool = False

    def to_arrow(self, header: Container[str] | None = None) -> pa.RecordBatch:  # noqa: ARG002 - the columns are made already
        """Inserts and retractions as columns."""
        return self.rows


class LevelOutput(NamedTuple):
    """The output of one level at one step of a stream, on its way to ``result_rows``, which makes the text columns."""

    columns: EmittedColumns
    guarantee: Time
    """The output is final up to this time."""
    number: int
    """The number of the bucket."""
    letters: pa.RecordBatch | None
    """Dead letters, as rows of the result."""

    @property
    def nbytes(self) -> int:
        """The bytes of the columns."""
        return int(self.columns.rows.nbytes)


def header_fields(*, changes: bool, labelled: bool, letters: bool, instants: bool) -> tuple[list[Any], list[Any]]:
    """The columns before and after the payload.

    In a table without dead letters most of them cannot be NULL, which makes Spark faster.
    """
    clock = st.TimestampType() if instants else st.LongType()
    kinds = {name: clock for name in _CLOCKS} | {"contributors": _NAMES}
    names = [*(["level"] if labelled else []), *(STREAM if changes else TABLE)]
    never_null = not changes and not letters
    before = [
        st.StructField(name, kinds.get(name, st.StringType()), not never_null or (instants and name in _ENDS))
        for name in names
    ]
    after = [st.StructField("final", st.BooleanType())] if changes else []
    return before, [*after, *([st.StructField(name, st.StringType()) for name in LETTER] if letters else [])]


def result_rows(
    layout: Layout, changes: Emission, guarantee: Time, bucket: str, own: tuple[Time, Time] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of one emission, some at a time, then its guarantee; ``own`` is the range of Vs of a slice."""
    rows = changes.to_arrow(header_read(layout, standing=changes.standing))
    for low in range(0, rows.num_rows, _ROWS):
        part = rows.slice(low, _ROWS)
        if layout.changes:
            yield _as_changes(layout, part, changes.level_name, guarantee)
        else:
            part = part if changes.standing else _standing(part, bitemporal=layout.query.bitemporal)
            yield _as_table(layout, part if own is None else _of_slice(part, own), changes.level_name)
    if layout.changes and changes.guarantee is not None:
        yield _guarantee(layout, changes, bucket)


def header_read(layout: Layout, *, standing: bool = False) -> frozenset[str]:
    """The header columns of changes from which the columns of the result are made."""
    needed = {name for name in (*STREAM, *TABLE) if name in layout.schema.names}
    needed |= {part for name, parts in _MADE_OF.items() if name in layout.schema.names for part in parts}
    if not layout.changes:
        needed |= set() if standing else {"change", "Oe"}
        needed |= set() if layout.slices is None else {"Vs"}
    return frozenset(needed)


_MADE: Final = ("K", "contributors")
"""Columns of the result that are computed."""
_MADE_OF: Final = {
    "K": ("id", "Os", "said"),
    "final": ("change", "Os", "Oe", "Ve"),
    "contributor_types": ("contributors",),
}


def _as_changes(layout: Layout, rows: pa.RecordBatch, level: str, guarantee: Time) -> pa.RecordBatch:
    """Changes as rows of the change stream."""
    columns = _payload(layout, rows) | {name: rows.column(name) for name in STREAM if name not in _MADE}
    columns |= _contributors(layout, rows)
    if "K" in layout.schema.names:
        columns["K"] = keys_of(rows)
    if "final" in layout.schema.names:
        columns["final"] = pa.array(_syncs(rows) <= guarantee)
    return fitted(layout, columns | _level(layout, level, rows.num_rows), rows.num_rows)


def _standing(rows: pa.RecordBatch, *, bitemporal: bool) -> pa.RecordBatch:
    """The rows of a table: the latest belief, or all beliefs if the query asks for them."""
    keep = _are_inserts(rows)
    if not bitemporal:
        keep &= rows.column("Oe").to_numpy() == FOREVER
    return rows if keep.all() else rows.filter(pa.array(keep))


def _of_slice(rows: pa.RecordBatch, own: tuple[Time, Time]) -> pa.RecordBatch:
    """The rows that a slice gives: those whose Vs is in its range."""
    start = rows.column("Vs").to_numpy()
    return rows.filter(pa.array((start >= own[0]) & (start < own[1])))


def _as_table(layout: Layout, rows: pa.RecordBatch, level: str) -> pa.RecordBatch:
    """Changes as rows of a table."""
    columns = {name: rows.column(name) for name in TABLE if name not in _MADE} | _payload(layout, rows)
    columns |= _contributors(layout, rows) | _level(layout, level, rows.num_rows)
    return fitted(layout, columns, rows.num_rows)


def _are_inserts(rows: pa.RecordBatch) -> NDArray[np.bool_]:
    """Which changes are inserts, by the codes of the dictionary: there are few kinds and many rows."""
    kinds = rows.column("change")
    inserts: NDArray[np.bool_] = kinds.indices.to_numpy() == kinds.dictionary.index(pa.scalar("insert")).as_py()
    return inserts


def _level(layout: Layout, name: str, count: int) -> dict[str, Any]:
    """The column ``level``, if the query has several."""
    return {"level": pa.repeat(pa.scalar(name, pa.string()), count)} if layout.labelled else {}


def _payload(layout: Layout, rows: pa.RecordBatch) -> dict[str, Any]:
    """The attributes, by their names in the result."""
    names = rows.schema.names[_HEADER:]
    places = {name: _HEADER + number for number, name in enumerate(names)}
    pairs = zip(layout.names, layout.shown, strict=True)
    columns = ((places.get(payload_column(name)), shown) for name, shown in pairs)
    return {shown: rows.column(place) for place, shown in columns if place is not None}


_HEADER: Final = len(SAID)


def _contributors(layout: Layout, rows: pa.RecordBatch) -> dict[str, Any]:
    """IDs and types of the primitive contributors of rows; an aggregate has none."""
    column = rows.column("contributors")
    if pa.types.is_null(column.type):
        return {}
    ends, types, ids = Contributors.of(column, layout.catalog.types)
    columns = {"contributors": pa.ListArray.from_arrays(ends, ids)}
    if "contributor_types" in layout.schema.names:
        columns["contributor_types"] = pa.ListArray.from_arrays(ends, types.dictionary_decode())
    return columns


def _syncs(rows: pa.RecordBatch) -> Rows:
    """Sync; of a retraction that may move either end, a time that is not before its Sync.  Reading: R7."""
    os, oe, ve = (rows.column(name).to_numpy() for name in ("Os", "Oe", "Ve"))
    inserts = _are_inserts(rows)
    ends = np.where(oe == FOREVER, np.maximum(os, ve), np.where(ve == FOREVER, oe, np.maximum(oe, ve)))
    syncs: Rows = np.where(inserts | (oe <= os), os, ends)
    return syncs


def _guarantee(layout: Layout, changes: Emission, bucket: str) -> pa.RecordBatch:
    """The row of a guarantee: the bucket that K names is final up to Os.  Reading: R36."""
    columns: dict[str, Any] = {
        "change": ["guarantee"],
        "K": [bucket],
        "Os": pa.array([changes.guarantee], pa.int64()),
        "Cs": pa.array([changes.cedr_time], pa.int64()),
        "final": [True],
    }
    return fitted(layout, columns | _level(layout, changes.level_name, 1), 1)


def dead_letter_rows(layout: Shown, letters: Sequence[Letter], time: Time) -> pa.RecordBatch:
    """Dead letters as rows of the result.  Readings: R37, R39, R41."""
    columns: dict[str, Any] = {
        "code": [letter.code for letter in letters],
        "reason": [letter.reason for letter in letters],
        "message": [
            letter.message if isinstance(letter, ReadFault) else message_as_line(letter.message) for letter in letters
        ],
    }
    if layout.changes:
        columns["change"] = [DEAD_LETTER] * len(letters)
        columns["Cs"] = pa.array([time] * len(letters), pa.int64())
    return fitted(layout, columns, len(letters))


def fitted(layout: Shown, columns: dict[str, Any], count: int) -> pa.RecordBatch:
    """The columns in the order and types of the result; a missing column is NULL."""
    arrays = []
    for field in layout.schema:
        column = columns.get(field.name)
        if column is None:
            arrays.append(pa.nulls(count, field.type))
        elif pa.types.is_decimal(field.type):
            arrays.append(_decimals(column, field.type))
        elif isinstance(column, list):
            arrays.append(pa.array(column, field.type))
        else:
            arrays.append(_cast(layout, field, column))
    return pa.RecordBatch.from_arrays(arrays, schema=layout.schema)


def _decimals(column: Any, of: pa.DataType) -> pa.Array:
    """Decimals with as many places as their column has, rounded half up as Spark does: a mean has 38 digits."""
    if isinstance(column, pa.Array):
        try:
            return column.cast(of)
        except pa.ArrowInvalid:
            column = column.to_pylist()
    place = Decimal(1).scaleb(-of.scale)
    wide = Context(prec=2 * of.precision, rounding=ROUND_HALF_UP)
    return pa.array([None if value is None else value.quantize(place, context=wide) for value in column], of)


def _cast(layout: Shown, field: pa.Field, column: Any) -> Any:
    if layout.instants and field.name in _CLOCKS:
        return _finite(column).cast(field.type) if field.name in _ENDS else column.cast(field.type)
    if column.type == field.type:
        return column
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), field.type)
    if pa.types.is_integer(column.type) and (pa.types.is_timestamp(field.type) or pa.types.is_duration(field.type)):
        return column.cast(pa.int64()).cast(field.type)
    return column.cast(field.type)


def _finite(times: pa.Int64Array) -> pa.Int64Array:
    """Times with NULL for FOREVER, which often is in all rows, or in none."""
    endless = times.to_numpy() == FOREVER
    if endless.all():
        return pa.nulls(len(times), pa.int64())
    return pc.if_else(pa.array(endless), pa.scalar(None, pa.int64()), times) if endless.any() else times
