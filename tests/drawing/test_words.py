"""Text in a drawing: its width, how it is cut, how values are written, and what XML cannot hold."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.drawing.words import escaped, payload_text, plain, short_id, shortened, value_text, width
from cedr.model.event import Payload, Value, primitive
from tests.drawing.samples import row


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "NULL"),
        (True, "True"),
        ("text", "text"),
        (1_000_000, "1000000"),
        (7, "time 7"),
        (Decimal("1.50"), "1.50"),
        (b"\x00\xff", "0x00ff"),
        (date(2026, 1, 31), "2026-01-31"),
        ((1, ("a", None)), "[1, [a, NULL]]"),
        (Payload({"a": 1, "b": Payload({"c": 0.1 + 0.2})}), "{a: 1, b: {c: 0.3}}"),
        (float("nan"), "nan"),
    ],
)
def test_values(value: Value, expected: str) -> None:
    assert value_text(value, lambda time: f"time {time}", {7}, brief=True) == expected


def test_numbers_are_whole_where_there_is_room() -> None:
    assert value_text(0.1 + 0.2, str, (), brief=False) == "0.30000000000000004"


def test_a_time_of_the_row_or_of_its_events_is_written_as_a_time() -> None:
    event = row("x", 20, 30, primitive("A", "a", 10), since=10, until=30, other=11)
    assert payload_text(event, lambda time: f"t{time}") == "since=t10, until=t30, other=11"


def test_a_text_is_cut_where_it_does_not_fit() -> None:
    assert shortened("abc", 100, 10) == "abc"
    cut = shortened("first=1, second=2", 50, 10)
    assert (cut, width(cut, 10) <= 50) == ("first=1…", True)
    assert shortened("abcdefgh", 15, 10) == ""


def test_wide_letters_take_more_room_and_marks_none() -> None:
    assert width("火災", 10) > width("ab", 10)
    assert width("e\u0301", 10) == width("e", 10)
    assert width("🔥", 10) > width("火", 10) > width("é", 10)


def test_what_xml_cannot_hold_is_replaced_and_lines_become_one() -> None:
    assert plain("a\x00b\n\tc \ud800\ufffe") == "a\ufffdb c \ufffd\ufffd"
    assert plain("a\u202eb\u200dc") == "ab\u200dc"
    assert len(plain("x" * 10_000)) == 2_001


def test_ids_that_a_query_made_are_short() -> None:
    assert short_id("5013a44a0750f9fc4412a4ea6d7b5dab") == "5013a44a"
    assert short_id("order\n1") == "order 1"


@given(st.text())
def test_any_text_can_be_read_again_from_xml(text: str) -> None:
    shown = plain(text)
    assert ElementTree.fromstring(f'<t a="{escaped(shown)}">{escaped(shown)}</t>').get("a") == shown
    ElementTree.fromstring(f"<t>{escaped(text)}</t>")


@given(st.text(), st.floats(0, 500))
def test_a_shortened_text_fits(text: str, room: float) -> None:
    shown = shortened(text, room, 10)
    assert width(shown, 10) <= room
    assert shown in {text, ""} or text.startswith(shown[:-1])
