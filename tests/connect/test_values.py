"""Payload values: each data type, from JSON and back."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from cedr.connect.jsonlines import parse
from cedr.connect.values import Misfit, as_json, fit
from cedr.model.event import Payload, Value
from cedr.model.schema import DataType


@pytest.mark.parametrize(
    ("written", "data_type", "kept"),
    [
        ("5", DataType.INTEGER, 5),
        ("5", DataType.FLOAT, 5.0),
        ("2.5", DataType.FLOAT, 2.5),
        ("5", DataType.DECIMAL, Decimal(5)),
        ("0.1000000000000000000000000001", DataType.DECIMAL, Decimal("0.1000000000000000000000000001")),
        ('"12.50"', DataType.DECIMAL, Decimal("12.50")),
        ('"x"', DataType.STRING, "x"),
        ("true", DataType.BOOLEAN, True),
        ("7", DataType.TIMESTAMP, 7),
        ('"1970-01-01T00:00:01Z"', DataType.TIMESTAMP, 1_000_000),
        ("7", DataType.DURATION, 7),
        ('"2026-01-31"', DataType.DATE, date(2026, 1, 31)),
        ('"aGk="', DataType.BINARY, b"hi"),
        ('{"a": [1, 2.5, null]}', DataType.STRUCT, Payload({"a": (1, 2.5, None)})),
        ("[1, [true]]", DataType.LIST, (1, (True,))),
        ('"x"', DataType.ANY, "x"),
        ("null", DataType.INTEGER, None),
        ("null", DataType.NULL, None),
    ],
)
def test_a_value_is_kept_as_its_type(written: str, data_type: DataType, kept: Value) -> None:
    found = fit(parse(written), data_type)
    assert found == kept
    assert type(found) is type(kept)


@pytest.mark.parametrize(
    ("written", "data_type"),
    [
        ("2.0", DataType.INTEGER),
        ("true", DataType.INTEGER),
        ("9223372036854775808", DataType.INTEGER),
        ('"5"', DataType.INTEGER),
        ("true", DataType.FLOAT),
        ("9223372036854775808", DataType.FLOAT),
        ('"x"', DataType.DECIMAL),
        ('"NaN"', DataType.DECIMAL),
        ('"1e5000"', DataType.DECIMAL),
        ("true", DataType.DECIMAL),
        ("5", DataType.STRING),
        ("1", DataType.BOOLEAN),
        ("1.5", DataType.TIMESTAMP),
        ('"x"', DataType.TIMESTAMP),
        ('"1 hour"', DataType.DURATION),
        ('"2026-13-01"', DataType.DATE),
        ("5", DataType.DATE),
        ('"!"', DataType.BINARY),
        ("5", DataType.BINARY),
        ("[]", DataType.STRUCT),
        ("{}", DataType.LIST),
        ("[9223372036854775808]", DataType.LIST),
        ("5", DataType.NULL),
    ],
)
def test_a_value_of_another_type_is_refused(written: str, data_type: DataType) -> None:
    with pytest.raises(Misfit):
        fit(parse(written), data_type)


def test_values_at_hand_need_no_text() -> None:
    moment = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert fit(moment, DataType.TIMESTAMP) == 1_000_000
    assert fit(date(2026, 1, 31), DataType.DATE) == date(2026, 1, 31)
    assert fit(b"hi", DataType.BINARY) == b"hi"
    assert fit(Decimal("1.5"), DataType.DECIMAL) == Decimal("1.5")
    for value in (float("inf"), object()):
        with pytest.raises(Misfit):
            fit(value, DataType.ANY)


def test_every_value_can_be_written_as_json() -> None:
    payload = Payload(
        {"d": Decimal("1.50"), "on": date(2026, 1, 31), "b": b"hi", "t": 5, "l": [1, {"x": None}], "inf": float("inf")}
    )
    assert json.loads(json.dumps(as_json(payload), allow_nan=False)) == {
        "d": "1.50",
        "on": "2026-01-31",
        "b": "aGk=",
        "t": 5,
        "l": [1, {"x": None}],
        "inf": "inf",
    }
