"""What is said of wrong texts: codes, places, hints; several errors at once."""

from __future__ import annotations

import pytest

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import LanguageError
from cedr.language.check import check_text
from cedr.language.parse import parse


def said(text: str) -> list[Diagnostic]:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    return list(caught.value.diagnostics)


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("x FROM A", "x", "begins with TYPE or EVENT"),
        ("SELECT x FROM A", "SELECT", "EVENT name FROM"),
        ("EVENT", "T", "WHEN … for a pattern"),
        ("TYPE T", "T", "write TYPE name ("),
        ("EVENT Q WHEN A EVENT R WHEN B", "EVENT", "separated by a semicolon"),
        ("EVENT Q WHEN ANY(A AS x B AS y)", "B", "a comma missing"),
        ("EVENT Q WHEN SEQUENCE(A, B, 5m)", "m", "units are weeks"),
        ("EVENT Q WHEN SEQUENCE(A, B, 5 parsecs)", "parsecs", '"parsecs" is no unit'),
        ("EVENT Q FROM A WHERE a == 1", "==", 'a single "="'),
        ('EVENT Q FROM A WHERE a LIKE b "c"', '"c"', "double quotes are for names"),
        ("EVENT Q WHEN A AS SELECT SELECT x", "SELECT", "EVENT name FROM"),
        ("EVENT Q FROM A GROUP BY HAVING a", "HAVING", "in double quotes"),
        ("EVENT Q FROM A WHERE AND b", "AND", "in double quotes"),
        ("EVENT Q WHEN ANY(A) 5", "5", ""),
        ("EVENT Q WHEN", "N", ""),
        ('EVENT Q WHEN ANY(A AS "")', '""', "write the name inside"),
    ],
)
def test_frequent_mistakes(text: str, place: str, hint: str) -> None:
    (error,) = said(text)
    assert error.code == "syntax"
    assert error.span is not None
    assert not place or error.span.text == place
    assert hint in error.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EVENT Q", "expected FROM or WHEN"),
        ("EVENT Q WHEN A WHERE", "expected an expression"),
        ("EVENT Q WHEN SEQUENCE(", None),
        ("EVENT Q WHEN ,", "expected an event expression"),
        ("EVENT Q FROM A WHERE a b", "an operator"),
        ("EVENT Q FROM A WINDOW MOVING x", "expected a duration"),
        ("EVENT 5", "expected a name"),
        ("EVENT Q WHEN A AS a )", None),
        ("EVENT Q FROM A WINDOW", "expected COALESCED, DELETES, HOPPING"),
        ("EVENT Q WHEN A @ [x", None),
        ("EVENT Q WHEN A WHERE [k EQUAL]", "a text in single quotes"),
        ("EVENT Q WHEN A WEIGHT 5 WEIGHT", '";" or the end'),
    ],
)
def test_what_was_expected_is_said_in_words(text: str, expected: str | None) -> None:
    (error,) = said(text)
    assert expected is None or expected in error.detail
    assert "ANON" not in error.detail


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("EVENT Q WHEN SEQUENCE(A, 5 minutes, B)", "scope-missing", "5 minutes"),
        ("EVENT Q WHEN ATLEAST(2, A, 5 minutes, B)", "scope-missing", "5 minutes"),
        ("EVENT Q WHEN SEQUENCE()", "scope-missing", ")"),
        ("EVENT Q WHEN SEQUENCE(A, B) DISJOINT", "scope-missing", ")"),
        ("EVENT Q WHEN ATLEAST(2)", "scope-missing", ")"),
        ("EVENT Q WHEN EXACTLY(2, A, B)", "scope-missing", ")"),
        ("EVENT Q WHEN UNLESS(A, B, 1.5)", "scope-not-duration", "1.5"),
        ("EVENT Q WHEN SEQUENCE(A, B, TIMESTAMP '2026-01-01')", "scope-not-duration", "TIMESTAMP '2026-01-01'"),
        ("EVENT Q WHEN ATMOST(1 hour, A, 5)", "count-not-number", "1 hour"),
        ("EVENT Q WHEN UNLESS(A, B, 1 hour, 2 hours)", "count-not-number", "1 hour"),
        ("EVENT Q WHEN ATMOST(1, A WEIGHT 2 days, 5)", "count-not-number", "2 days"),
        ("EVENT Q WHEN ANY(A, 5)", "wrong-arguments", "5"),
        ("EVENT Q WHEN SEQUENCE(5, A, 5)", "wrong-arguments", "5"),
        ("EVENT Q WHEN SEQUENCE(5)", "wrong-arguments", "SEQUENCE(5)"),
        ("EVENT Q WHEN CANCEL-WHEN(A)", "wrong-arguments", "CANCEL-WHEN(A)"),
        ("EVENT Q WHEN CANCEL-WHEN(A FROM ROOT, B)", "wrong-arguments", "A FROM ROOT"),
        ("EVENT Q WHEN SEQUENCE(A, B FROM ROOT, 5)", "wrong-arguments", "B FROM ROOT"),
        ("EVENT Q WHEN UNLESS(A, B, 5 WITH TIES)", "wrong-arguments", "5 WITH TIES"),
        ("EVENT Q WHEN ATLEAST(1 WITH TIES, A, 5)", "wrong-arguments", "1 WITH TIES"),
        ("EVENT Q WHEN ANY(A, 5 WITH TIES)", "wrong-arguments", "5 WITH TIES"),
        ("EVENT Q WHEN NOT(A, B, C)", "wrong-arguments", "NOT(A, B, C)"),
        ("EVENT Q WHEN A)", "unbalanced-bracket", ")"),
        ("EVENT Q WHEN ANY(A]", "unbalanced-bracket", "]"),
        ("EVENT Q WHEN ANY(A, {B)", "unbalanced-bracket", ")"),
        ("EVENT Q WHEN A WHERE a = `b`", "unexpected-character", "`"),
        ("EVENT Q WHEN A WHERE a = “b”", "unexpected-character", "“"),
        ("EVENT Q WHEN A WHERE a = 'b", "unterminated-string", "'"),
        ("EVENT Q WHEN A WHERE a = 'b\nAND c = 'd'", "unterminated-string", "'"),
        ('EVENT "Q WHEN A', "unterminated-string", '"'),
        ("EVENT Q WHEN A CONSISTENCY BLOCKING 0 MEMORY -1 hour", "level-negative", "-1 hour"),
        ("TYPE T (x XYZZY)", "unknown-data-type", "XYZZY"),
    ],
)
def test_the_place_of_an_error(text: str, code: str, place: str) -> None:
    first = said(text)[0]
    assert first.span is not None
    assert (first.code, first.span.text) == (code, place)


