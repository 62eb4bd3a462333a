"""Notes about UNLESS at a level: where, how long rows wait, what may retract them, what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import cedr
from cedr.diagnostics.diagnostic import Diagnostic

HERE = Path(__file__).parent / "cases"


def note(body: str, level: str = "MIDDLE") -> Diagnostic | None:
    found = cedr.explain(f"EVENT Q {body}", consistency=level).notes
    assert len(found) <= 1
    return found[0] if found else None


CASES = [
    ("WHEN UNLESS(A AS a, B AS b, 5 minutes)", "MIDDLE"),
    ("WHEN UNLESS(SEQUENCE(A AS a, B AS b, 1 hour), C AS c, 5 minutes)", "WEAK"),
    ("WHEN UNLESS(A AS a, B AS b, 5 minutes)", "BLOCKING 1 minute MEMORY 1 hour"),
    ("WHEN UNLESS(A AS a, B AS b, 5 minutes)", "BLOCKING 5 minutes MEMORY FOREVER"),
    ("WHEN UNLESS(A AS a, B AS b, 5 minutes)", "BLOCKING 7 minutes MEMORY FOREVER"),
    ("WHEN SEQUENCE(UNLESS(A AS a, B AS b, 5 minutes), UNLESS(C AS c, D AS d, 7 minutes), 1 hour)", "MIDDLE"),
    ("WHEN UNLESS(A AS a, B AS b, FOREVER)", "MIDDLE"),
]


def test_the_notes_are_as_they_were_read(golden: Callable[[Path, str], None]) -> None:
    found = [note(body, level) for body, level in CASES]
    golden(HERE / "notes.txt", "\n\n".join(each.render() for each in found if each is not None) + "\n")


@pytest.mark.parametrize(
    ("body", "level"),
    [
        ("WHEN UNLESS(A AS a, B AS b, 5 minutes)", "STRONG"),
        ("WHEN UNLESS(A AS a, B AS b, 1, 5 minutes)", "MIDDLE"),
        ("WHEN SEQUENCE(A AS a, B AS b, 5 minutes)", "MIDDLE"),
        ("WHEN NOT(C AS c, SEQUENCE(A AS a, B AS b, 5 minutes))", "MIDDLE"),
        ("WHEN UNLESS(A AS a, B AS b, 5 minutes)", "BLOCKING 2 seconds OF CEDR TIME MEMORY FOREVER"),
    ],
)
def test_where_nothing_surprises_there_is_no_note(body: str, level: str) -> None:
    assert note(body, level) is None


@pytest.mark.parametrize(
    ("first", "offered"),
    [
        ("A AS a", "UNLESS(…, 1, 5 minutes)"),
        ("SEQUENCE(A AS a, C AS c, 1 hour)", "UNLESS(…, 2, 5 minutes)"),
        ("ATLEAST(2, A AS a, C AS c, D AS d, 1 hour)", "UNLESS(…, 2, 5 minutes)"),
        ("UNLESS(A AS a, C AS c, 1 minute)", ""),
    ],
)
def test_the_counted_form_is_offered_where_it_means_the_same(first: str, offered: str) -> None:
    found = note(f"WHEN UNLESS({first}, B AS b, 5 minutes)")
    assert found is not None
    assert offered in found.hint
    assert ("UNLESS(…" in found.hint) == bool(offered)


def test_the_place_is_that_of_the_unless() -> None:
    found = note("WHEN CANCEL-WHEN(UNLESS(A AS a, B AS b, 5 minutes), C AS c)")
    assert found is not None
    assert found.span is not None
    assert found.span.text == "UNLESS(A AS a, B AS b, 5 minutes)"
    assert (found.code, found.severity) == ("unless-early", "note")


def test_a_query_built_in_python_has_the_note_without_a_place() -> None:
    explanation = cedr.explain(cedr.unless("A", "B", within="5 minutes"))
    (found,) = explanation.notes
    assert found.span is None
    assert explanation.as_data()["notes"][0]["code"] == "unless-early"
    assert found.render() in explanation.as_text()
