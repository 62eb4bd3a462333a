"""What is saved comes back as it was."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given

from cedr.consistency.encoding import as_bytes, decode, decode_message, encode, encode_message, from_bytes
from cedr.model.event import Payload, Value
from cedr.model.stream import Message
from tests.consistency.messages import messages


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**80,
        -0.0,
        float("inf"),
        "ü\ud800",
        Decimal("1.50"),
        date(2026, 1, 31),
        b"\x00\xff",
        (),
        ("t", ("n", 1)),
        Payload({"a": (1, Payload({"b": None})), "t": "t"}),
    ],
)
def test_a_value_comes_back(value: Value) -> None:
    again = decode(from_bytes(as_bytes(encode(value))))
    assert (again, type(again), str(again)) == (value, type(value), str(value))


@given(messages())
def test_messages_come_back(sent: list[Message]) -> None:
    assert [decode_message(from_bytes(as_bytes(encode_message(message)))) for message in sent] == sent
