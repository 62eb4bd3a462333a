"""Keywords as names (R47): no quotes where there is one reading; elsewhere the message says to quote."""

from __future__ import annotations

import pytest

from cedr.diagnostics.exceptions import LanguageError
from cedr.language.check import check_text
from cedr.language.lexer import keywords
from cedr.language.parse import parse
from cedr.language.render import render

NAMES = sorted(keywords() - {"CANCEL-WHEN"})

PLACES = {
    "a type": "TYPE {k} (x INTEGER)",
    "a type with a file": "TYPE {k} FROM 'x.csv' WITH (time = t)",
    "an attribute of a type": "TYPE T ({k} INTEGER, b STRING)",
    "a query of a pattern": "EVENT {k} WHEN ANY(A)",
    "a query of a relation": "EVENT {k} FROM A",
    "WHEN": "EVENT Q WHEN {k}",
    "WHEN, then WHERE": "EVENT Q WHEN {k} WHERE x = 1",
    "WHEN, then OUTPUT": "EVENT Q WHEN {k} OUTPUT x",
    "WHEN, then AS": "EVENT Q WHEN {k} AS a WHERE a.x = 1",
    "an operand": "EVENT Q WHEN SEQUENCE({k}, B, 5)",
    "the last operand": "EVENT Q WHEN SEQUENCE(A, {k}, 5)",
    "an operand with AS": "EVENT Q WHEN SEQUENCE({k} AS a, B, 5)",
    "an operand with FIRST and AS": "EVENT Q WHEN SEQUENCE(A, FIRST {k} AS b, 5)",
    "an operand with CONSUME": "EVENT Q WHEN SEQUENCE(A, {k} CONSUME, 5)",
    "an operand with WEIGHT": "EVENT Q WHEN ATMOST(1, {k} WEIGHT 2, 5)",
    "an operand with FROM ROOT": "EVENT Q WHEN CANCEL-WHEN(A, {k} FROM ROOT)",
    "a variable": "EVENT Q WHEN SEQUENCE(A AS {k}, B, 5) WHERE {k}.x = 1",
    "a variable in braces": "EVENT Q WHEN SEQUENCE(A AS {k} CONSUME, B, 5) WHERE {{{k}.x = 1}}",
    "a variable of a composite": "EVENT Q WHEN SEQUENCE(SEQUENCE(A, B, 5) AS {k}, B, 5)",
    "an attribute": "EVENT Q WHEN ANY(A AS a) WHERE a.{k} = 1 OUTPUT a.{k}, a.{k} AS n",
    "a key": "EVENT Q WHEN ANY(A) WHERE CorrelationKey({k}, EQUAL) AND [{k} EQUAL 1]",
    "OUTPUT … AS": "EVENT Q WHEN ANY(A) OUTPUT x AS {k}, y AS z CONSISTENCY STRONG",
    "FROM": "EVENT Q FROM {k}",
    "FROM, then AS": "EVENT Q FROM {k} AS a WHERE a.x = 1",
    "FROM, then a variable": "EVENT Q FROM {k} a WHERE a.x = 1",
    "FROM, then WHERE": "EVENT Q FROM {k} WHERE x = 1",
    "FROM, then JOIN": "EVENT Q FROM {k} JOIN B ON TRUE",
    "UNION": "EVENT Q FROM A UNION {k}",
    "JOIN": "EVENT Q FROM A JOIN {k} AS b ON TRUE",
    "a variable of FROM": "EVENT Q FROM A AS {k} WINDOW MOVING 5 GROUP BY {k}.x OUTPUT {k}.x",
    "a subquery": "EVENT Q FROM (FROM A) AS {k}",
    "GROUP BY … AS": "EVENT Q FROM A AS a GROUP BY a.{k} AS {k} HAVING a.{k} > 1",
}

BARE = {
    "a bare attribute": "EVENT Q WHEN ANY(A AS a) WHERE {k} = 1 AND 1 = {k}",
    "a bare attribute with IS": "EVENT Q FROM A WHERE {k} IS NULL AND {k} BETWEEN 1 AND 2",
    "a sum": "EVENT Q FROM A WHERE {k} + {k} > 2",
    "an argument": "EVENT Q FROM A GROUP BY x OUTPUT SUM({k}) AS n",
    "OUTPUT": "EVENT Q WHEN ANY(A) OUTPUT {k}, {k} AS y",
    "GROUP BY": "EVENT Q FROM A GROUP BY {k} OUTPUT {k}, COUNT(*) AS n",
    "LIFETIME": "EVENT Q FROM A WINDOW LIFETIME {k}, 5",
}
CONSTANTS = {"TRUE", "FALSE", "NULL", "FOREVER"}


