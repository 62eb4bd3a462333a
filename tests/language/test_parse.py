"""Text to tree, construct by construct."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from cedr.diagnostics.exceptions import LanguageError
from cedr.expression.tree import Aggregate, Between, Binary, Call, Case, Cast, Expression, Literal, Name, Unary, walk
from cedr.language import syntax
from cedr.language.lexer import keywords
from cedr.language.parse import parse
from cedr.language.syntax import CorrelationKey, Predicate, StreamSource
from cedr.model.level import STRONG, Bound
from cedr.model.modes import Consumption, JoinKind, KeyMode, Selection, Valid
from cedr.model.schema import DataType
from cedr.model.time import DAY, FOREVER, HOUR, MILLISECOND, MINUTE, SECOND, WEEK
from tests.language.queries import QUERIES


def statement(text: str) -> Any:
    (only,) = parse(text).statements
    return only


def pattern(text: str) -> Any:
    return statement(f"EVENT Q WHEN {text}").body.pattern


def body(text: str) -> Any:
    return statement(f"EVENT Q {text}").body


def expression(text: str) -> Any:
    return body(f"FROM A OUTPUT {text}").output[0].expression


def errors(text: str) -> list[tuple[str, str, str]]:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    return [(error.code, error.span.text if error.span else "", error.hint) for error in caught.value.diagnostics]


# -- words ------------------------------------------------------------------------------------------------------------


def test_keywords_go_in_any_case() -> None:
    assert parse("event Q when Sequence(A a, B As b, 5 Minutes) where correlationkey(x, equal)") == parse(
        "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 5 minutes) WHERE CorrelationKey(x, EQUAL)"
    )


def test_comments_go_to_the_end_of_the_line() -> None:
    assert parse("EVENT Q -- WHEN B\nWHEN A -- it's; \"fine") == parse("EVENT Q WHEN A")


@pytest.mark.parametrize("word", sorted(keywords() - {"CANCEL-WHEN"}))
def test_a_keyword_is_a_name_where_it_cannot_be_a_keyword(word: str) -> None:
    declared = statement(f"TYPE {word} ({word} STRING, {word.lower()} INTEGER)")
    assert (declared.name, [a.name for a in declared.attributes]) == (word, [word, word.lower()])
    query = statement(f"EVENT {word} WHEN ANY(A AS {word}) WHERE A.{word} = 1 OUTPUT {word}.{word} AS {word}")
    assert (query.name, query.body.pattern.expression.parameters[0].variable) == (word, word)
    assert query.body.output[0].name == word
    assert query.body.where[0].expression.left == Name(("A", word))
    assert body(f"FROM A AS {word} GROUP BY {word}.x AS {word}").group_by[0].name == word


@pytest.mark.parametrize("word", sorted(keywords()))
def test_a_quoted_keyword_is_a_name_everywhere(word: str) -> None:
    query = statement(f'EVENT "{word}" WHEN SEQUENCE("{word}" "{word}", 5) WHERE "{word}" = 1 OUTPUT "{word}"."{word}"')
    leaf = query.body.pattern.expression.parameters[0]
    assert (query.name, leaf.expression.name, leaf.variable) == (word, word, word)
    assert body(f'FROM "{word}" "{word}"').source == StreamSource(word, word)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("größe", "größe"),
        ("名前", "名前"),
        ("_x1", "_x1"),
        ('"two words"', "two words"),
        ('"say ""hi"""', 'say "hi"'),
        ('"a\nb"', "a\nb"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert statement(f"EVENT {text} WHEN A").name == name
    assert expression(f"x.{text}") == Name(("x", name))


def test_words_that_are_keywords_only_in_front_of_something() -> None:
    assert pattern("SEQUENCE(LAST AS l, FIRST first, sequence, any, 5)").expression.parameters == (
        syntax.Parameter(syntax.TypeReference("LAST"), "l"),
        syntax.Parameter(syntax.TypeReference("first"), None, Selection.FIRST),
        syntax.Parameter(syntax.TypeReference("sequence")),
        syntax.Parameter(syntax.TypeReference("any")),
    )
    assert expression("date + timestamp + case + cast + extract + count") == expression(
        '"date" + "timestamp" + "case" + "cast" + "extract" + "count"'
    )


def test_as_of_is_a_slice_only_in_front_of_a_time() -> None:
    assert body("WHEN A AS of").pattern.variable == "of"
    assert statement("EVENT Q WHEN A AS OF 5").as_of == 5
    assert statement("EVENT Q WHEN A AS of AS OF -5").as_of == -5
    assert statement("EVENT Q FROM A OUTPUT x AS OF FOREVER").as_of == FOREVER
    assert statement("EVENT Q FROM A OUTPUT x AS of AS OF TIMESTAMP '1970-01-01'").as_of == 0
    assert body("FROM A OUTPUT x AS OF").output[0].name == "OF"


# -- constants --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("12 hours", 12 * HOUR),
        ("1 hour", HOUR),
        ("2 hrs", 2 * HOUR),
        ("3h", 3 * HOUR),
        ("1.5 seconds", 1_500_000),
        ("30 SEC", 30 * SECOND),
        ("7 s", 7 * SECOND),
        ("250 ms", 250 * MILLISECOND),
        ("2 milliseconds", 2 * MILLISECOND),
        ("5 microseconds", 5),
        ("5 µs", 5),
        ("5 us", 5),
        ("3 days", 3 * DAY),
        ("1 d", DAY),
        ("2 weeks", 2 * WEEK),
        ("1 w", WEEK),
        ("90 mins", 90 * MINUTE),
        ("1\n minute", MINUTE),
        ("42", 42),
        ("0", 0),
        ("-3 days", -3 * DAY),
        ("FOREVER", FOREVER),
    ],
)
def test_durations(text: str, length: int) -> None:
    assert pattern(f"SEQUENCE(A, B, {text})").expression.scope == length


