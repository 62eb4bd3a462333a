"""Predicates and events that the tests of subscriptions draw: few values, so that equal ones, NULLs and ends meet."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from cedr.model.event import Event
from cedr.model.schema import DataType, EventType

MEASURED = EventType(
    "M",
    {
        "i": DataType.INTEGER,
        "f": DataType.FLOAT,
        "d": DataType.DECIMAL,
        "s": DataType.STRING,
        "b": DataType.BOOLEAN,
        "t": DataType.TIMESTAMP,
        "day": DataType.DATE,
        "x": DataType.ANY,
    },
)

LARGE = 2**53
_INTEGERS = st.sampled_from((0, 1, 2, 3, -1, LARGE, LARGE + 1, LARGE + 2, -(LARGE + 1), 2**63 - 1, -(2**63) + 1))
_FLOATS = st.sampled_from((0.0, 1.0, 1.5, 2.0, 3.0, -0.5, float(LARGE), float(LARGE + 2), 9.3e18, -1e300, 2.0**63))
_TEXTS = st.sampled_from(("a", "ab", "abc", "abd", "b", "", "é", "zz", "퟿x", "\U0010ffff", "a%"))
_NUMBERS = st.one_of(_INTEGERS, _FLOATS)
_SIGNS = st.sampled_from(("=", "<", "<=", ">", ">=", "<>"))
_DAYS = st.sampled_from(("2026-01-01", "2026-01-02", "2026-02-01"))


def _number(value: float) -> str:
    return repr(value) if isinstance(value, int) else f"{value:.20e}"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


_NUMERIC = st.sampled_from(("i", "f", "d", "M.f", "t", "x"))


def _compared() -> st.SearchStrategy[str]:
    numbers = _NUMBERS.map(_number)
    whole = st.integers(-1, 3).map(str)
    return st.one_of(
        st.builds("{} {} {}".format, st.sampled_from(("i", "f", "d", "M.i", "x")), _SIGNS, numbers),
        st.builds("{2} {1} {0}".format, st.sampled_from(("i", "f")), _SIGNS, numbers),
        st.builds("s {} {}".format, _SIGNS, _TEXTS.map(_text)),
        st.builds("x {} {}".format, _SIGNS, _TEXTS.map(_text)),
        st.builds(
            "s LIKE {}".format, st.sampled_from(("a%", "ab%", "%", "a", "%b", "_b%", "", "é%%", "\\%")).map(_text)
        ),
        st.builds("{} BETWEEN {} AND {}".format, st.sampled_from(("i", "f", "d")), numbers, numbers),
        st.builds("f > {} AND f <= {}".format, numbers, numbers),
        st.builds("i IN ({})".format, st.lists(whole, min_size=1, max_size=4).map(", ".join)),
        st.builds("f IN ({}, NULL)".format, st.lists(whole, min_size=1, max_size=3).map(", ".join)),
        st.builds("s IN ({})".format, st.lists(_TEXTS.map(_text), min_size=1, max_size=3).map(", ".join)),
        st.builds("i NOT IN ({})".format, st.lists(whole, min_size=1, max_size=2).map(", ".join)),
        st.builds("day {} DATE '{}'".format, _SIGNS, _DAYS),
        st.builds("t >= TIMESTAMP '{} 00:00:00Z'".format, _DAYS),
        st.builds("Vs {} {}".format, _SIGNS, st.integers(0, 6)),
        st.builds("ID = '{}'".format, st.integers(0, 9)),
        st.sampled_from(("b", "b = TRUE", "NOT b", "s IS NULL", "i IS NOT NULL", "TRUE", "i = NULL", "NOT (i > 1)")),
        st.builds("i + {} > f".format, whole),
        st.builds("UPPER(s) = {}".format, st.sampled_from(("A", "AB", "")).map(_text)),
        st.builds("f * 2 < {}".format, whole),
        st.builds("COALESCE(i, {}) = {}".format, whole, whole),
    )


def filters() -> st.SearchStrategy[str]:
    """A predicate on M: a conjunction, now and then with OR or NOT in it."""
    simple = _compared()
    either = st.builds("({} OR {})".format, simple, simple)
    return st.lists(st.one_of(simple, simple, simple, either), min_size=1, max_size=3).map(" AND ".join)


def _column(values: st.SearchStrategy[Any], size: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.one_of(values, values, values, st.none()), min_size=size, max_size=size)


_DECIMALS = st.sampled_from((Decimal(1), Decimal("1.5"), Decimal("2.50"), Decimal(-1)))
_MIXED = st.one_of(_INTEGERS, _TEXTS, st.just(1.5), st.just(True))


@st.composite
def payloads(draw: st.DrawFn) -> dict[str, pa.Array]:
    """Columns for some events, in the many forms in which Arrow may have them."""
    size = draw(st.integers(1, 9))
    small = draw(st.booleans())
    integers = draw(_column(st.integers(-1, 3) if small else _INTEGERS, size))
    floats = draw(_column(st.one_of(_FLOATS, st.sampled_from((float("nan"), float("inf")))), size))
    texts = draw(_column(_TEXTS, size))
    forms = [pa.array(texts, pa.string()), pa.array(texts, pa.large_string()), pa.array(texts).dictionary_encode()]
    moments = draw(_column(st.integers(0, 3), size))
    return {
        "i": pa.array(integers, pa.int32() if small else pa.int64()),
        "f": pa.array(floats, pa.float64())
        if draw(st.booleans())
        else pa.array(draw(_column(_INTEGERS, size)), pa.int64()),
        "d": pa.array(draw(_column(_DECIMALS, size)), pa.decimal128(10, 2)),
        "s": draw(st.sampled_from(forms)),
        "b": pa.array(draw(_column(st.booleans(), size)), pa.bool_()),
        "t": pa.array(moments, pa.timestamp("us")),
        "day": pa.array(draw(_column(_DAYS.map(date.fromisoformat), size)), pa.date32()),
        "x": pa.array(draw(_column(st.sampled_from((1, 2)), size)) if small else draw(_column(_TEXTS, size))),
    }


def times(size: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Vs of some events."""
    return np.arange(size, dtype=np.int64) % 7


def shown(row: Event) -> tuple[object, ...]:
    """What a subscriber has of an event."""
    return row.id, row.valid_start, row.valid_end, row.occurrence_start, row.occurrence_end, row.payload
