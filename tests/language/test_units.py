"""Which durations were written with a unit, and which in ticks (R50); rendering keeps both as they were."""

from __future__ import annotations

from datetime import timedelta

import pytest

import cedr
from cedr.language.parse import parse
from cedr.language.render import render
from cedr.language.units import written_durations


def told(text: str) -> list[tuple[str, bool, str]]:
    return [(found.text, found.unit, found.what) for found in written_durations(parse(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EVENT Q WHEN SEQUENCE(A, B, 5 minutes)", [("5 minutes", True, "the scope of SEQUENCE")]),
        ("EVENT Q WHEN SEQUENCE(A, B, 300)", [("300", False, "the scope of SEQUENCE")]),
        ("EVENT Q WHEN CANCEL-WHEN(ALL(A, B, 3), C)", [("3", False, "the scope of ALL")]),
        ("EVENT Q WHEN ATMOST(3, A WEIGHT 2, 5 s)", [("5 s", True, "the scope of ATMOST")]),
        ("EVENT Q WHEN UNLESS(A, B, 1, 5\n  hours)", [("5 hours", True, "the scope of UNLESS")]),
        (
            "EVENT Q WHEN UNLESS(ATLEAST(2, A, B, 7), C, 1 day)",
            [("7", False, "the scope of ATLEAST"), ("1 day", True, "the scope of UNLESS")],
        ),
        ("EVENT Q WHEN A WHERE {A.Vs - B.Vs < 5 ms}", [("5 ms", True, "a duration in an expression")]),
        ("EVENT Q WHEN A WHERE {A.x < 5} OUTPUT A.y + 7 AS z", []),
        ("EVENT Q FROM A WINDOW MOVING 10 minutes", [("10 minutes", True, "the window MOVING")]),
        ("EVENT Q FROM A WINDOW TUMBLING 10", [("10", False, "the window TUMBLING")]),
        ("EVENT Q FROM A WINDOW SESSION 10 s", [("10 s", True, "the window SESSION")]),
        (
            "EVENT Q FROM A WINDOW HOPPING 1 hour EVERY 5",
            [("1 hour", True, "the window HOPPING"), ("5", False, "EVERY")],
        ),
        ("EVENT Q FROM A WINDOW LIFETIME Vs, 5", [("5", False, "the length of a LIFETIME")]),
        ("EVENT Q FROM A WINDOW LIFETIME Vs, 5 s", [("5 s", True, "the length of a LIFETIME")]),
        ("EVENT Q FROM A WINDOW LIFETIME Vs + 1 s, a.n", [("1 s", True, "a duration in an expression")]),
        ("EVENT Q FROM (FROM A WINDOW MOVING 5) AS b", [("5", False, "the window MOVING")]),
        (
            "EVENT Q WHEN ANY(A) CONSISTENCY BLOCKING 2 seconds MEMORY 9 OF CEDR TIME",
            [("2 seconds", True, "BLOCKING"), ("9", False, "MEMORY")],
        ),
        (
            "TYPE A (x INTEGER) REVISABLE FOR 3 WITH (disorder = 10 minutes, idle = 4)",
            [
                ("3", False, "REVISABLE FOR"),
                ("10 minutes", True, "the option disorder"),
                ("4", False, "the option idle"),
            ],
        ),
    ],
)
def test_each_duration_tells_whether_it_has_a_unit(text: str, expected: list[tuple[str, bool, str]]) -> None:
    assert told(text) == expected


def test_zero_and_forever_have_no_unit() -> None:
    assert told("EVENT Q WHEN SEQUENCE(A, B, FOREVER) CONSISTENCY BLOCKING 0 seconds MEMORY FOREVER") == []
    assert told("TYPE A (x INTEGER) REVISABLE; EVENT Q FROM A WINDOW MOVING FOREVER CONSISTENCY WEAK") == []


def test_a_duration_knows_its_place_and_its_query() -> None:
    file = parse("EVENT P WHEN SEQUENCE(A, B, 5); EVENT Q WHEN UNLESS(P, C, 2 days)", "q.cedr")
    first, second = written_durations(file)
    assert (first.query, second.query) == ("P", "Q")
    assert second.span is not None
    assert (second.span.text, second.span.source.name) == ("2 days", "q.cedr")


@pytest.mark.parametrize(
    "text",
    [
        "EVENT Q\nWHEN SEQUENCE(A, B, 5000);\n",
        "EVENT Q\nWHEN SEQUENCE(A, B, 720 minutes);\n",
        "EVENT Q\nWHEN UNLESS(A, B, 1, 90 s)\nCONSISTENCY BLOCKING 60 seconds MEMORY 3600000000 OF CEDR TIME;\n",
        "EVENT Q\nFROM A\nWINDOW HOPPING 60 minutes EVERY 3000;\n",
        "TYPE A () REVISABLE FOR 1000;\n",
    ],
)
def test_rendering_keeps_units_and_ticks_as_they_were_written(text: str) -> None:
    assert render(parse(text)) == text


@pytest.mark.parametrize(
    ("within", "text", "unit"),
    [
        ("5 minutes", "5 minutes", True),
        (timedelta(minutes=5), "5 minutes", True),
        (timedelta(microseconds=1), "0.001 ms", True),
        (5_000, "5000", False),
        ("5000", "5000", False),
    ],
)
def test_queries_built_in_python_tell_it_too(within: str | int | timedelta, text: str, unit: bool) -> None:
    for query in (
        cedr.sequence("A", "B", within=within),
        cedr.all_of("A", "B", within=within),
        cedr.at_least(1, "A", "B", within=within),
        cedr.at_most(1, "A", "B", within=within),
        cedr.unless("A", "B", within=within),
        cedr.stream("A").window(cedr.moving(within)),
        cedr.stream("A").window(cedr.tumbling(within)),
        cedr.stream("A").window(cedr.session(within)),
    ):
        (found,) = written_durations(query.to_file())
        assert (found.text, found.unit, found.span, found.query) == (text, unit, None, "Query")
        assert text in query.to_text()
    hopping = cedr.stream("A").window(cedr.hopping(within, "1 s"))
    assert [found.unit for found in written_durations(hopping.to_file())] == [unit, True]
