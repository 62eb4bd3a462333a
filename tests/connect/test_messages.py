"""A file of messages: the contract of its lines, and a dead letter with its place for each that breaks it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cedr.connect.jsonlines import DEEPEST, LONGEST_LINE
from cedr.connect.messages import INSERT_FIELDS, MessageFile, read_messages, take_messages
from cedr.diagnostics.exceptions import StreamError
from cedr.model.event import Payload, primitive
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.stream import Guarantee, Insert, Retract, insert
from cedr.model.time import FOREVER


def read(tmp_path: Path, text: str | bytes, catalog: EventTypes | None = None) -> MessageFile:
    path = tmp_path / "messages.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    found = read_messages(path, catalog)
    assert found.name == str(path)
    return found


def one_fault(tmp_path: Path, text: str | bytes, catalog: EventTypes | None = None) -> tuple[str, str, int, int]:
    """Code, sentence, line and column of the only dead letter of a file without messages."""
    found = read(tmp_path, text, catalog)
    assert found.messages == []
    (letter,) = found.dead_letters
    assert letter.severity == "dead letter"
    assert letter.span is not None
    assert letter.render()
    return letter.code, letter.primary, letter.span.line, letter.span.column


def insert_line(**fields: object) -> str:
    return json.dumps({"insert": {"type": "A", "id": "a", "vs": 1, **fields}})


def test_the_issue_example_is_read_to_the_letter(tmp_path: Path) -> None:
    """R2, R3: header, K and payload as given; null is FOREVER."""
    text = (
        '{"insert": {"type": "INSTALL", "id": "e0", "vs": 1, "ve": 10, "os": 1, "oe": null, "k": "E0", '
        '"payload": {"Machine_Id": "m1"}}}\n'
        '{"retract": {"k": "E0", "oe": 3}}\n'
        '{"retract": {"k": "E0", "ve": 8}}\n'
        '{"retract": {"k": "E0"}}\n'
        '{"guarantee": 12}\n'
        '{"guarantee": 12, "source": "s1"}\n'
    )
    event = primitive("INSTALL", "e0", 1, 10, occurrence_start=1, payload={"Machine_Id": "m1"})
    found = read(tmp_path, text)
    assert found.dead_letters == []
    assert [message for _, message in found.messages] == [
        Insert(event, "E0"),
        Retract("E0", occurrence_end=3),
        Retract("E0", valid_end=8),
        Retract("E0"),
        Guarantee(12),
        Guarantee(12, "s1"),
    ]


def test_only_type_id_and_vs_are_required(tmp_path: Path) -> None:
    """R2: Os = Vs, Ve = Oe = FOREVER; R3: K is made of type, ID and Os."""
    ((_, message),) = read(tmp_path, insert_line()).messages
    assert message == insert(primitive("A", "a", 1, FOREVER))
    assert isinstance(message, Insert)
    assert message.lineage_key == "A/a@1"


def test_a_retraction_may_name_the_default_key_by_type_id_and_os(tmp_path: Path) -> None:
    found = read(tmp_path, '{"retract": {"type": "A", "id": 7, "os": 1, "oe": 3}}')
    assert [message for _, message in found.messages] == [Retract("A/7@1", occurrence_end=3)]


def test_times_are_integers_or_timestamps(tmp_path: Path) -> None:
    ((_, message),) = read(tmp_path, insert_line(vs="1970-01-01T00:00:01Z", ve="1970-01-01 00:00:02+00:00")).messages
    assert isinstance(message, Insert)
    assert (message.event.valid_start, message.event.valid_end) == (1_000_000, 2_000_000)


def test_integers_as_id_and_key_are_their_decimal_text(tmp_path: Path) -> None:
    ((_, message),) = read(tmp_path, insert_line(id=7, k=8)).messages
    assert isinstance(message, Insert)
    assert (message.event.id, message.lineage_key) == ("7", "8")


@pytest.mark.parametrize(
    "line",
    [
        '{"insert": {"type": "A", "id": "a", "vs": 1}, "source": "s"}',
        '{"insert": {"type": "A", "id": "a", "vs": 1, "source": "s"}}',
        '{"retract": {"k": "K"}, "source": "s"}',
        '{"retract": {"k": "K", "source": "s"}}',
        '{"guarantee": 3, "source": "s"}',
    ],
)
def test_the_source_stands_beside_or_inside_a_message(tmp_path: Path, line: str) -> None:
    ((_, message),) = read(tmp_path, line).messages
    assert message.provider == "s"


def test_null_is_forever_and_stands_for_what_is_not_given(tmp_path: Path) -> None:
    found = read(tmp_path, insert_line(ve=None, oe=None, k=None, payload=None, source=None) + '\n{"guarantee": null}')
    assert [message for _, message in found.messages] == [insert(primitive("A", "a", 1)), Guarantee(FOREVER)]


def test_blank_lines_windows_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    found = read(tmp_path, b"\xef\xbb\xbf\r\n  \n" + insert_line().encode() + b"\r\n\n" + b'{"guarantee": 3}')
    assert found.dead_letters == []
    assert [position.line for position, _ in found.messages] == [3, 5]


def test_a_position_prints_file_line_and_column(tmp_path: Path) -> None:
    found = read(tmp_path, "\n" + insert_line())
    assert str(found.messages[0][0]) == f"{found.name}:2:12"


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, "")
    assert (found.messages, found.dead_letters, list(found.types)) == ([], [], [])


FAULTS = {
    '{"insert": ': ("bad-json", "this is not JSON: expecting value", 12),
    "hello": ("bad-json", "this is not JSON: expecting value", 1),
    '{"guarantee": 1} 2': ("bad-json", "this is not JSON: extra data", 18),
    '{"guarantee": 1, "guarantee": 2}': ("bad-json", 'the key "guarantee" stands twice in one object', 18),
    '{"guarantee": NaN}': ("bad-json", "NaN is not JSON; leave the attribute out or write null", 15),
    '{"guarantee": -Infinity}': ("bad-json", "-Infinity is not JSON; leave the attribute out or write null", 15),
    '{"guarantee": 1e999}': ("bad-json", "1e999 is beyond the range of a number", 15),
    '{"guarantee": ' + "1" * 5000 + "}": ("bad-json", "a number of 5000 digits is beyond 64 bits", 15),
    '{"guarantee": 0.' + "1" * 5000 + "}": (
        "bad-json",
        "a number of 5002 characters is longer than any we keep",
        15,
    ),
    r'{"guarantee": "\ud83d\ude00\ud800"}': ("bad-json", r"\ud800 is half of a surrogate pair and no character", 28),
    "[1]": ("bad-message", "a message is an object, this is a list", 1),
    "3": ("bad-message", "a message is an object, this is an integer, 3", 1),
    "{}": ("bad-message", "the message says nothing", 1),
    '{"source": "s"}': ("bad-message", "the message says nothing", 1),
    '{"upsert": {}}': ("unknown-message", 'there is no message "upsert"', 2),
    '{"guarantee": 1, "retract": {}}': ("bad-message", "one message cannot be both retract and guarantee", 2),
    '{"guarantee": 1, "sauce": 2}': ("unknown-field", 'a message has no field "sauce"', 18),
    '{"guarantee": 1, "source": 2}': ("bad-message", '"source" must be a string, it is an integer, 2', 28),
    '{"guarantee": true}': (
        "bad-time",
        '"guarantee" must be a time: a boolean, True, is neither an integer nor an ISO timestamp',
        15,
    ),
    '{"guarantee": 9223372036854775808}': (
        "time-out-of-range",
        '"guarantee" must be a time: 9223372036854775808 is beyond 64 bits',
        15,
    ),
    '{"guarantee": -9223372036854775808}': (
        "time-out-of-range",
        '"guarantee" must be a time: -9223372036854775808 is beyond 64 bits',
        15,
    ),
    '{"insert": 3}': ("bad-message", '"insert" must be an object, it is an integer, 3', 12),
    '{"insert": {"type": "A"}}': ("missing-field", 'an insert needs "id", "vs"', 12),
    insert_line(type=""): ("bad-message", "\"type\" must be a string with a name, it is a string, ''", 21),
    insert_line(type=3): ("bad-message", '"type" must be a string with a name, it is an integer, 3', 21),
    insert_line(id=True): ("bad-message", '"id" must be a string or an integer, it is a boolean, True', 32),
    insert_line(id=None): ("bad-message", '"id" must be a string or an integer, it is null', 32),
    insert_line(k=[1]): ("bad-message", '"k" must be a string or an integer, it is a list', 51),
    insert_line(Vs=2): ("unknown-field", 'an insert has no field "Vs"', 46),
    insert_line(vs=1.0): (
        "bad-time",
        '"vs" must be a time: a number, 1.0, is neither an integer nor an ISO timestamp',
        43,
    ),
    insert_line(vs=1e30): (
        "bad-time",
        '"vs" must be a time: a number, 1e+30, is neither an integer nor an ISO timestamp',
        43,
    ),
    insert_line(vs=2**63): ("time-out-of-range", '"vs" must be a time: 9223372036854775808 is beyond 64 bits', 43),
    insert_line(vs="soon"): (
        "bad-time",
        "\"vs\" must be a time: a string, 'soon', is no ISO timestamp such as 2026-01-31T12:00:00Z",
        43,
    ),
    insert_line(vs=None): ("time-out-of-range", '"vs" must be before FOREVER', 43),
    insert_line(os=None): ("time-out-of-range", '"os" must be before FOREVER', 52),
    insert_line(ve=0): ("valid-end-before-start", "the event ends before it starts: ve = 0 is less than vs = 1", 52),
    insert_line(oe=0): (
        "occurrence-end-before-start",
        "the event ends before it starts: oe = 0 is less than os = 1",
        52,
    ),
    insert_line(payload=[]): ("bad-message", '"payload" must be an object of attributes and values, it is a list', 57),
    insert_line(payload={"x": 2**63}): (
        "wrong-value",
        'attribute "x" is ANY: 9223372036854775808 is beyond 64 bits',
        63,
    ),
    '{"insert": {"type": "A", "id": "a", "vs": 1, "source": "s"}, "source": "t"}': (
        "bad-message",
        'the source is both "t" and "s"',
        56,
    ),
    '{"retract": []}': ("bad-message", '"retract" must be an object, it is a list', 13),
    '{"retract": {}}': ("missing-field", 'a retraction needs "k"', 13),
    '{"retract": {"id": "a"}}': ("missing-field", 'a retraction without "k" needs "type", "os"', 13),
    '{"retract": {"k": "K", "id": "a"}}': (
        "bad-message",
        'a retraction names its row by "k" or by type, id and os, not by both "k" and "id"',
        24,
    ),
    '{"retract": {"k": "K", "vs": 3}}': ("unknown-field", 'a retraction has no field "vs"', 24),
    '{"retract": {"k": "K", "oe": null}}': (
        "lengthening-retraction",
        'a retraction only shortens, "oe" cannot be FOREVER',
        30,
    ),
    '{"retract": {"k": "K", "ve": "x"}}': (
        "bad-time",
        "\"ve\" must be a time: a string, 'x', is no ISO timestamp such as 2026-01-31T12:00:00Z",
        30,
    ),
}


@pytest.mark.parametrize(("line", "expected"), FAULTS.items(), ids=lambda value: str(value)[:40])
def test_a_line_that_breaks_the_contract_is_a_dead_letter(
    tmp_path: Path, line: str, expected: tuple[str, str, int]
) -> None:
    code, primary, column = expected
    assert one_fault(tmp_path, "\n" + line) == (code, primary, 2, column)


def test_what_exists_instead_is_listed(tmp_path: Path) -> None:
    (letter,) = read(tmp_path, insert_line(price=3)).dead_letters
    assert letter.detail == f"the fields are: {', '.join(INSERT_FIELDS)}"
    assert letter.hint == 'attributes of the event go into "payload"'


def test_bytes_that_are_no_text_are_a_dead_letter(tmp_path: Path) -> None:
    code, primary, line, column = one_fault(tmp_path, b'{"insert": \xff\x00}\n')
    assert (code, line, column) == ("bad-encoding", 1, 12)
    assert primary == "the line is not UTF-8 text: byte 0xff (invalid start byte)"


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    (letter,) = read(tmp_path, b"\x1b[31m\x00\n").dead_letters
    assert "\x1b" not in letter.render()
    assert "\x00" not in letter.render()


@pytest.mark.parametrize("depth", [DEEPEST, 100_000])
def test_deep_nesting_is_a_dead_letter(tmp_path: Path, depth: int) -> None:
    line = '{"insert": {"type": "A", "id": "a", "vs": 1, "payload": {"x": ' + "[" * depth + "]" * depth + "}}}"
    assert one_fault(tmp_path, line)[:2] == ("bad-json", "the value is nested more than 100 deep")


def test_a_huge_line_is_a_dead_letter_and_the_next_line_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, b"x" * (2 * LONGEST_LINE + 3) + b"\n" + insert_line().encode())
    assert [letter.code for letter in found.dead_letters] == ["line-too-long"]
    assert [position.line for position, _ in found.messages] == [2]


def test_one_wrong_line_does_not_hide_the_others(tmp_path: Path) -> None:
    found = read(tmp_path, f"{insert_line()}\nbroken\n{insert_line(id='b')}\n")
    assert len(found.messages) == 2
    assert [letter.span and letter.span.line for letter in found.dead_letters] == [2]


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(StreamError) as caught:
        read_messages(tmp_path / name)
    assert caught.value.diagnostics[0].code == "cannot-read"
    assert "\n" not in str(caught.value)


TYPED = EventTypes(
    {"A": EventType("A", {"name": DataType.STRING, "price": DataType.DECIMAL, "at": DataType.TIMESTAMP})}
)


def test_a_declared_type_gives_the_payload_its_attributes(tmp_path: Path) -> None:
    """Missing attributes are NULL; the order is that of the declaration."""
    ((_, message),) = read(tmp_path, insert_line(payload={"at": 3, "name": "n"}), TYPED).messages
    assert isinstance(message, Insert)
    assert list(message.event.payload.items()) == [("name", "n"), ("price", None), ("at", 3)]


def test_an_attribute_that_is_not_declared_is_a_dead_letter(tmp_path: Path) -> None:
    found = read(tmp_path, insert_line(payload={"prize": 3}), TYPED)
    (letter,) = found.dead_letters
    assert (letter.code, letter.primary) == ("unknown-attribute", 'event type "A" has no attribute "prize"')
    assert letter.detail == "A has: name, price, at"
    assert letter.span is not None
    assert letter.span.column == 58


def test_a_value_of_another_type_is_a_dead_letter(tmp_path: Path) -> None:
    code, primary, _, column = one_fault(tmp_path, insert_line(payload={"name": 3}), TYPED)
    assert (code, column) == ("wrong-value", 66)
    assert primary == 'attribute "name" is STRING: an integer, 3, is not a string'


def test_messages_at_hand_are_read_like_lines() -> None:
    event = primitive("A", "b", 2, payload={"x": 2})
    found = take_messages([{"insert": {"type": "A", "id": "a", "vs": 1, "payload": {"x": 1}}}, insert(event)])
    assert [message.event.id for _, message in found.messages if isinstance(message, Insert)] == ["a", "b"]
    assert found.types.types["A"].attributes == {"x": DataType.INTEGER}


def test_messages_at_hand_are_held_to_the_same_rules() -> None:
    given = [
        {"guarantee": "x"},
        insert(primitive("A", "b", 2, 1)),
        insert(primitive("A", "b", 2, payload={"name": 3})),
        insert(primitive("A", "c", 2, payload={"name": "n"})),
        Retract("K", valid_end=3),
        Guarantee(3),
    ]
    found = take_messages(given, TYPED)
    assert [letter.code for letter in found.dead_letters] == ["bad-time", "valid-end-before-start", "wrong-value"]
    assert [str(letter.span and letter.span.source.name) for letter in found.dead_letters] == ["<messages>"] * 3
    assert [letter.span and letter.span.line for letter in found.dead_letters] == [1, 2, 3]
    first = found.messages[0][1]
    assert isinstance(first, Insert)
    assert first.event.payload == Payload({"name": "n", "price": None, "at": None})
