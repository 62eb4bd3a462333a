"""Whatever a file holds, reading it ends in messages and dead letters, each with its place: never in an exception."""

from __future__ import annotations

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from cedr.connect.messages import INSERT_FIELDS, KINDS, RETRACT_FIELDS, MessageFile, read_stream
from cedr.model.intake import Intake
from cedr.model.schema import DataType, EventType, EventTypes

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["2026-01-31T12:00:00Z", "2026-01-31", "aGk=", "12.50", "NaN", "s"]),
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))
TYPED = EventTypes({"T": EventType("T", {str(kind): kind for kind in DataType})})


def fields(names: tuple[str, ...]) -> st.SearchStrategy[dict[str, object]]:
    small = st.integers(-3, 9) | SCALARS
    payload = st.dictionaries(st.sampled_from([str(kind) for kind in DataType]), VALUES, max_size=3)
    kinds = {"type": st.sampled_from(["A", "T"]) | SCALARS, "payload": payload | VALUES}
    return st.fixed_dictionaries({}, optional={name: kinds.get(name, small) for name in (*names, "other")})


MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "insert": fields(INSERT_FIELDS),
        "retract": fields(RETRACT_FIELDS),
        "guarantee": st.integers(-3, 9) | VALUES,
        "source": SCALARS,
    },
) | st.dictionaries(st.sampled_from(KINDS) | st.text(max_size=3), VALUES, max_size=2)


def settled(found: MessageFile, lines: int) -> None:
    """Every line is a message or a dead letter, and every dead letter can be shown."""
    assert len(found.messages) + len(found.dead_letters) == lines
    for letter in found.dead_letters:
        assert letter.span is not None
        assert letter.span.column >= 1
        letter.render().encode("utf-8")
        json.dumps(letter.as_data())
    intake = Intake(found.types)
    for number, (position, message) in enumerate(found.messages, 1):
        assert str(position)
        intake.receive(message, number)
    intake.rows()


@given(st.lists(st.binary(max_size=60), max_size=4))
def test_any_bytes(lines: list[bytes]) -> None:
    data = b"\n".join(lines)
    found = read_stream(io.BytesIO(data), "bytes")
    parts = [part for part in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if part.strip()]
    settled(found, len(parts))


@given(st.lists(MESSAGES, max_size=4))
def test_any_message(messages: list[dict[str, object]]) -> None:
    data = "\n".join(json.dumps(message) for message in messages).encode("utf-8")
    settled(read_stream(io.BytesIO(data), "messages", TYPED), len(messages))


@given(MESSAGES, st.integers(0, 200), st.text(max_size=2))
def test_any_broken_message(message: dict[str, object], at: int, junk: str) -> None:
    text = json.dumps(message, ensure_ascii=False)
    broken = (text[:at] + junk + text[at + 1 :]).replace("\n", " ").encode("utf-8", "replace")
    found = read_stream(io.BytesIO(broken), "messages")
    settled(found, 1 if broken.strip() else 0)
