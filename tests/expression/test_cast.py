"""CAST by hand; what cannot be said in the other type is NULL.  R20."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.cast import SOURCES, castable, caster
from cedr.expression.lattice import (
    ANY,
    BINARY,
    BOOLEAN,
    DATE,
    DECIMAL,
    DURATION,
    FLOAT,
    INTEGER,
    LIST,
    NULL,
    STRING,
    STRUCT,
    TIMESTAMP,
)
from cedr.expression.tree import Cast, Literal
from cedr.expression.values import plain
from cedr.model.event import Payload
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, DAY, FOREVER, HOUR
from tests.expression.building import value
from tests.expression.strategies import BY_TYPE, values

CASES: list[tuple[Any, DataType, DataType, Any]] = [
    (1.9, FLOAT, INTEGER, 1),
    (-1.9, FLOAT, INTEGER, -1),
    (Decimal("-1.9"), DECIMAL, INTEGER, -1),
    (1e30, FLOAT, INTEGER, None),
    (True, BOOLEAN, INTEGER, 1),
    (" 42 ", STRING, INTEGER, 42),
    ("-42", STRING, INTEGER, -42),
    ("4_2", STRING, INTEGER, None),
    ("4.2", STRING, INTEGER, None),
    ("", STRING, INTEGER, None),
    ("9" * 19, STRING, INTEGER, None),
    ("9" * 5000, STRING, INTEGER, None),
    (FOREVER, TIMESTAMP, INTEGER, FOREVER),
    (date(2026, 1, 31), ANY, INTEGER, None),
    (3, INTEGER, FLOAT, 3.0),
    (Decimal("1.5"), DECIMAL, FLOAT, 1.5),
    ("1e3", STRING, FLOAT, 1000.0),
    (".5", STRING, FLOAT, 0.5),
    ("1e999", STRING, FLOAT, None),
    ("nan", STRING, FLOAT, None),
    ("inf", STRING, FLOAT, None),
    (True, BOOLEAN, FLOAT, 1.0),
    (b"1", ANY, FLOAT, None),
    (3, INTEGER, DECIMAL, Decimal(3)),
    (0.1, FLOAT, DECIMAL, Decimal("0.1")),
    ("1.10", STRING, DECIMAL, Decimal("1.10")),
    ("NaN", STRING, DECIMAL, None),
    ("1e99999", STRING, DECIMAL, None),
    (True, BOOLEAN, DECIMAL, Decimal(1)),
    (b"1", ANY, DECIMAL, None),
    (Decimal("1" * 40), DECIMAL, DECIMAL, Decimal("1" * 38 + "00")),
    (5, INTEGER, STRING, "5"),
    (0.1, FLOAT, STRING, "0.1"),
    (Decimal("1E+2"), DECIMAL, STRING, "100"),
    (True, BOOLEAN, STRING, "true"),
    (False, BOOLEAN, STRING, "false"),
    ("a", STRING, STRING, "a"),
    (0, TIMESTAMP, STRING, "1970-01-01 00:00:00Z"),
    (FOREVER, TIMESTAMP, STRING, "FOREVER"),
    ("a", TIMESTAMP, STRING, None),
    (12 * HOUR, DURATION, STRING, "12 hours"),
    ("a", DURATION, STRING, None),
    (date(2026, 1, 31), DATE, STRING, "2026-01-31"),
    (b"a", BINARY, STRING, "a"),
    (b"\xff", BINARY, STRING, None),
    ((1,), ANY, STRING, None),
    ("TRUE", STRING, BOOLEAN, True),
    ("no", STRING, BOOLEAN, False),
    ("maybe", STRING, BOOLEAN, None),
    (2, INTEGER, BOOLEAN, True),
    (0, INTEGER, BOOLEAN, False),
    (1.5, ANY, BOOLEAN, None),
    (5, INTEGER, TIMESTAMP, 5),
    (date(1970, 1, 2), DATE, TIMESTAMP, DAY),
    ("1970-01-01 00:00:01", STRING, TIMESTAMP, 1_000_000),
    ("1970-01-01T01:00:00+01:00", STRING, TIMESTAMP, 0),
    ("forever", STRING, TIMESTAMP, FOREVER),
    ("soon", STRING, TIMESTAMP, None),
    (1.5, ANY, TIMESTAMP, None),
    ("12 hours", STRING, DURATION, 12 * HOUR),
    ("long", STRING, DURATION, None),
    (5, INTEGER, DURATION, 5),
    (1.5, ANY, DURATION, None),
    ("2026-01-31", STRING, DATE, date(2026, 1, 31)),
    ("2026-02-31", STRING, DATE, None),
    (DAY, TIMESTAMP, DATE, date(1970, 1, 2)),
    (FOREVER, TIMESTAMP, DATE, None),
    (date(2026, 1, 31), DATE, DATE, date(2026, 1, 31)),
    (1.5, ANY, DATE, None),
    ("a", STRING, BINARY, b"a"),
    ("\ud800", STRING, BINARY, None),
    (b"a", BINARY, BINARY, b"a"),
    (5, ANY, BINARY, None),
    ((1,), LIST, LIST, (1,)),
    (5, ANY, LIST, None),
    (Payload({"a": 1}), STRUCT, STRUCT, Payload({"a": 1})),
    (5, INTEGER, ANY, 5),
    (5, INTEGER, NULL, None),
    (None, NULL, INTEGER, None),
]


@pytest.mark.parametrize(("given", "source", "target", "expected"), CASES)
def test_cast(given: Any, source: DataType, target: DataType, expected: Any) -> None:
    result = value(Cast(Literal(given, source), target))
    assert result == expected
    assert type(result) is type(expected)


@given(st.sampled_from(list(DataType)), st.sampled_from(list(DataType)), values)
def test_no_cast_raises(source: DataType, target: DataType, some: Any) -> None:
    result = caster(source, target)(plain(some))
    assert plain(result) == result


@pytest.mark.parametrize("of", [INTEGER, FLOAT, DATE, BOOLEAN])
def test_text_and_back(of: DataType) -> None:
    """What is written as text is read as the same value."""

    @given(BY_TYPE[of])
    def there_and_back(some: Any) -> None:
        assert caster(STRING, of)(caster(of, STRING)(some)) == some

    there_and_back()


def test_every_type_can_be_cast_to_itself() -> None:
    assert set(SOURCES) == set(DataType)
    assert all(castable(of, of) for of in DataType)
    assert not castable(LIST, STRING)


def test_the_ends_of_time_have_a_text() -> None:
    assert value(Cast(Literal(BEGINNING, TIMESTAMP), STRING)) == "-∞"
