"""Rows and changes as data and as tables."""

from __future__ import annotations

from dataclasses import replace

from cedr.connect.rows import change_as_data, contributor_ids, row_as_data
from cedr.connect.tables import Table, changes_table, messages_table, rows_table
from cedr.model.event import Event, Payload, primitive
from cedr.model.schema import DataType, EventType
from cedr.model.stream import Change, Guarantee, Insert, Retract, insert
from cedr.model.time import DAY, FOREVER, SECOND, parse_timestamp

A = primitive("A", "a", 1, payload={"x": 1})
B = primitive("B", "b", 3, payload={"x": 2})
PAIR = Event("Q", "f" * 32, 3, 11, 3, FOREVER, 1, (A, B), Payload({"n": 2, "text": "ä"}))
TYPE = EventType("Q", {"n": DataType.INTEGER, "text": DataType.STRING})
PRIMITIVE = {"A", "B"}


def test_a_row_has_these_keys_in_this_order() -> None:
    """Paper: Section 3.3.1.  The contract of ``cedr eval --json``."""
    assert list(row_as_data(PAIR, PRIMITIVE).items()) == [
        ("id", "f" * 32),
        ("vs", 3),
        ("ve", 11),
        ("os", 3),
        ("oe", None),
        ("rt", 1),
        ("contributors", ["a", "b"]),
        ("payload", {"n": 2, "text": "ä"}),
    ]


def test_contributors_are_flattened_in_pattern_order() -> None:
    nested = replace(PAIR, contributors=(B, replace(PAIR, contributors=(A, B))))
    assert contributor_ids(nested, PRIMITIVE) == ["b", "a", "b"]


def test_an_aggregate_has_no_contributors_and_a_primitive_event_itself() -> None:
    aggregate = replace(PAIR, contributors=())
    assert contributor_ids(aggregate, PRIMITIVE) == []
    assert contributor_ids(replace(PAIR, contributors=(A, aggregate)), PRIMITIVE) == ["a"]
    assert contributor_ids(A, PRIMITIVE) == ["a"]


CHANGES = [
    Change(Insert(PAIR, "K"), 3, PAIR),
    Change(Retract("K", occurrence_end=5), 4, PAIR),
    Change(Retract("K", valid_end=7), 5, PAIR),
    Change(Retract("K"), 6, PAIR),
    Change(Guarantee(12), 7),
    Change(Guarantee(FOREVER), 8),
]


def test_changes_as_data() -> None:
    said = {"k": "K", "id": "f" * 32}
    assert [change_as_data(change, PRIMITIVE) for change in CHANGES] == [
        {"change": "insert", "k": "K", "cs": 3, **row_as_data(PAIR, PRIMITIVE)},
        {"change": "retract", "cs": 4, **said, "oe": 5},
        {"change": "retract", "cs": 5, **said, "ve": 7},
        {"change": "retract", "cs": 6, **said},
        {"change": "guarantee", "cs": 7, "guarantee": 12},
        {"change": "guarantee", "cs": 8, "guarantee": None},
    ]
    assert list(change_as_data(CHANGES[0], PRIMITIVE))[:3] == ["change", "k", "cs"]


def test_rows_as_a_table() -> None:
    assert rows_table([PAIR, replace(PAIR, payload=Payload())], TYPE, PRIMITIVE).as_text() == (
        "ID        Vs  Ve  Os  Oe  Rt  cbt[]     n  text\n"
        "--------  --  --  --  --  --  -----  ----  ----\n"
        "ffffffff   3  11   3   ∞   1  a, b      2  ä\n"
        "ffffffff   3  11   3   ∞   1  a, b   NULL  NULL"
    )


def test_changes_as_a_table() -> None:
    """Figure 2: a retraction is shown as the row that it leaves; Oe = Os where it is removed."""
    said = [*CHANGES[:5], Change(Retract("L"), 8)]
    assert changes_table(said, TYPE, PRIMITIVE).as_text() == (
        "Cs  change     ID        Vs  Ve  Os  Oe  Rt  cbt[]  n  text\n"
        "--  ---------  --------  --  --  --  --  --  -----  -  ----\n"
        " 3  insert     ffffffff   3  11   3   ∞   1  a, b   2  ä\n"
        " 4  retract    ffffffff   3  11   3   5   1  a, b   2  ä\n"
        " 5  retract    ffffffff   3   7   3   ∞   1  a, b   2  ä\n"
        " 6  retract    ffffffff   3  11   3   3   1  a, b   2  ä\n"
        " 7  guarantee                    12\n"
        " 8  retract"
    )


def test_messages_as_a_table() -> None:
    messages = [insert(A, "K"), Retract("K", valid_end=3), Retract("K"), Retract("L"), insert(B), Guarantee(12, "s")]
    assert messages_table(enumerate(messages, 1)).as_text() == (
        "Cs  message    type  ID  Vs  Ve  Os  Oe  K  payload\n"
        "--  ---------  ----  --  --  --  --  --  -  -------\n"
        " 1  insert     A     a    1   ∞   1   ∞  K  x=1\n"
        " 2  retract    A     a    1   3   1   ∞  K  x=1\n"
        " 3  retract    A     a    1   3   1   1  K  x=1\n"
        " 4  retract                              L\n"
        " 5  insert     B     b    3   ∞   3   ∞     x=2\n"
        " 6  guarantee  s                 12"
    )


def test_times_far_from_zero_are_shown_as_timestamps() -> None:
    moment = parse_timestamp("2026-01-31T12:00:00Z")
    typed = EventType("A", {"at": DataType.TIMESTAMP})
    first = primitive("A", "a", moment, payload={"at": moment})
    table = rows_table([first], typed, PRIMITIVE)
    shown = dict(zip(table.heads, table.rows[0], strict=True))
    assert (shown["Vs"], shown["Ve"], shown["at"]) == ("12:00", "∞", "12:00")
    assert table.note == "(times of 2026-01-31, UTC)"
    later = rows_table([first, primitive("A", "b", moment + DAY)], typed, PRIMITIVE)
    assert later.rows[0][1] == "2026-01-31 12:00:00Z"
    assert later.note == ""
    seconds = rows_table([first, primitive("A", "b", moment + SECOND)], typed, PRIMITIVE)
    assert [row[1] for row in seconds.rows] == ["12:00:00", "12:00:01"]


def test_a_table_without_rows_is_its_head() -> None:
    assert Table(("a", "bc"), ()).as_text() == "a  bc\n-  --"


def test_wide_characters_take_two_columns() -> None:
    assert Table(("a", "b"), (("漢", "x"), ("y", "z"))).as_text().splitlines()[2:] == ["漢  x", "y   z"]