def test_the_first_quote_that_ends_oddly_is_blamed() -> None:
    (error,) = said("EVENT Q WHEN A WHERE a = 'b\nAND c = 'd' AND e = 'f'")
    assert error.span is not None
    assert error.span.line == 1
    assert "runs over the end of its line" in error.primary
    (error,) = said("EVENT Q WHEN A WHERE a = 'O'Neill'")
    assert "in the middle of a word" in error.primary


def test_errors_of_several_statements_come_together() -> None:
    found = said(
        "EVENT P WHEN SEQUENCE(A, B);\nEVENT WHEN;\nTYPE T (x STRNG);\nEVENT R WHEN ANY(§);\nEVENT S WHEN ANY(A"
    )
    assert [(error.code, error.span.line) for error in found if error.span] == [
        ("scope-missing", 1),
        ("syntax", 2),
        ("unknown-data-type", 3),
        ("unexpected-character", 4),
        ("unbalanced-bracket", 5),
    ]


def test_a_new_statement_is_a_new_beginning() -> None:
    found = said("EVENT P WHEN A WHEN B\nEVENT Q WHEN C x y\nTYPE T (x 5)")
    assert [error.span.line for error in found if error.span] == [1, 2, 3]


def test_several_errors_in_one_statement_come_together() -> None:
    found = said("EVENT P WHEN ALL(SEQUENCE(A, B), ATLEAST(C, 5), '5') CONSISTENCY BLOCKING -1 MEMORY -2")
    assert [error.code for error in found] == [
        "scope-missing",
        "count-not-number",
        "scope-not-duration",
        "level-negative",
        "level-negative",
    ]


def test_errors_of_grammar_and_of_meaning_come_together() -> None:
    """What a broken statement would have defined is not called unknown."""
    text = (
        "TYPE T (x STRNG); EVENT P WHEN ANY(T) WHERE T.y = 1; EVENT Q WHEN ANY(P, Nothing); EVENT R WHEN SEQUENCE(T, T)"
    )
    with pytest.raises(LanguageError) as caught:
        check_text(text)
    assert [error.code for error in caught.value.diagnostics] == [
        "unknown-data-type",
        "unknown-event-type",
        "scope-missing",
    ]