@pytest.mark.parametrize(
    ("text", "value", "of"),
    [
        ("1", 1, DataType.INTEGER),
        ("-1", -1, DataType.INTEGER),
        ("007", 7, DataType.INTEGER),
        ("9223372036854775807", FOREVER, DataType.INTEGER),
        ("-9223372036854775808", -FOREVER - 1, DataType.INTEGER),
        ("1.5", 1.5, DataType.FLOAT),
        ("-1.5e3", -1500.0, DataType.FLOAT),
        ("2e-3", 0.002, DataType.FLOAT),
        ("'it''s'", "it's", DataType.STRING),
        ("''", "", DataType.STRING),
        ("'-- no; comment'", "-- no; comment", DataType.STRING),
        ("TRUE", True, DataType.BOOLEAN),
        ("false", False, DataType.BOOLEAN),
        ("NULL", None, DataType.NULL),
        ("5 minutes", 5 * MINUTE, DataType.DURATION),
        ("-5 minutes", -5 * MINUTE, DataType.DURATION),
        ("FOREVER", FOREVER, DataType.TIMESTAMP),
        ("TIMESTAMP '1970-01-01 00:00:01Z'", SECOND, DataType.TIMESTAMP),
        ("DATE '2026-01-31'", datetime.date(2026, 1, 31), DataType.DATE),
        ("X'00ff'", b"\x00\xff", DataType.BINARY),
        ("x''", b"", DataType.BINARY),
    ],
)
def test_constants(text: str, value: object, of: DataType) -> None:
    assert expression(text) == Literal(value, of)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["9223372036854775808", "-9223372036854775809", "1e999", "X'0'", "X'zz'", "TIMESTAMP 'noon'", "DATE '2026-13-01'"],
)
def test_constants_without_a_value(text: str) -> None:
    assert [code for code, _, _ in errors(f"EVENT Q FROM A OUTPUT {text}")] == ["invalid-literal"]


# -- expressions ------------------------------------------------------------------------------------------------------

A, B, C, D = (Name((name,)) for name in "abcd")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", Binary("+", A, Binary("*", B, C))),
        ("a - b - c", Binary("-", Binary("-", A, B), C)),
        ("a || b + c", Binary("||", A, Binary("+", B, C))),
        ("(a + b) * c", Binary("*", Binary("+", A, B), C)),
        ("a DIV b % c", Binary("%", Binary("DIV", A, B), C)),
        ("a != b", Binary("<>", A, B)),
        ("NOT a = b AND c OR d", Binary("OR", Binary("AND", Unary("NOT", Binary("=", A, B)), C), D)),
        ("a BETWEEN b AND c AND d", Binary("AND", Between(A, B, C), D)),
        ("a NOT BETWEEN b AND c", Between(A, B, C, negated=True)),
        ("-a", Unary("-", A)),
        ("-(5)", Unary("-", Literal(5, DataType.INTEGER))),
        ("- -5", Unary("-", Literal(-5, DataType.INTEGER))),
        ("a - 5", Binary("-", A, Literal(5, DataType.INTEGER))),
        ("abs(a)", Call("ABS", (A,))),
        ("now()", Call("NOW", ())),
        ("CASE WHEN a THEN b WHEN c THEN d END", Case(((A, B), (C, D)))),
        ("CASE WHEN a THEN b ELSE c END", Case(((A, B),), C)),
        ("CAST(a AS DECIMAL(10, 2))", Cast(A, DataType.DECIMAL)),
        ("EXTRACT(hour FROM a)", Call("EXTRACT", (Literal("hour", DataType.STRING), A))),
        ("DATE_TRUNC(hour, a)", Call("DATE_TRUNC", (Literal("hour", DataType.STRING), A))),
        ("DATE_TRUNC('hour', a)", Call("DATE_TRUNC", (Literal("hour", DataType.STRING), A))),
        ("COUNT(*)", Aggregate("COUNT", (), star=True)),
        ("count(DISTINCT a)", Aggregate("COUNT", (A,), distinct=True)),
        ("AVG(a, b)", Aggregate("AVG", (A, B))),
    ],
)
def test_expressions(text: str, tree: Expression) -> None:
    assert expression(text) == tree


