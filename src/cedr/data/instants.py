"""Columns of times as integers: microseconds since the epoch, or ticks.

Readings: R1, R50.  Whole numbers have the unit that was declared; without one they are ticks.  Nothing is rounded
silently: a time between two microseconds is missing unless cutting it off was asked for.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cedr.model.time import BEGINNING, FOREVER, parse_timestamp

Array = Any
Times = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

TIMESTAMP: Final = (
    r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?\s?(Z|z|UTC|[+-]\d{2}(:?\d{2})?)?$|^\d{4}-\d{2}-\d{2}$"
)
"""How a timestamp is written: ISO 8601, with or without a zone."""
ZONED: Final = r"(Z|z|UTC|:\d{2}(\.\d+)?\s?[+-]\d{2}(:?\d{2})?)$"
_FINE: Final = r"[.,]\d{7,9}"
_SAMPLE: Final = 100
_US_PER: Final = {"s": 1_000_000, "ms": 1_000, "us": 1, "ticks": 1}


class Read(NamedTuple):
    """Times as integers, which of them are missing or could not be read, and whether they are timestamps."""

    times: Times
    missing: Mask | None
    timestamps: bool = True
    zoneless: int = 0
    """How many texts had no zone, where others had one."""
    fine: int = 0
    """How many lay between two microseconds and are missing for it."""


def mask(truths: Array) -> Mask:
    """Arrow's truth values as NumPy's; what is NULL is false."""
    return np.asarray(pc.fill_null(truths, False).to_numpy(zero_copy_only=False))  # noqa: FBT003 - Arrow's


def read_times(column: Array, unit: str | None, form: str | None, zone: str, *, truncate: bool = False) -> Read | None:
    """A column of times; None where it is of a type that no time is of."""
    of = column.type
    if pa.types.is_dictionary(of):
        column, of = column.dictionary_decode(), of.value_type
    if pa.types.is_null(of):
        count = len(column)
        return Read(np.full(count, BEGINNING), np.ones(count, np.bool_) if count else None, unit not in (None, "ticks"))
    if pa.types.is_timestamp(of):
        return _timestamps(column, zone, truncate=truncate)
    if pa.types.is_date(of):
        return _filled(column.cast(pa.timestamp("us")).cast(pa.int64()))
    if pa.types.is_integer(of) or pa.types.is_decimal(of) or pa.types.is_floating(of):
        return _numbers(column, unit, truncate=truncate)
    if pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of):
        return _texts(column.cast(pa.string()), unit, form, zone, truncate=truncate)
    return None


def _texts(texts: Array, unit: str | None, form: str | None, zone: str, *, truncate: bool) -> Read | None:
    trimmed = pc.utf8_trim_whitespace(texts)
    given = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)
    if form is not None:
        found = pc.strptime(given, format=form, unit="us", error_is_null=True)
        return _filled(_local(found, zone).cast(pa.int64()))
    sample = given.drop_null().slice(0, _SAMPLE)
    whole = pc.sum(pc.match_substring_regex(sample, r"^[+-]?\d+$")).as_py() or 0
    if len(sample) and whole > len(sample) / 2:
        digits = pc.match_substring_regex(given, r"^[+-]?\d{1,18}$")
        return _numbers(
            pc.if_else(digits, given, pa.scalar(None, pa.string())).cast(pa.int64()), unit, truncate=truncate
        )
    return instants(given, zone, truncate=truncate)


def instants(texts: Array, zone: str, *, truncate: bool = False) -> Read:
    """Timestamps in ISO 8601; those without a zone are in ``zone``.

    >>> read = instants(pa.array(["1970-01-01 00:00:01", "1970-01-01T01:00:02+01:00", "soon"]), "UTC")
    >>> read.times[:2].tolist(), read.missing.tolist(), read.zoneless
    ([1000000, 2000000], [False, False, True], 1)
    """
    fine = bool(pc.any(pc.match_substring_regex(texts, _FINE)).as_py())
    unit = "ns" if fine else "us"
    with suppress(pa.ArrowInvalid):  # all of them as Arrow reads them, none with a zone: the usual case, the quickest
        texts.slice(0, _SAMPLE).cast(pa.timestamp(unit))  # a column of which each value fails takes long to fail
        return _timestamps(texts.cast(pa.timestamp(unit)), zone, truncate=truncate)
    with_zone = mask(pc.match_substring_regex(texts, ZONED))
    found = np.empty(len(texts), np.int64)
    found[with_zone] = _counted(_spelt_alike(texts.filter(pa.array(with_zone))), pa.timestamp(unit, "UTC"), "UTC")
    found[~with_zone] = _counted(texts.filter(pa.array(~with_zone)), pa.timestamp(unit), zone)
    raw = pa.array(found, mask=found == BEGINNING)
    read = _nanos(raw, truncate=truncate) if fine else _filled(raw)
    known = ~with_zone if read.missing is None else ~with_zone & ~read.missing
    return read._replace(zoneless=int(np.count_nonzero(known)) if with_zone.any() else 0)


def _spelt_alike(texts: Array) -> Array:
    """Zones as Arrow reads them."""
    spelt = pc.replace_substring_regex(texts, r"\s?(z|UTC)$", "Z")
    return pc.replace_substring_regex(spelt, r"(:\d{2}(?:\.\d+)?)\s?([+-]\d{2})$", r"\1\2:00")


def _counted(texts: Array, of: pa.DataType, zone: str) -> Times:
    """Units since the epoch, the beginning of time for a text that is no timestamp."""
    try:
        found = _local(texts.cast(of), zone).cast(pa.int64())
        return np.asarray(pc.fill_null(found, BEGINNING).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        pass
    coded = texts.dictionary_encode()
    known = np.array([_one(text.as_py(), of, zone) for text in coded.dictionary], np.int64)
    indices = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(known, BEGINNING)[indices])


def _one(text: str, of: pa.DataType, zone: str) -> int:
    try:
        found = _local(pa.array([text]).cast(of), zone).cast(pa.int64())
        return int(found[0].as_py())
    except pa.ArrowInvalid:
        pass
    try:
        moment = parse_timestamp(text.replace(",", ".")) * (1_000 if of.unit == "ns" else 1)
    except (ValueError, OverflowError):
        return BEGINNING
    return moment if BEGINNING < moment < FOREVER else BEGINNING


def _local(found: Array, zone: str) -> Array:
    """Timestamps without a zone as those of one; an hour that comes twice is its first, one left out is its end."""
    if found.type.tz is not None:
        return found
    if zone == "UTC":
        return found
    return pc.assume_timezone(found, zone, ambiguous="earliest", nonexistent="latest")


def _timestamps(column: Array, zone: str, *, truncate: bool) -> Read:
    column = _local(column, zone)
    unit = column.type.unit
    raw = column.cast(pa.int64())
    if unit == "ns":
        return _nanos(raw, truncate=truncate)
    return _filled(raw if unit == "us" else pc.multiply_checked(raw, _US_PER[unit]))


def _nanos(raw: Array, *, truncate: bool, timestamps: bool = True) -> Read:
    read = _filled(raw)
    whole = read.times // 1_000
    fine = (read.times % 1_000 != 0) if read.missing is None else (read.times % 1_000 != 0) & ~read.missing
    if truncate or not fine.any():
        return Read(np.where(read.times == BEGINNING, BEGINNING, whole), read.missing, timestamps)
    missing = fine if read.missing is None else fine | read.missing
    return Read(np.where(missing, BEGINNING, whole), missing, timestamps, fine=int(fine.sum()))


def _numbers(column: Array, unit: str | None, *, truncate: bool) -> Read | None:
    if not pa.types.is_integer(column.type):
        column = _whole(column, unit)
        if column is None:
            return None
        unit = "us" if unit in ("s", "ms") else unit
    raw = column.cast(pa.int64())
    timestamps = unit not in (None, "ticks")
    if unit == "ns":
        return _nanos(raw, truncate=truncate)
    size = _US_PER[unit or "ticks"]
    return _filled(raw if size == 1 else pc.multiply_checked(raw, size), timestamps=timestamps)


def _whole(column: Array, unit: str | None) -> Array | None:
    """Numbers with a fraction as whole microseconds where their unit is known; else only those that are whole."""
    if unit in ("s", "ms"):
        return pc.round(pc.multiply(column.cast(pa.float64()), float(_US_PER[unit]))).cast(pa.int64())
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _filled(raw: Array, *, timestamps: bool = True) -> Read:
    if not raw.null_count:
        return Read(np.asarray(raw.to_numpy(zero_copy_only=False)), None, timestamps)
    missing = raw.is_null().to_numpy(zero_copy_only=False)
    return Read(np.asarray(pc.fill_null(raw, BEGINNING).to_numpy(zero_copy_only=False)), missing, timestamps)