@pytest.mark.parametrize("place", PLACES)
def test_a_keyword_needs_no_quotes_where_no_keyword_can_stand(place: str) -> None:
    text = PLACES[place]
    for name in (*NAMES, "end", "Order", "First"):
        quoted = parse(text.format(k=f'"{name}"'))
        assert parse(text.format(k=name)) == quoted, name
        assert parse(render(quoted)) == quoted, name


@pytest.mark.parametrize("place", BARE)
def test_in_an_expression_only_constants_need_quotes(place: str) -> None:
    text = BARE[place]
    for name in NAMES:
        quoted = parse(text.format(k=f'"{name}"'))
        assert (parse(text.format(k=name)) == quoted) is (name not in CONSTANTS), name
        assert parse(render(quoted)) == quoted


def test_a_column_may_be_called_like_a_keyword() -> None:
    for name in NAMES:
        text = "TYPE T FROM 'x.csv' WITH (time = {k}, id = t)"
        if name in CONSTANTS:
            with pytest.raises(LanguageError, match="in double quotes"):
                parse(text.format(k=name))
        else:
            assert parse(text.format(k=name)) == parse(text.format(k=f'"{name}"')), name


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("EVENT Q WHEN FIRST WHERE x = 1", 'EVENT Q WHEN "FIRST" WHERE x = 1'),
        ("EVENT Q WHEN SEQUENCE(A, FIRST CONSUME, 5)", 'EVENT Q WHEN SEQUENCE(A, "FIRST" CONSUME, 5)'),
        ("EVENT Q WHEN SEQUENCE(A, FIRST OUTPUT, 5)", 'EVENT Q WHEN SEQUENCE(A, FIRST "OUTPUT", 5)'),
        ("EVENT Q WHEN SEQUENCE(A, FIRST FIRST, 5)", 'EVENT Q WHEN SEQUENCE(A, FIRST "FIRST", 5)'),
        ("EVENT Q WHEN SEQUENCE(FIRST B, LAST, 5)", 'EVENT Q WHEN SEQUENCE(FIRST B, "LAST", 5)'),
        ("EVENT Q FROM A WHERE NOT NOT", 'EVENT Q FROM A WHERE NOT "NOT"'),
        ("EVENT Q FROM A WHERE NOT IS NULL", 'EVENT Q FROM A WHERE "NOT" IS NULL'),
        ("EVENT Q FROM A GROUP BY x OUTPUT COUNT(DISTINCT) AS n", None),
        ("EVENT Q FROM A OUTPUT DISTINCT x", None),
        ("EVENT Q WHEN SEQUENCE(A, B, FOREVER)", None),
        ("EVENT Q WHEN NOT(A, SEQUENCE(B, C, 5))", None),
    ],
)
def test_the_next_words_decide_between_a_keyword_and_a_name(text: str, same: str | None) -> None:
    assert parse(text) == parse(same or text)


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("EVENT Q WHEN SEQUENCE(A WHERE, B, 5)", "WHERE", 'in double quotes: "WHERE"'),
        ("EVENT Q WHEN SEQUENCE(A FROM, B, 5)", "FROM", 'in double quotes: "FROM"'),
        ("EVENT Q FROM A LEFT WHERE x = 1", "WHERE", 'in double quotes: "LEFT"'),
        ("EVENT Q FROM A UNION WHERE UNION.x = 1", ".", 'in double quotes: "UNION"'),
        ("EVENT Q FROM A GROUP WHERE GROUP.x = 1", "WHERE", 'in double quotes: "GROUP"'),
        ("EVENT Q WHEN ANY(FOREVER)", "FOREVER", '"FOREVER"'),
    ],
)
def test_where_there_is_another_reading_the_message_says_to_quote(text: str, place: str, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    (error,) = caught.value.diagnostics
    assert error.span is not None
    assert error.span.text == place
    assert hint in error.hint


def test_a_mode_that_was_meant_as_a_type_is_said_to_be_quoted() -> None:
    with pytest.raises(LanguageError) as caught:
        check_text("TYPE First (x INTEGER); TYPE A (x INTEGER); EVENT Q WHEN SEQUENCE(FIRST f, A, 5)")
    (error,) = caught.value.diagnostics
    assert error.code == "unknown-event-type"
    assert '"First" AS f' in error.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EVENT Q WHEN A WHERE", "an expression"),
        ("EVENT Q FROM A WINDOW", "COALESCED"),
        ("EVENT Q WHEN WHERE {x = 1}", "an event expression"),
        ("EVENT Q FROM A WHERE OUTPUT x", "an expression"),
    ],
)
def test_a_clause_that_breaks_off_is_not_taken_for_a_name(text: str, expected: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    assert expected in caught.value.diagnostics[0].detail