def test_long_chains_of_logic_are_balanced() -> None:
    deep = expression(" OR ".join(["a"] * 1_000))
    assert sum(part == A for part in walk(deep)) == 1_000

    def depth(part: Expression) -> int:
        return 1 + max(depth(part.left), depth(part.right)) if isinstance(part, Binary) else 0

    assert depth(deep) == 10
    assert deep.span.text.startswith("a OR a")


@pytest.mark.parametrize("text", ["SUM(*)", "ABS(DISTINCT a)", "COUNT()", "MAX()"])
def test_calls_that_cannot_be(text: str) -> None:
    assert [code for code, _, _ in errors(f"EVENT Q FROM A OUTPUT {text}")] == ["wrong-arguments"]


# -- patterns ---------------------------------------------------------------------------------------------------------


def test_the_example_of_the_paper() -> None:
    """Paper: Section 3.1."""
    query = statement(QUERIES["CIDR07_Example"])
    unless = query.body.pattern.expression
    assert isinstance(unless, syntax.Unless)
    assert unless.scope == 5 * MINUTE
    assert unless.first.expression.scope == 12 * HOUR
    assert [p.variable for p in unless.first.expression.parameters] == ["x", "y"]
    assert [conjunct.braces for conjunct in query.body.where] == [True, True]


def test_modes_weights_and_variables() -> None:
    """Readings: R14, R20, R25, R26, R27."""
    outer = pattern(
        "SEQUENCE(FIRST A AS a CONSUME, EACH B REUSE, SEQUENCE(C, 5) AS s, ATMOST(1, D WEIGHT 2, 5), 9) DISJOINT"
    )
    first, second, third, fourth = outer.expression.parameters
    assert (first.variable, first.selection, first.consumption) == ("a", Selection.FIRST, Consumption.CONSUME)
    assert (second.selection, second.consumption) == (Selection.EACH, Consumption.REUSE)
    assert (third.variable, third.expression.disjoint) == ("s", False)
    assert fourth.expression.parameters[0].weight == 2
    assert outer.expression.disjoint
    assert first.mode_span.text == "FIRST"
    assert first.variable_span.text == "a"


def test_operators() -> None:
    """Readings: R11 to R19."""
    assert pattern("UNLESS(A, B, 5)").expression.contributor is None
    assert pattern("UNLESS(A, B, 2, 5)").expression.contributor == 2
    assert pattern("CANCEL-WHEN(A, B FROM ROOT)").expression.from_root
    assert pattern("cancel - when(A, B)").expression == pattern("CANCEL-WHEN(A, B)").expression
    assert isinstance(pattern("NOT(A, SEQUENCE(B, C, 5))").expression, syntax.Not)
    assert pattern("ATLEAST(2, A, B, 5)").expression.count_span.text == "2"
    assert body("WHEN A VALID FOREVER").valid is Valid.FOREVER
    assert body("WHEN A VALID WITH LAST WHERE A.x = 1").valid is Valid.WITH_LAST


def test_where_is_cut_at_its_outermost_ands() -> None:
    """Reading: R20."""

    def where(text: str) -> list[Any]:
        return list(body(f"WHEN A WHERE {text}").where)

    assert where("a AND b AND {c AND d}") == [
        Predicate(A),
        Predicate(B),
        Predicate(Binary("AND", C, D), braces=True),
    ]
    assert where("a OR b AND c") == [Predicate(Binary("OR", A, Binary("AND", B, C)))]
    assert where("(a AND b)") == [Predicate(Binary("AND", A, B))]
    assert where("a BETWEEN b AND c AND NOT d") == [Predicate(Between(A, B, C)), Predicate(Unary("NOT", D))]
    assert where("CorrelationKey(k, Unique) AND a") == [CorrelationKey("k", KeyMode.UNIQUE), Predicate(A)]
    assert where("[k EQUAL -5] AND [k equal 'v']")[0].value == Literal(-5, DataType.INTEGER)
    assert errors("EVENT Q WHEN A WHERE {a} OR b")[0][:2] == ("syntax", "{a}")
    assert errors("EVENT Q WHEN A WHERE [k EQUAL -'v']")[0][0] == "invalid-literal"


