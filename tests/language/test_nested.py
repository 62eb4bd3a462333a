"""Fields of structs and elements of lists: what is written, what it stands for, what is wrong with it.  R20."""

from __future__ import annotations

from typing import Any

import pytest

import cedr
from cedr.builder.columns import col, expression_of
from cedr.expression.tree import Attribute, Expression, Field, Item, Literal, Name
from cedr.language.check import check_text
from cedr.language.error_page import diagnostics
from cedr.language.parse import parse
from cedr.language.render import render
from cedr.model.schema import DataType, Shape

TYPES = """
TYPE TX (card STRUCT(no STRING, limit FLOAT, owner STRUCT(name STRING)), items LIST(STRING), any ANY, open STRUCT,
         price FLOAT, bag LIST);
TYPE TY (card STRUCT(no STRING), n INTEGER);
"""


def resolved(text: str, source: str = "FROM TX AS a") -> Expression:
    query: Any = check_text(f"{TYPES} EVENT Q {source} OUTPUT {text} AS x").queries[-1].query
    return query.body.output[0].expression  # type: ignore[no-any-return]


def written(text: str) -> Expression:
    body: Any = parse(f"EVENT Q FROM T OUTPUT {text}").statements[0]
    return body.body.output[0].expression  # type: ignore[no-any-return]


def one(text: str, source: str = "FROM TX AS a") -> tuple[str, str, str, str]:
    (found,) = diagnostics(f"{TYPES} EVENT Q {source} {text}")
    caret = "" if found.span is None else found.span.text
    return found.code, found.primary, found.hint, caret


CARD = Attribute("a", "card", DataType.STRUCT)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a.card.no", Field(CARD, "no", DataType.STRING)),
        ("a.card['no']", Field(CARD, "no", DataType.STRING)),
        ("(a.card).no", Field(CARD, "no", DataType.STRING)),
        ("card.no", Field(CARD, "no", DataType.STRING)),
        ("card['limit']", Field(CARD, "limit", DataType.FLOAT)),
        ("a.card.owner.name", Field(Field(CARD, "owner", DataType.STRUCT), "name", DataType.STRING)),
        ("a.items[1]", Item(Attribute("a", "items", DataType.LIST), Literal(1, DataType.INTEGER), DataType.STRING)),
        ("a.bag[-1]", Item(Attribute("a", "bag", DataType.LIST), Literal(-1, DataType.INTEGER))),
        ("a.open.x.y", Field(Field(Attribute("a", "open", DataType.STRUCT), "x"), "y")),
        ("a.any[2].x", Field(Item(Attribute("a", "any"), Literal(2, DataType.INTEGER)), "x")),
        ('a.open."odd name"', Field(Attribute("a", "open", DataType.STRUCT), "odd name")),
    ],
)
def test_what_a_name_stands_for(text: str, tree: Expression) -> None:
    assert resolved(text) == tree


def test_a_variable_goes_before_an_attribute() -> None:
    assert resolved("card.price", "FROM TX AS card") == Attribute("card", "price", DataType.FLOAT)


def test_the_inside_of_an_attribute_is_known_behind_a_subquery_and_a_query() -> None:
    assert resolved("s.c.no", "FROM (FROM TX AS a OUTPUT a.card AS c) AS s") == Field(
        Attribute("s", "c", DataType.STRUCT), "no", DataType.STRING
    )
    chained = check_text(f"{TYPES} EVENT P WHEN ANY(TX AS a); EVENT Q FROM P AS p OUTPUT p.a_card.limit * 2 AS x")
    assert chained.queries[-1].output.attributes == {"x": DataType.FLOAT}


def test_aggregates_take_a_field_of_each_contributor() -> None:
    query: Any = check_text(f"{TYPES} EVENT Q WHEN ALL(TX AS a, TX AS b, 5) OUTPUT MAX(card.limit) AS x").queries[-1]
    (item,) = query.query.body.output
    assert [part.operand.variable for part in item.expression.arguments] == ["a", "b"]


def test_a_group_item_has_fields() -> None:
    query: Any = check_text(f"{TYPES} EVENT Q FROM TX AS a GROUP BY card AS c OUTPUT c.no, COUNT(*) AS n").queries[-1]
    first, _ = query.query.body.output
    assert (first.name, first.expression) == ("no", Field(CARD, "no", DataType.STRING))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "WHERE a.price.cents > 1",
            ("type-mismatch", 'FLOAT has no field "cents"', "only a STRUCT has fields", "a.price.cents"),
        ),
        (
            "WHERE a.items.first = 'x'",
            ("type-mismatch", 'LIST has no field "first"', "an element of a LIST is x[1], x[2] …", "a.items.first"),
        ),
        (
            "WHERE a.card[1] = 'x'",
            ("type-mismatch", "STRUCT has no elements", "a field of a STRUCT is x.name or x['name']", "a.card[1]"),
        ),
        ("WHERE price[1] = 2", ("type-mismatch", "FLOAT has no elements", "only a LIST has elements", "price[1]")),
        (
            "WHERE a.items[0] = 'x'",
            ("wrong-arguments", "a LIST has no element 0", "the first element is [1], the last one is [-1]", "0"),
        ),
        (
            "WHERE a.items[a.price] = 'x'",
            (
                "type-mismatch",
                "the number of an element must be INTEGER, this is FLOAT",
                "use CAST(… AS INTEGER)",
                "a.price",
            ),
        ),
        (
            "WHERE a.card.limits = 'x'",
            ("unknown-attribute", 'the STRUCT "a.card" has no field "limits"', "did you mean limit?", "a.card.limits"),
        ),
        (
            "WHERE a.Vs.x = 1",
            ("type-mismatch", 'TIMESTAMP has no field "x"', "only a STRUCT has fields", "a.Vs.x"),
        ),
        (
            "WHERE b.card.no = 'x'",
            ("unbound-variable", 'variable "b" is not bound in FROM', "name a source with AS b, or use a", "b"),
        ),
        (
            "WHERE a.card.limit = 'x'",
            ("type-mismatch", "FLOAT cannot be compared with STRING", "use CAST(… AS FLOAT)", "a.card.limit = 'x'"),
        ),
    ],
)
def test_what_cannot_be_reached(text: str, message: tuple[str, str, str, str]) -> None:
    assert one(text) == message


