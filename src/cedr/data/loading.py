"""Rows of a source become columns of events, one part for each event type; what cannot be used is told.

Readings: R2 (defaults), R3 (messages), R8 (identity by content), R20 (types), R37, R50.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.identities import content_ids, ids_of
from cedr.data.instants import Read, mask, read_times
from cedr.data.origins import Raw
from cedr.data.rejected import Rejected
from cedr.data.sources import Source
from cedr.data.values import fitted, inferred, plain, shape_of, type_of
from cedr.data.words import CLOCKS, constant
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.schema import DataType, EventType
from cedr.model.time import FOREVER
from cedr.runtime.values.arrow_arrays import arrow

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Column = Any

_SHOWN = 40
KINDS = ("insert", "retract", "guarantee")


@dataclass(slots=True)
class Part:
    """The events of one type in one source, in the order of their rows."""

    type: EventType
    rows: Rows | None
    """The numbers of its rows in the source; None: all of them."""
    ids: Column
    clocks: dict[str, Column]
    """Times as integers, by their words."""
    payload: dict[str, Column]
    keys: Column | None = None
    providers: Column | None = None

    def __len__(self) -> int:
        return len(self.clocks["time"])

    def taken(self, places: Rows) -> Part:
        """Some of its rows, in the order of their places in it."""
        return Part(
            self.type,
            places if self.rows is None else self.rows[places],
            taken(self.ids, places),
            {word: taken(times, places) for word, times in self.clocks.items()},
            {name: taken(column, places) for name, column in self.payload.items()},
            taken(self.keys, places),
            taken(self.providers, places),
        )


@dataclass(slots=True)
class Loaded:
    """What was read of a source."""

    source: Source
    raw: Raw
    parts: list[Part] = field(default_factory=list)
    times: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    """Of every row; the beginning of time where there is none."""
    kinds: Rows | None = None
    """The number of each row's kind of message; None: all are inserts."""
    clocks: dict[str, Rows] = field(default_factory=dict)
    """Of every row, as far as columns of them were named."""
    guarantees: Rows | None = None
    arrivals: Rows | None = None
    providers: Column | None = None
    timestamps: bool = True
    rejected: list[Rejected] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    types_seen: dict[str, int] = field(default_factory=dict)
    """How many rows there are of each type, the unread ones included."""

    def let_go(self) -> None:
        """Hold the rows no longer, but for the parts."""
        self.raw.table = self.raw.table.schema.empty_table()
        self.times = np.empty(0, np.int64)
        self.clocks = {}
        self.guarantees = self.arrivals = None

    @property
    def count(self) -> int:
        """How many rows there are, with those that could not be read."""
        unread = len(self.raw.rejected) - len(self.raw.dropped)
        return int(self.raw.table.num_rows) + max(0, unread)