# -- algebra and the rest ---------------------------------------------------------------------------------------------


def test_sources_group_from_the_left() -> None:
    """Paper: Definition 9.  Reading: R29."""
    source = body("FROM A a LEFT JOIN B ON x ANTI JOIN (FROM C) AS c ON y UNION D EXCEPT E").source
    assert isinstance(source, syntax.ExceptSource)
    assert isinstance(source.left, syntax.UnionSource)
    assert source.left.left.kind is JoinKind.ANTI  # type: ignore[union-attr]
    assert source.left.left.left.kind is JoinKind.LEFT  # type: ignore[union-attr]
    assert source.right == StreamSource("E")


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("MOVING 10 minutes", syntax.MovingWindow(10 * MINUTE)),
        ("HOPPING 1 hour EVERY 5", syntax.HoppingWindow(HOUR, 5)),
        ("TUMBLING 7", syntax.TumblingWindow(7)),
        ("SESSION 7", syntax.SessionWindow(7)),
        ("LIFETIME a, b", syntax.LifetimeWindow(A, B)),
        ("INSERTS", syntax.InsertsWindow()),
        ("DELETES", syntax.DeletesWindow()),
        ("COALESCED", syntax.CoalescedWindow()),
    ],
)
def test_windows(text: str, window: syntax.Window) -> None:
    """Paper: Definition 12.  Reading: R31."""
    assert body(f"FROM A WINDOW {text} HAVING a").window == window


def test_all_clauses_of_a_relation() -> None:
    made = body("FROM A WHERE a WINDOW INSERTS GROUP BY b, c AS d HAVING d OUTPUT DISTINCT a, b AS e")
    assert (made.where, made.having, made.distinct) == (A, D, True)
    assert [item.name for item in made.group_by] == [None, "d"]
    assert [item.name for item in made.output] == [None, "e"]


def test_levels_and_slices() -> None:
    """Readings: R24, R33, R34, R35."""
    assert statement("EVENT Q WHEN A CONSISTENCY strong").consistency == STRONG
    dial = statement("EVENT Q WHEN A CONSISTENCY BLOCKING 2 seconds OF CEDR TIME MEMORY FOREVER").consistency
    assert (dial.blocking, dial.memory) == (Bound(2 * SECOND, cedr_time=True), Bound(FOREVER))
    sliced = statement("EVENT Q WHEN A CONSISTENCY WEAK @ [-5, 7] # [TIMESTAMP '1970-01-01', FOREVER] AS OF 3")
    assert (sliced.occurrence_slice, sliced.valid_slice, sliced.as_of) == ((-5, 7), (0, FOREVER), 3)
    assert statement("EVENT Q WHEN A # [1, 2]").occurrence_slice is None


def test_types() -> None:
    """Reading: R37."""
    declared = statement(
        'TYPE T ("when" VARCHAR(20), price DECIMAL(10,2), at timestamp, "x y" any) REVISABLE FOR 3 days'
    )
    assert [(a.name, a.type) for a in declared.attributes] == [
        ("when", DataType.STRING),
        ("price", DataType.DECIMAL),
        ("at", DataType.TIMESTAMP),
        ("x y", DataType.ANY),
    ]
    assert declared.revisable == 3 * DAY
    assert statement("TYPE T () REVISABLE").revisable == FOREVER
    assert statement("TYPE T (x INT)").revisable == 0
    assert errors("TYPE T (x INT) REVISABLE FOR -1")[0][0] == "scope-not-positive"


def test_every_node_has_its_place() -> None:
    query = statement("EVENT Q\n  WHEN SEQUENCE(A AS a, B b, 5)\n  WHERE {a.x = 1}")
    assert query.span.text == query.span.source.text
    assert query.name_span.text == "Q"
    assert query.body.pattern.expression.span.text == "SEQUENCE(A AS a, B b, 5)"
    assert [p.span.text for p in query.body.pattern.expression.parameters] == ["A AS a", "B b"]
    assert query.body.where[0].span.text == "{a.x = 1}"
    assert query.body.where[0].expression.left.span.text == "a.x"
    assert (query.body.where[0].span.line, query.body.where[0].span.column) == (3, 9)