def test_a_bare_attribute_of_two_variables_is_ambiguous_with_fields_too() -> None:
    code, primary, hint, _ = one("WHERE card.no = 'x'", "WHEN ALL(TX AS a, TY AS b, 5)")
    assert (code, primary) == ("ambiguous-name", '"card" may belong to more than one variable')
    assert hint == "say which one: a.card"


def test_a_field_of_an_undeclared_attribute_needs_its_variable() -> None:
    with pytest.raises(cedr.LanguageError) as error:
        cedr.compile("EVENT Q FROM TX AS a OUTPUT card.no AS x")
    (found,) = error.value.diagnostics
    assert found.code == "unbound-variable"
    assert found.hint.endswith('; the field of an attribute "card" is a.card.no')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CorrelationKey(card.no, EQUAL)", None),
        ("[card.no EQUAL '7']", None),
        ("CorrelationKey(card.limit, EQUAL)", 'the STRUCT "b.card" has no field "limit"'),
        ("[card.no EQUAL 7]", "STRING cannot be compared with INTEGER"),
    ],
)
def test_keys_reach_into_structs(text: str, message: str | None) -> None:
    found = diagnostics(f"{TYPES} EVENT Q WHEN ALL(TX AS a, TY AS b, 5) WHERE {text}")
    assert [each.primary for each in found] == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("text", "code", "primary"),
    [
        ("TYPE A (x FLOAT(no STRING))", "wrong-arguments", "only STRUCT has fields, FLOAT does not"),
        ("TYPE A (x STRUCT(STRING))", "wrong-arguments", "only LIST has elements of a type, STRUCT does not"),
        ("TYPE A (x STRUCT(y STRING, y FLOAT))", "duplicate-name", 'field "y" is declared twice'),
        ("TYPE A (x LIST(STRIN))", "unknown-data-type", '"STRIN" is no data type'),
        ("TYPE A (x SET(STRING))", "unknown-data-type", '"SET" is no data type'),
        (f"TYPE A (x {'LIST(' * 200}ANY{')' * 200})", "too-deep", "brackets nest deeper than 100 levels"),
        (f"EVENT Q FROM A AS a WHERE a{'.b' * 200} = 1", "too-deep", "this nests deeper than 150 levels"),
        (f"EVENT Q FROM A AS a WHERE a.b{'[1]' * 200} = 1", "too-deep", "this nests deeper than 150 levels"),
        (f"EVENT Q WHEN ANY(A) WHERE [a{'.b' * 200} EQUAL 1]", "too-deep", "this nests deeper than 150 levels"),
    ],
)
def test_what_cannot_be_written(text: str, code: str, primary: str) -> None:
    assert (code, primary) in [(found.code, found.primary) for found in diagnostics(text)]


def test_a_variable_may_be_called_type() -> None:
    assert check_text("TYPE A (x INTEGER); EVENT Q FROM A AS type WHERE (type.x) > 1 OUTPUT type.x AS x").queries


def test_an_attribute_may_be_called_type() -> None:
    assert check_text("TYPE A (id STRING, type STRUCT(x INTEGER)); EVENT Q FROM A AS a OUTPUT a.type.x").queries


def test_a_declaration_tells_what_is_inside() -> None:
    (declaration, _) = parse(TYPES).statements
    assert render(declaration).splitlines()[0] == (
        "TYPE TX (card STRUCT(no STRING, limit FLOAT, owner STRUCT(name STRING)),"
    )
    declared = check_text(TYPES).types.types["TX"]
    assert declared.shapes["items"] == Shape(DataType.LIST, element=Shape(DataType.STRING))
    assert "open" not in declared.shapes


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (col("a.card.no"), "a.card.no"),
        (col("a.items")[1], "a.items[1]"),
        (col("a.items")[-1], "a.items[-1]"),
        (col("card")["odd name"], "card['odd name']"),
        (col("a.n")[col("a.i")], "a.n[a.i]"),
        (col('a."x.y".z'), 'a."x.y".z'),
    ],
)
def test_python_builds_the_same_tree(column: Any, text: str) -> None:
    assert expression_of(column) == written(text)


def test_a_column_is_no_sequence() -> None:
    with pytest.raises(TypeError):
        iter(col("a.items"))


def test_parentheses_and_indices_make_a_value_of_a_name() -> None:
    assert written("a.b.c") == Name(("a", "b", "c"))
    assert written("(a).b") == written("a['b']") == Field(Name(("a",)), "b")
    assert written("a.b[1].c") == Field(Item(Name(("a", "b")), Literal(1, DataType.INTEGER)), "c")
