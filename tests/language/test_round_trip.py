"""parse ∘ render = identity, on random trees and on the queries of the paper and of the reference."""

from __future__ import annotations

import pytest
from hypothesis import given

from cedr.language.parse import parse
from cedr.language.render import render, render_pattern
from cedr.language.syntax import File, PatternBody, Query
from tests.language.queries import QUERIES, TYPES
from tests.language.strategies import files


@given(files())
def test_a_rendered_tree_parses_back_to_itself(file: File) -> None:
    text = render(file)
    assert parse(text) == file
    assert render(parse(text)) == text


@pytest.mark.parametrize("text", [TYPES, *QUERIES.values()], ids=["types", *QUERIES])
def test_a_query_survives_rendering(text: str) -> None:
    file = parse(text)
    assert parse(render(file)) == file


def test_what_does_not_fit_on_a_line_has_one_operand_on_each() -> None:
    long = ", ".join(f"A_RATHER_LONG_TYPE_NAME_{i} AS a_rather_long_variable_{i}" for i in range(3))
    items = ", ".join(f"a_rather_long_variable_{i}.a_long_attribute AS a_long_name_{i}" for i in range(3))
    assert render(parse(f"event Q when UNLESS(SEQUENCE({long}, 5), B, 7) output {items}")) == (
        "EVENT Q\n"
        "WHEN UNLESS(\n"
        "  SEQUENCE(\n"
        "    A_RATHER_LONG_TYPE_NAME_0 AS a_rather_long_variable_0,\n"
        "    A_RATHER_LONG_TYPE_NAME_1 AS a_rather_long_variable_1,\n"
        "    A_RATHER_LONG_TYPE_NAME_2 AS a_rather_long_variable_2,\n"
        "    5\n"
        "  ),\n"
        "  B,\n"
        "  7\n"
        ")\n"
        "OUTPUT a_rather_long_variable_0.a_long_attribute AS a_long_name_0,\n"
        "       a_rather_long_variable_1.a_long_attribute AS a_long_name_1,\n"
        "       a_rather_long_variable_2.a_long_attribute AS a_long_name_2;\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "EVENT Q WHEN CANCEL-WHEN(FIRST A CONSUME, B FROM ROOT) VALID WITH LAST OUTPUT x.y NOT IN (1), z NOT LIKE 'a%'",
        "EVENT Q FROM A WINDOW SESSION 5 minutes GROUP BY a OUTPUT DISTINCT a IN (1), b LIKE 'c', d IS NOT NULL",
        "EVENT Q FROM A WINDOW HOPPING 1 hour EVERY 5 CONSISTENCY BLOCKING 1 MEMORY 2 OF CEDR TIME",
        "EVENT Q FROM (FROM A WINDOW TUMBLING 5) AS b LEFT JOIN C ON TRUE UNION D EXCEPT E AS OF 5",
        "EVENT Q WHEN ATMOST(0, A WEIGHT 2, 5) WHERE (a OR b) AND {c} AND [d EQUAL -1.5]",
        "TYPE T () REVISABLE; TYPE U (a LIST) REVISABLE FOR 5 ms",
    ],
)
def test_constructs_that_are_easily_forgotten(text: str) -> None:
    file = parse(text)
    assert parse(render(file)) == file


def test_a_pattern_by_itself() -> None:
    (query,) = parse("EVENT Q WHEN SEQUENCE(a A, B, 5)").statements
    assert isinstance(query, Query)
    assert isinstance(query.body, PatternBody)
    assert render_pattern(query.body.pattern) == "SEQUENCE(a AS A, B, 5)"
