"""Names, variables, outputs, groups: what a checked query says, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from cedr.diagnostics.exceptions import LanguageError
from cedr.expression.tree import Aggregate, Attribute, Binary, Expression, Header, HeaderField, Literal, Name, walk
from cedr.language import syntax
from cedr.language.check import CheckedFile, CheckedQuery, check, check_text
from cedr.language.error_page import diagnostics
from cedr.language.parse import parse
from cedr.language.patterns import places
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.time import DAY, FOREVER
from tests.language.queries import ALL, QUERIES, TYPES

NUMBER, TEXT, FLOAT, TIME = DataType.INTEGER, DataType.STRING, DataType.FLOAT, DataType.TIMESTAMP
SMALL = "TYPE A (x INTEGER, k STRING); TYPE B (x INTEGER, y FLOAT); TYPE C (x INTEGER, z STRING);"


def checked(text: str) -> CheckedQuery:
    """The last query of a text over the small types."""
    return check_text(f"{SMALL} {text}").queries[-1]


def body(text: str) -> Any:
    return checked(f"EVENT Q {text}").query.body


def outputs(text: str) -> dict[str, Expression]:
    return {item.name: item.expression for item in body(text).output}


def codes(text: str) -> list[str]:
    return [found.code for found in diagnostics(f"{SMALL} EVENT Q {text}")]


# -- files ------------------------------------------------------------------------------------------------------------


def test_every_query_of_the_language_is_understood() -> None:
    """Reading: R32: queries name each other in any order of the text."""
    file = check_text(ALL)
    assert [query.query.name for query in file.queries] == list(QUERIES)
    assert file.warnings == ()
    names = (part for query in file.queries for part in _expressions(query) if isinstance(part, Name))
    assert list(names) == []


def _expressions(query: CheckedQuery) -> Any:
    made = query.query.body
    assert made.output is not None
    for item in made.output:
        yield from walk(item.expression)
    if isinstance(made, syntax.PatternBody):
        for conjunct in made.where:
            if isinstance(conjunct, syntax.Predicate):
                yield from walk(conjunct.expression)


@pytest.mark.parametrize("name", QUERIES)
def test_a_checked_query_checks_again(name: str) -> None:
    """The resolved tree, rendered, means the same."""
    from cedr.language.render import render

    query = next(query for query in check_text(ALL).queries if query.query.name == name)
    others = ";".join(text for other, text in QUERIES.items() if other != name)
    again = check_text(f"{TYPES} {others}; {render(query.query)}")
    found = next(other for other in again.queries if other.query.name == name)
    assert found.output == query.output


def test_types_come_from_the_file_and_from_the_catalog() -> None:
    catalog = EventTypes({"A": EventType("A", {"old": TEXT}), "D": EventType("D", {"d": TEXT})})
    file = check(parse("TYPE A (new INTEGER) REVISABLE FOR 3 days; EVENT Q WHEN ALL(A, D, 5)"), catalog)
    assert dict(file.queries[0].output.attributes) == {"A_new": NUMBER, "D_d": TEXT}
    assert file.types.types["A"].revisable == 3 * DAY
    assert set(catalog.types) == {"A", "D"}, "the catalog given is left alone"
    assert catalog.types["A"].attributes == {"old": TEXT}


def test_a_query_hides_a_type_of_the_catalog() -> None:
    catalog = EventTypes({"A": EventType("A", {"x": TEXT}), "Q": EventType("Q", {"other": TEXT})})
    file = check(parse("EVENT Q WHEN ANY(A); EVENT R WHEN ANY(Q)"), catalog)
    assert dict(file.queries[1].output.attributes) == {"Q_A_x": TEXT}


def test_uses_and_outputs() -> None:
    file = check_text(
        f"{SMALL} EVENT R FROM Q JOIN (FROM B OUTPUT x) AS s ON Q.A1_x = s.x; EVENT Q WHEN SEQUENCE(A, B, A, 5)"
    )
    later, earlier = file.queries
    assert (later.uses, earlier.uses) == (("Q", "B"), ("A", "B"))
    assert list(earlier.output.attributes) == ["A1_x", "A1_k", "B_x", "B_y", "A2_x", "A2_k"]


@pytest.mark.parametrize(
    "text",
    [
        f"{SMALL} EVENT Q FROM Q JOIN A ON Q.A1_x = A.x",
        "EVENT P WHEN ANY(Q); EVENT Q WHEN ANY(R); EVENT R WHEN ANY(P); EVENT S WHEN ANY(P)",
        "EVENT P FROM P UNION P",
    ],
)
def test_circles_are_refused_once(text: str) -> None:
    assert [found.code for found in diagnostics(text)] == ["circular-query"]


def test_what_is_wrong_is_said_once_even_if_others_use_it() -> None:
    text = f"{SMALL} EVENT P WHEN ANY(A) OUTPUT A.nothing AS n; EVENT Q WHEN ANY(P) WHERE P.n = 1 AND P.whatever = 2"
    assert [found.code for found in diagnostics(text)] == ["unknown-attribute"]


def test_names_are_defined_once() -> None:
    found = diagnostics("TYPE A (x INT, x INT); TYPE A (y INT); EVENT A WHEN ANY(A); EVENT Q WHEN ANY(A)")
    assert [error.code for error in found] == ["duplicate-name"] * 3


# -- variables --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SEQUENCE(A, B, 5)", ["A", "B"]),
        ("SEQUENCE(A, A, B, A AS x, 5)", ["A1", "A2", "B", "x"]),
        ("SEQUENCE(A, B AS A, 5)", ["A1", "A"]),
        ("SEQUENCE(A, A, B AS A1, 5)", ["A2", "A3", "A1"]),
        ("UNLESS(A, A, 5)", ["A1", "A2"]),
        ("SEQUENCE(ALL(A, B, 5) AS s, C, 5)", [None, "s", "A", "B", "C"]),
    ],
)
def test_every_leaf_has_a_variable(text: str, names: list[str | None]) -> None:
    """Reading: R23."""
    made = body(f"WHEN {text}")
    found = [place.parameter.variable for place in places(made.pattern)]
    assert found[-len(names) :] == names


def test_names_stand_for_attributes_and_header_fields() -> None:
    """Reading: R20."""
    (conjunct,) = body("WHEN SEQUENCE(A AS a, B AS b, 5) WHERE a.x = y AND TRUE").where[:1]
    assert conjunct.expression == Binary("=", Attribute("a", "x", NUMBER), Attribute("b", "y", FLOAT))
    assert outputs("WHEN SEQUENCE(A AS a, B AS b, 5) OUTPUT a.vS AS v, b.ID, k") == {
        "v": Header("a", HeaderField.VS),
        "ID": Header("b", HeaderField.ID),
        "k": Attribute("a", "k", TEXT),
    }


def test_the_payload_comes_before_the_header() -> None:
    made = check_text("TYPE E (id INTEGER); EVENT Q WHEN ANY(E) OUTPUT E.id AS own, E.ID AS header").queries[0]
    assert made.query.body.output is not None
    assert [item.expression for item in made.query.body.output] == [
        Attribute("E", "id", NUMBER),
        Header("E", HeaderField.ID),
    ]


def test_a_composite_has_a_header_and_the_fields_of_its_leaves() -> None:
    made = outputs("WHEN SEQUENCE(UNLESS(A AS a, B AS b, 5) AS s, C, 9) OUTPUT s.Rt AS rt, s.a_x AS x, C.z")
    assert made == {
        "rt": Header("s", HeaderField.RT),
        "x": Attribute("s", "a_x", NUMBER),
        "z": Attribute("C", "z", TEXT),
    }
    assert codes("WHEN SEQUENCE(UNLESS(A AS a, B AS b, 5) AS s, C, 9) OUTPUT s.b_x AS x") == ["unknown-attribute"]


def test_an_open_type_has_every_attribute() -> None:
    file = check(parse("EVENT Q WHEN ALL(U AS u, V AS v, 5) WHERE u.a = v.b OUTPUT u.c"), EventTypes(open=True))
    assert file.queries[0].output.attributes == {"c": DataType.ANY}
    assert check(parse("EVENT Q WHEN ANY(U)"), EventTypes(open=True)).queries[0].output.attributes == {}
    check(parse("EVENT Q WHEN ANY(U) WHERE anything = 1 OUTPUT COUNT(thing)"), EventTypes(open=True))
    check(parse("EVENT Q FROM U UNION V"), EventTypes(open=True))


@pytest.mark.parametrize(
    ("text", "code", "detail"),
    [
        ("WHEN ANY(A) WHERE B.x = 1", "unbound-variable", "bound are: A"),
        ("WHEN ANY(A AS a) WHERE A.x = 1", "unbound-variable", "bound are: a (A)"),
        ("WHEN ANY(A AS abc) WHERE abd.x = 1", "unbound-variable", "bound are: abc (A)"),
        ("WHEN ANY(A AS a) WHERE a.X = 1", "unknown-attribute", "a (A) has: x, k"),
        ("WHEN ANY(A AS a) WHERE a.x.y = 1", "type-mismatch", '"a.x" is INTEGER'),
        ("WHEN ANY(A AS a) WHERE nothing = 1", "unknown-attribute", "a (A) has: x, k"),
        ("WHEN ANY(A AS a) WHERE a = 1", "unknown-attribute", "a (A) has: x, k"),
        ("WHEN ALL(A, B, 5) WHERE x = 1", "ambiguous-name", "it could be: A.x (A), B.x (B)"),
        ("WHEN ALL(A, B, 5) WHERE Vs = 1", "ambiguous-name", "it could be: A.Vs (A), B.Vs (B)"),
        ("WHEN ALL(A, B, 5) WHERE CorrelationKey(k, EQUAL)", "unknown-attribute", "B has: x, y"),
        ("WHEN ALL(A, B, 5) WHERE [k EQUAL 'v']", "unknown-attribute", "B has: x, y"),
        ("WHEN ANY(Aa) WHERE Aa.x = 1", "unknown-event-type", "known are: A, B, C"),
        ("FROM Aa JOIN Aa AS b ON TRUE", "unknown-event-type", "known are: A, B, C"),
        ("FROM A AS a JOIN B AS a ON TRUE", "variable-bound-twice", ""),
        ("FROM A AS a ANTI JOIN B AS a ON TRUE", "variable-bound-twice", ""),
    ],
)
def test_names_that_mean_nothing(text: str, code: str, detail: str) -> None:
    (error,) = diagnostics(f"{SMALL} EVENT Q {text}")
    assert (error.code, error.detail) == (code, detail)
    assert error.hint


def test_nothing_is_known() -> None:
    (error,) = diagnostics("EVENT Q WHEN ANY(A)")
    assert (error.detail, error.hint) == ("no event type is declared", "declare it: TYPE A (attribute STRING)")


# -- WHERE ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("UNLESS(A AS a, B AS b, 5) WHERE a.x = b.x", []),
        ("UNLESS(A AS a, SEQUENCE(B AS b, C AS c, 5), 5) WHERE a.x = b.x + c.x", []),
        ("UNLESS(A AS a, UNLESS(B AS b, C AS c, 5), 5) WHERE b.x = c.x", []),
        ("UNLESS(A AS a, UNLESS(B AS b, C AS c, 5), 5) WHERE a.x = c.x", ["negated-elsewhere"]),
        ("UNLESS(A AS a, UNLESS(B AS b, C AS c, 5), 5) WHERE a.x = b.x + c.x", ["negated-elsewhere"]),
        ("UNLESS(UNLESS(A AS a, B AS b, 5), C AS c, 5) WHERE b.x = c.x", ["two-negations"]),
        ("UNLESS(UNLESS(A AS a, B AS b, 5), C AS c, 5) WHERE a.x = b.x AND a.x = c.x", []),
        ("ALL(UNLESS(A, B AS b, 5), CANCEL-WHEN(A, C AS c), 5) WHERE b.x = c.x", ["two-negations"]),
        ("SEQUENCE(NOT(A AS a, SEQUENCE(B, B, 5)), C AS c, 5) WHERE a.x = c.x", ["negated-elsewhere"]),
        ("NOT(A AS a, SEQUENCE(B AS b, C AS c, 5)) WHERE a.x = b.x + c.x", []),
        ("CANCEL-WHEN(SEQUENCE(A AS a, B AS b, 5) AS s, C AS c) WHERE c.x = a.x AND c.Vs > s.Rt", []),
        ("ALL(UNLESS(A AS a, B AS b, 5) AS s, C, 5) WHERE b.Vs > s.Vs", ["negated-elsewhere"]),
        ("ALL(SEQUENCE(A AS a, B AS b, 5) AS s, C AS c, 5) WHERE s.Vs > a.Vs AND s.a_x = c.x", []),
        ("ANY(A AS a, B AS b) WHERE a.x = b.x", ["never-applies"]),
        ("ANY(A AS a, B AS b) WHERE a.x = 1 AND b.x = 1", []),
        ("ATMOST(3, A AS a, B AS b, 5) WHERE a.x = b.x", ["never-applies"]),
        ("ATLEAST(2, A AS a, B AS b, C AS c, 5) WHERE a.x = b.x", []),
        ("ATLEAST(2, A AS a, B AS b, C AS c, 5) WHERE a.x = b.x + c.x", ["never-applies"]),
        ("EXACTLY(2, A AS a, B AS b, C AS c, 5) WHERE a.x = b.x + c.x", []),
        ("EXACTLY(1, A AS a, B AS b, C AS c, 5) WHERE a.x = b.x + c.x", ["never-applies"]),
        ("SEQUENCE(ANY(A AS a, B AS b), C AS c, 5) WHERE a.x = b.x + c.x", ["never-applies"]),
    ],
)
def test_where_a_conjunct_can_act(text: str, found: list[str]) -> None:
    """Reading: R21."""
    assert codes(f"WHEN {text}") == found


def test_conjuncts_must_be_predicates() -> None:
    assert codes("WHEN ANY(A) WHERE A.x") == ["type-mismatch"]
    assert codes("WHEN ANY(A) WHERE A.x = 'one' AND {A.x + TRUE = 2}") == ["type-mismatch"] * 2
    assert codes("WHEN ALL(A, B, 5) WHERE COUNT(*) = 1") == ["aggregate-not-allowed"]


def test_keys_must_be_comparable() -> None:
    """Reading: R22."""
    types = "TYPE A (k STRING, n INTEGER); TYPE B (k INTEGER, n FLOAT); TYPE C (k STRING, n INTEGER);"
    query = f"{types} EVENT Q WHEN UNLESS(ALL(A, C, 5), B, 5) WHERE "
    assert [e.code for e in diagnostics(query + "CorrelationKey(n, UNIQUE)")] == []
    assert [e.code for e in diagnostics(query + "CorrelationKey(k, EQUAL)")] == ["type-mismatch"]
    assert [e.code for e in diagnostics(query + "[n EQUAL 5]")] == []
    assert [e.code for e in diagnostics(query + "[n EQUAL 'five']")] == ["type-mismatch"]


# -- operators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ATLEAST(0, A, B, 5)", ["count-out-of-range"]),
        ("ATLEAST(1, A, B, 5)", []),
        ("EXACTLY(3, A, B, 5)", ["count-out-of-range"]),
        ("EXACTLY(2, A, B, 5)", []),
        ("ATMOST(0, A, B, 5)", []),
        ("ATMOST(-1, A, B, 5)", ["count-out-of-range"]),
        ("UNLESS(A, B, 1, 5)", []),
        ("UNLESS(A, B, 2, 5)", ["count-out-of-range"]),
        ("UNLESS(SEQUENCE(A, B, 5), C, 2, 5)", []),
        ("UNLESS(SEQUENCE(A, B, 5), C, 0, 5)", ["count-out-of-range"]),
        ("UNLESS(ALL(A, B, 5), C, 3, 5)", ["count-out-of-range"]),
        ("UNLESS(ATLEAST(2, A, B, C, 5), C, 2, 5)", []),
        ("UNLESS(ATLEAST(2, A, B, C, 5), C, 3, 5)", ["count-out-of-range"]),
        ("UNLESS(NOT(C, SEQUENCE(A, B, 5)), C, 2, 5)", []),
        ("UNLESS(CANCEL-WHEN(SEQUENCE(A, B, 5), C), C, 2, 5)", []),
        ("UNLESS(UNLESS(SEQUENCE(A, B, 5), C, 5), C, 2, 5)", ["count-out-of-range"]),
        ("UNLESS(ANY(A, B), C, 2, 5)", ["count-out-of-range"]),
        ("SEQUENCE(A, B, 0)", ["scope-not-positive"]),
        ("UNLESS(A, B, -5 minutes)", ["scope-not-positive"]),
        ("ATMOST(1, A, FOREVER)", ["unbounded-scope"]),
        ("NOT(A, B)", ["not-over-non-sequence"]),
        ("NOT(A, UNLESS(SEQUENCE(B, C, 5), A, 5))", ["not-over-non-sequence"]),
    ],
)
def test_scopes_and_counts(text: str, found: list[str]) -> None:
    """Readings: R11 to R17."""
    assert codes(f"WHEN {text}") == found


def test_contributors_of_named_queries() -> None:
    """Reading: R16."""
    text = f"{SMALL} EVENT P WHEN SEQUENCE(A, B, 5); EVENT F FROM P; EVENT Q WHEN UNLESS(%s, C, 2, 5)"
    assert [e.code for e in diagnostics(text % "P")] == []
    assert [e.code for e in diagnostics(text % "F")] == ["count-out-of-range"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SEQUENCE(LAST A, FIRST B, 5)", []),
        ("SEQUENCE(FIRST A CONSUME, B CONSUME, 5)", []),
        ("SEQUENCE(A, LAST B, 5)", []),
        ("ALL(LAST A, B, 5)", []),
        ("NOT(A, SEQUENCE(FIRST B, C, 5))", []),
        ("FIRST A", ["selection-not-allowed"]),
        ("SEQUENCE(A, B, 5) REUSE", ["selection-not-allowed"]),
        ("ANY(FIRST A)", ["selection-not-allowed"]),
        ("ATMOST(1, A CONSUME, 5)", ["selection-not-allowed"]),
        ("UNLESS(A, LAST B, 5)", ["selection-not-allowed"]),
        ("NOT(A, LAST SEQUENCE(B, C, 5))", ["selection-not-allowed"]),
        ("CANCEL-WHEN(EACH A, B)", ["selection-not-allowed"]),
        ("A WEIGHT 2", ["weight-not-allowed"]),
        ("ALL(A WEIGHT 2, B, 5)", ["weight-not-allowed"]),
        ("ATMOST(1, A WEIGHT 0, B, 5)", []),
        ("ATMOST(1, A WEIGHT -1, B, 5)", ["weight-not-allowed"]),
        ("SEQUENCE(LAST A, 5)", ["last-unbounded"]),
        ("ALL(LAST A, 5)", ["last-unbounded"]),
        ("ATLEAST(1, LAST A, LAST B, 5)", ["last-unbounded"] * 2),
        ("EXACTLY(1, LAST A, LAST B, 5)", ["last-unbounded"] * 2),
        ("EXACTLY(2, FIRST A CONSUME, B, C, 5)", []),
        ("SEQUENCE(LAST A, B CONSUME, 5)", []),
        ("SEQUENCE(A CONSUME, LAST B, 5)", ["last-consume"]),
        ("SEQUENCE(A, LAST B, 5) DISJOINT", ["last-consume"]),
        ("ALL(LAST A, B CONSUME, 5)", ["last-consume"]),
        ("ATLEAST(2, LAST A, B, C, 5) DISJOINT", ["last-consume"]),
        ("SEQUENCE(SEQUENCE(A, B, 5), C, 5)", []),
        ("SEQUENCE(A, UNLESS(B, C, 5), 5)", []),
        ("SEQUENCE(A, ALL(B, C, 5), 5)", ["nested-order"]),
    ],
)
def test_modes(text: str, found: list[str]) -> None:
    """Readings: R14, R25, R26, R27."""
    assert codes(f"WHEN {text}") == found


# -- OUTPUT of patterns -----------------------------------------------------------------------------------------------


def test_without_output_every_contributor_gives_its_payload() -> None:
    """Reading: R23."""
    assert list(outputs("WHEN UNLESS(SEQUENCE(A AS a, B, 5), C, 5)")) == ["a_x", "a_k", "B_x", "B_y"]


def test_items_without_a_name_get_one() -> None:
    made = outputs("WHEN ALL(A, B, 5) OUTPUT A.x, A.Vs, ABS(B.x), MAX(x), A.x + 1, 'constant' AS c")
    assert list(made) == ["x", "Vs", "abs", "max", "column5", "c"]
    assert made["c"] == Literal("constant", TEXT)


def test_aggregates_run_over_the_contributors() -> None:
    """Reading: R23."""
    text = "WHEN UNLESS(ALL(A AS a, B AS b, 5), C AS c, 5) OUTPUT COUNT(*) AS n, MAX(x) AS x, AVG(y) AS y, "
    made = outputs(text + "SUM(a.x, b.y) AS s, MIN(Vs) AS v, MAX(x + a.x) AS m")
    ax, bx, by = Attribute("a", "x", NUMBER), Attribute("b", "x", NUMBER), Attribute("b", "y", FLOAT)
    ids = (Header("a", HeaderField.ID), Header("b", HeaderField.ID))
    assert made == {
        "n": Aggregate("COUNT", ids, star=True),
        "x": Aggregate("MAX", (ax, bx)),
        "y": Aggregate("AVG", (by,)),
        "s": Aggregate("SUM", (ax, by)),
        "v": Aggregate("MIN", (Header("a", HeaderField.VS), Header("b", HeaderField.VS))),
        "m": Aggregate("MAX", (Binary("+", ax, ax), Binary("+", bx, ax))),
    }
    assert codes("WHEN ALL(A, B, 5) OUTPUT SUM(nothing)") == ["unknown-attribute"]
    assert codes("WHEN ALL(A, B, 5) OUTPUT SUM(k)") == ["type-mismatch"]
    assert codes("WHEN ALL(A, B, 5) OUTPUT MAX(SUM(x))") == ["nested-aggregate"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("OUTPUT b.x AS y", ["negated-output"]),
        ("OUTPUT b.Vs", ["negated-output"]),
        ("OUTPUT x", []),
        ("OUTPUT y", ["unknown-attribute"]),
        ("OUTPUT COUNT(y)", ["unknown-attribute"]),
        ("OUTPUT a.x, a.x", ["duplicate-output"]),
        ("OUTPUT a.x AS n, a.k AS n", ["duplicate-output"]),
    ],
)
def test_outputs_that_cannot_be(text: str, found: list[str]) -> None:
    assert codes(f"WHEN UNLESS(A AS a, B AS b, 5) {text}") == found


def test_the_type_of_an_output() -> None:
    query = checked("EVENT Q WHEN SEQUENCE(A AS a, B AS b, 5) OUTPUT a.x + b.y AS s, b.Vs - a.Vs AS d, a.k")
    assert query.output == EventType("Q", {"s": FLOAT, "d": DataType.DURATION, "k": TEXT})


@pytest.mark.parametrize(
    ("text", "found"), [("@ [5, 5]", []), ("@ [6, 5]", ["slice-empty"]), ("# [1, 0]", ["slice-empty"])]
)
def test_slices(text: str, found: list[str]) -> None:
    """Reading: R24."""
    assert codes(f"WHEN ANY(A) {text}") == found


# -- FROM -------------------------------------------------------------------------------------------------------------


def test_outputs_of_relations() -> None:
    assert list(outputs("FROM A")) == ["x", "k"]
    assert list(outputs("FROM A AS a JOIN B ON a.x = B.x")) == ["a_x", "a_k", "B_x", "B_y"]
    assert list(outputs("FROM A LEFT JOIN B AS b ON A.x = b.x WHERE b.x IS NULL")) == ["A_x", "A_k", "b_x", "b_y"]
    assert list(outputs("FROM A ANTI JOIN B ON A.x = B.x")) == ["x", "k"]
    assert list(outputs("FROM A JOIN A ON A1.x = A2.x")) == ["A1_x", "A1_k", "A2_x", "A2_k"]
    assert list(outputs("FROM A GROUP BY A.k, A.x + 1, x AS n")) == ["k", "column2", "n"]
    assert list(outputs("FROM A HAVING COUNT(*) > 1")) == []
    assert list(outputs("FROM (FROM A OUTPUT x AS y, k) AS s WHERE s.y > 1")) == ["y", "k"]
    assert body("FROM A").source == syntax.StreamSource("A", "A")
    assert codes("FROM A ANTI JOIN B ON A.x = B.x WHERE B.x = 1") == ["unbound-variable"]


def test_names_in_a_single_source_need_no_variable() -> None:
    made = body("FROM A AS a WHERE x > 1 WINDOW LIFETIME Ve, 5 minutes OUTPUT k, Vs")
    assert made.where == Binary(">", Attribute("a", "x", NUMBER), Literal(1, NUMBER))
    assert made.window.start == Header("a", HeaderField.VE)
    assert [item.expression for item in made.output] == [Attribute("a", "k", TEXT), Header("a", HeaderField.VS)]


def test_lifetimes() -> None:
    """Paper: Definition 12."""
    joined = body("FROM A JOIN B ON A.x = B.x WINDOW LIFETIME Vs, Ve - Vs").window
    assert joined.start == Header("", HeaderField.VS)
    forever = body("FROM A WINDOW LIFETIME Vs, FOREVER").window
    assert forever.duration == Literal(FOREVER, DataType.DURATION)
    assert codes("FROM A WINDOW LIFETIME Vs, x") == []
    assert codes("FROM A WINDOW LIFETIME k, 5") == ["type-mismatch"]
    assert codes("FROM A WINDOW LIFETIME Vs, k") == ["type-mismatch"]
    assert codes("FROM A WINDOW LIFETIME Vs, MAX(x)") == ["aggregate-not-allowed"]
    assert codes("FROM A JOIN B ON A.x = B.x WINDOW LIFETIME Vs, x") == ["ambiguous-name"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MOVING 5", []),
        ("MOVING FOREVER", []),
        ("MOVING 0", ["window-not-positive"]),
        ("HOPPING 5 EVERY 2", []),
        ("HOPPING 0 EVERY -1", ["window-not-positive"] * 2),
        ("TUMBLING FOREVER", ["window-not-positive"]),
        ("SESSION -1 hour", ["window-not-positive"]),
        ("INSERTS", []),
    ],
)
def test_windows(text: str, found: list[str]) -> None:
    """Reading: R31."""
    assert codes(f"FROM A WINDOW {text}") == found


def test_groups() -> None:
    """Reading: R30."""
    made = body(
        "FROM A AS a GROUP BY a.x % 10 AS d, k HAVING d > 1 OUTPUT d, k, a.x % 10 + 1 AS e, COUNT(*) AS n, SUM(x)"
    )
    key = Binary("%", Attribute("a", "x", NUMBER), Literal(10, NUMBER))
    assert [item.expression for item in made.output[:2]] == [key, Attribute("a", "k", TEXT)]
    assert made.having == Binary(">", key, Literal(1, NUMBER))
    assert made.output[4] == syntax.OutputItem(Aggregate("SUM", (Attribute("a", "x", NUMBER),)), "sum")
    assert [item.name for item in made.group_by] == ["d", "k"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("FROM A GROUP BY k OUTPUT x", ["not-grouped"]),
        ("FROM A GROUP BY k OUTPUT k, Vs", ["not-grouped"]),
        ("FROM A GROUP BY k HAVING x > 1", ["not-grouped"]),
        ("FROM A OUTPUT COUNT(*) AS n, k", ["not-grouped"]),
        ("FROM A OUTPUT COUNT(*) AS n, 1 AS one", []),
        ("FROM A HAVING x > 1", []),
        ("FROM A HAVING x", ["type-mismatch"]),
        ("FROM A WHERE SUM(x) > 1", ["aggregate-not-allowed"]),
        ("FROM A JOIN B ON MAX(A.x) = 1", ["aggregate-not-allowed"]),
        ("FROM A JOIN B ON A.x", ["type-mismatch"]),
        ("FROM A GROUP BY MAX(x)", ["aggregate-not-allowed"]),
        ("FROM A GROUP BY k, k", ["duplicate-output"]),
        ("FROM A AS a GROUP BY a.k OUTPUT MAX(a.k), MIN(a.nothing)", ["unknown-attribute"]),
        ("FROM A OUTPUT AVG(x), AVG(x)", ["duplicate-output"]),
    ],
)
def test_groups_that_cannot_be(text: str, found: list[str]) -> None:
    assert codes(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("FROM A AS e UNION A AS e", []),
        ("FROM A AS a UNION (FROM B OUTPUT x, 'k' AS k) AS b EXCEPT A AS c WHERE a.x = 1", []),
        ("FROM A AS a UNION (FROM B OUTPUT y AS x, 'k' AS k) AS b", []),
        ("FROM A AS a EXCEPT (FROM B OUTPUT x, y AS k) AS b", ["incompatible-sources"]),
        ("FROM A AS a EXCEPT B AS b", ["incompatible-sources"]),
        ("FROM A AS a UNION A AS b WHERE b.x = 1", ["unbound-variable"]),
        ("FROM A JOIN B ON A.x = B.x UNION C", ["incompatible-sources"]),
        ("FROM A ANTI JOIN B ON A.x = B.x UNION A AS a", []),
        ("FROM (FROM A WHERE nothing = 1) AS s UNION C", ["unknown-attribute"]),
    ],
)
def test_unions_and_differences(text: str, found: list[str]) -> None:
    """Reading: R29."""
    assert codes(text) == found


def test_a_checked_file_has_the_types() -> None:
    file = check_text(f"{SMALL} EVENT Q WHEN ANY(A)")
    assert isinstance(file, CheckedFile)
    assert set(file.types.types) == {"A", "B", "C"}


def test_errors_come_in_the_order_of_the_text() -> None:
    with pytest.raises(LanguageError) as caught:
        check_text(f"{SMALL} EVENT P WHEN ANY(Q, X); EVENT Q WHEN ANY(Y)")
    assert [e.span.text for e in caught.value.diagnostics if e.span] == ["X", "Y"]