class Loading:
    """Reads one source for the types and attributes that a query needs."""

    def __init__(self, source: Source, needed: Mapping[str, Mapping[str, DataType]]) -> None:
        """``needed``: the types that are read, each with its attributes; ANY where the type is to be inferred."""
        self._source, self._needed = source, needed
        self._header = source.header()
        self._rejected: dict[int, Rejected] = {}

    def load(self) -> Loaded:
        """Read it."""
        source, words = self._source, self._source.words
        known = source.origin.names()
        attributes = dict.fromkeys(name for each in self._needed.values() for name in each if name in known)
        if source.constant_type is not None and source.constant_type not in self._needed:
            for word in ("id", "key"):  # only its times tell something: how far the source has come
                self._header.pop(word, None)
            attributes = {}
        elif "id" not in self._header:
            attributes = dict.fromkeys(known)
        asked = list(dict.fromkeys([*self._header.values(), *attributes]))
        raw = source.origin.read(asked)
        loaded = Loaded(source, raw, rejected=[*raw.rejected], warnings=[*raw.warnings])
        self._table, self._raw = raw.table, raw
        self._usable = np.ones(raw.table.num_rows, np.bool_)
        self._usable[list(raw.dropped)] = False
        self._read_clocks(loaded)
        self._read_kinds(loaded)
        if "provider" in self._header:
            loaded.providers = self._text("provider")
        elif words.provider is not None:
            loaded.providers = constant(words.provider)
        by_type = self._rows_by_type(loaded)
        ids = self._ids() if by_type else None
        keys = self._text("key") if by_type and "key" in self._header else None
        for name, rows in by_type.items():
            loaded.parts.append(self._part(name, rows, ids, keys, loaded))
        loaded.rejected += self._rejected.values()
        return loaded

    # -- the header ---------------------------------------------------------------------------------------------------

    def _read_clocks(self, loaded: Loaded) -> None:
        words = self._source.words
        for word in CLOCKS:
            if word not in self._header:
                continue
            column = plain(self._table.column(self._header[word]))
            read = read_times(column, words.time_unit, words.time_format, words.zone, truncate=words.truncate)
            if read is None:
                raise self._wrong_type(word, column.type)
            self._check_times(word, column, read)
            if word == "time":
                loaded.times, loaded.timestamps = read.times, read.timestamps
            if read.zoneless:
                loaded.warnings.append(self._zoneless(word, read))
            times = read.times
            if word in ("valid_end", "occurrence_end") and read.missing is not None:
                times = np.where(read.missing, FOREVER, times)
            loaded.clocks[word] = times
        loaded.guarantees = loaded.clocks.pop("guarantee", None)
        loaded.arrivals = loaded.clocks.pop("arrival", None)

    def _check_times(self, word: str, column: Column, read: Read) -> None:
        """A time that is missing or no time; where a clock may be left out, only one that is no time."""
        if read.missing is None:
            return
        name = self._header[word]
        empty = mask(column.is_null())
        fine = read.missing & ~empty if read.fine else np.zeros(len(empty), np.bool_)
        if pa.types.is_string(column.type):
            empty |= mask(pc.equal(pc.utf8_trim_whitespace(column), ""))
            fine &= mask(pc.match_substring_regex(column, r"[.,]\d{7,9}|^\d+$"))
        if word == "time":
            self._reject(empty, "null-time", f'the row has no time in "{name}"')
        same = f'"{name}" has a time between two microseconds (truncate=True cuts it off)'
        self._reject(fine, "time-too-fine", same)
        wrong = read.missing & ~empty & ~fine
        self._reject(
            wrong, "bad-time", f'"{name}" has a value that is no time', column, f'"{name}" is {{}}, which is no time'
        )

    def _zoneless(self, word: str, read: Read) -> Diagnostic:
        where, zone = self._header[word], self._source.words.zone
        primary = f'{read.zoneless:,} times in "{where}" have no zone, others have one: those are taken as {zone}'
        return Diagnostic("no-zone", primary, hint='zone="…" says otherwise', severity="warning")

    def _wrong_type(self, word: str, of: pa.DataType) -> StreamError:
        primary = f'column "{self._header[word]}" for {word}= is {of}, neither timestamps nor whole numbers'
        hint = "name the unit of numbers with a fraction: time_unit" if pa.types.is_floating(of) else ""
        return StreamError(Diagnostic("wrong-column-type", primary, hint=hint))

    def _read_kinds(self, loaded: Loaded) -> None:
        if "change" not in self._header:
            return
        texts = pc.utf8_lower(pc.fill_null(self._text("change"), "insert"))
        kinds = pc.index_in(texts, pa.array(KINDS))
        wrong = mask(kinds.is_null())
        self._reject(
            wrong,
            "unknown-message",
            "the row is neither insert, retract nor guarantee",
            texts,
            'the row says "{}", not insert, retract or guarantee',
        )
        loaded.kinds = pc.fill_null(kinds, 0).cast(pa.int64()).to_numpy(zero_copy_only=False)

    def _text(self, word: str) -> Column:
        column = plain(self._table.column(self._header[word]))
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if not (pa.types.is_string(column.type) or pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
            primary = f'column "{self._header[word]}" for {word}= is {column.type}, not text'
            raise StreamError(Diagnostic("wrong-column-type", primary))
        return column.cast(pa.string())

    def _ids(self) -> Column:
        if "id" not in self._header:
            return content_ids(self._table)
        name = self._header["id"]
        column = plain(self._table.column(name))
        found = ids_of(column)
        if found is None:
            primary = f'column "{name}" for id= is {column.type}, neither text nor whole numbers'
            raise StreamError(
                Diagnostic("wrong-column-type", primary, hint="without id= an event is known by all its values")
            )
        return found

    # -- types --------------------------------------------------------------------------------------------------------

    def _rows_by_type(self, loaded: Loaded) -> dict[str, Rows | None]:
        constant_type = self._source.constant_type
        if constant_type is not None:
            loaded.types_seen[constant_type] = self._table.num_rows
            return {constant_type: None} if constant_type in self._needed else {}
        column = self._text("type")
        missing = mask(column.is_null()) | mask(pc.equal(column, ""))
        guarantees = (
            np.zeros(len(missing), np.bool_) if loaded.kinds is None else loaded.kinds == KINDS.index("guarantee")
        )
        self._reject(missing & ~guarantees, "unknown-type", f'the row has no type in "{self._header["type"]}"', None)
        coded = column.dictionary_encode()
        codes = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)
        names = coded.dictionary.to_pylist()
        counts = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
        loaded.types_seen.update(zip(names, counts, strict=True))
        return {name: np.flatnonzero(codes == code) for code, name in enumerate(names) if name in self._needed}

    def _part(self, name: str, rows: Rows | None, ids: Column, keys: Column | None, loaded: Loaded) -> Part:
        wanted = self._needed[name]
        payload: dict[str, Column] = {}
        types: dict[str, DataType] = {}
        for attribute, of in wanted.items():
            if attribute not in self._table.column_names:
                types[attribute] = of
                continue
            column = plain(taken(self._table.column(attribute), rows))
            payload[attribute], types[attribute] = self._attribute(attribute, column, of, rows)
        clocks = {word: taken(times, rows) for word, times in loaded.clocks.items()}
        shapes = {each: shape for each, column in payload.items() if (shape := shape_of(column.type)).nested}
        event_type = EventType(name, types, shapes=shapes)
        providers = taken(loaded.providers, rows)
        part = Part(event_type, rows, taken(ids, rows), clocks, payload, taken(keys, rows), providers)
        usable = self._usable if rows is None else self._usable[rows]  # rows that are rejected are not events
        return part if usable.all() else part.taken(np.flatnonzero(usable))

    def _attribute(self, name: str, column: Column, of: DataType, rows: Rows | None) -> tuple[Column, DataType]:
        guessed = of is DataType.ANY
        if guessed:
            of = inferred(column) if name in self._raw.untyped else type_of(column.type)
        found = fitted(column, of)
        if found.misfits is not None:
            hint = "; declare the TYPE to have it as text" if guessed else ""
            same = f'"{name}" has a value that is no {of}{hint}'
            self._reject(
                _spread(found.misfits, rows, self._table.num_rows),
                "wrong-value",
                same,
                self._table.column(name),
                f'"{name}" is {{}}, which is no {of}',
            )
        return found.column, of

    def _reject(
        self, wrong: Mask, code: str, same: str, column: Column | None = None, reason: str | None = None
    ) -> None:
        """Rows that cannot be used, for a reason they share; the first reason of a row is the one that is told."""
        rows = np.flatnonzero(wrong & self._usable).tolist()
        values = [None] * len(rows) if column is None else plain(column).take(pa.array(rows, pa.int64())).to_pylist()
        for row, value in zip(rows, values, strict=True):
            file, number = self._raw.places.of(row)
            told = same if reason is None else reason.format(_shown(value))
            self._rejected.setdefault(row, Rejected(code, same, told, file, number))
        self._usable[rows] = False


def taken(column: Column, rows: Rows | None) -> Column:
    """Some rows of a column, None: all; one value for all rows, or none, stays as it is."""
    if rows is None or column is None or isinstance(column, str):
        return column
    return column[rows] if isinstance(column, np.ndarray) else column.take(arrow(rows))


def _spread(mask: Mask, rows: Rows | None, count: int) -> Mask:
    """A mask over the rows of a part as one over all rows."""
    if rows is None:
        return mask
    whole = np.zeros(count, np.bool_)
    whole[rows[mask]] = True
    return whole


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
