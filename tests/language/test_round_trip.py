"""parse ∘ render = identity, on random trees and on the queries of the paper and of the reference."""

from __future__ import annotations

import pytest
from hypothesis import given

from cedr.language.parse import parse
from cedr.language.render import render
from cedr.language.syntax import File
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
