"""Predicate injection: where each conjunct lands.  Paper: Section 3.2.  Readings: R20, R21, R22."""

from __future__ import annotations

from cedr.expression.render import render
from cedr.model.schema import EventTypes
from cedr.plan import logical
from cedr.plan.compile import compile_text
from cedr.plan.logical import walk
from tests.semantics.running import matches


def injected(query: str) -> dict[str, list[str]]:
    """The predicates of each operator by its place, and of each selection by what it selects from."""
    (compiled,) = compile_text(query, EventTypes(open=True)).queries.values()
    found: dict[str, list[str]] = {}
    for node in walk(compiled.plan):
        if isinstance(node, logical.Pattern) and node.predicates:
            found[node.place] = [render(p) for p in node.predicates]
        if isinstance(node, logical.Select):
            below = node.input
            while isinstance(below, logical.Select):
                below = below.input
            name = below.variable if isinstance(below, logical.Rename) else below.place
            found.setdefault(name, []).insert(0, render(node.predicate))
    return found


def test_each_conjunct_goes_to_the_lowest_operator_that_binds_its_variables() -> None:
    """R21."""
    query = """EVENT Q WHEN UNLESS(SEQUENCE(A AS a, ALL(B AS b, C AS c, 5) AS s, 9), D AS d, 5)
               WHERE a.v = 1 AND b.v = c.v AND a.v = c.v AND {a.v < s.Vs} AND d.v = 2 AND d.v = b.v"""
    assert injected(query) == {
        "a": ["a.v = 1"],
        "/UNLESS/1/SEQUENCE/2/ALL": ["b.v = c.v"],
        "/UNLESS/1/SEQUENCE": ["a.v = c.v", "a.v < s.Vs"],
        "d": ["d.v = 2"],
        "/UNLESS": ["d.v = b.v"],
    }


def test_conjuncts_over_one_composite_stand_above_it() -> None:
    """R20, R21: header fields of a composite are known when it is; its payload is that of its contributors."""
    query = "EVENT Q WHEN SEQUENCE(SEQUENCE(A AS a, B AS b, 5) AS s, C AS c, 9) WHERE s.Ve > 3 AND s.a_v = s.b_v"
    assert injected(query) == {"s": ["s.Ve > 3"], "/SEQUENCE/1/SEQUENCE": ["a.v = b.v"]}


def test_conjuncts_that_can_never_apply_are_dropped() -> None:
    """R21, D13: ANY and ATMOST bind one parameter at a time; a conjunct without variables selects among outputs."""
    assert injected("EVENT Q WHEN ANY(A AS a, B AS b) WHERE a.v = b.v") == {}
    assert injected("EVENT Q WHEN ATLEAST(1, A AS a, B AS b, 3) WHERE a.v = b.v") == {}
    assert injected("EVENT Q WHEN ANY(A AS a) WHERE 1 = 2") == {"/ANY": ["1 = 2"]}
    assert matches("EVENT Q WHEN ANY(A AS a, B AS b) WHERE a.v = b.v", "A a 1 v=1\nB b 2 v=2") == {"a", "b"}


def test_correlation_keys_compare_what_can_be_compared() -> None:
    """R22, D3: a negated event is compared with the operand it negates, never with another negation."""
    query = "EVENT Q WHEN SEQUENCE(UNLESS(A AS a, B AS b, 3), UNLESS(C AS c, D AS d, 3), 9) WHERE CorrelationKey(k, {})"
    expected = {"/SEQUENCE/1/UNLESS": ["a.k {} b.k"], "/SEQUENCE/2/UNLESS": ["c.k {} d.k"], "/SEQUENCE": ["a.k {} c.k"]}
    for mode, sign in (("EQUAL", "="), ("UNIQUE", "<>")):
        assert injected(query.format(mode)) == {p: [t.format(sign) for t in ts] for p, ts in expected.items()}


def test_inside_a_negated_composite_events_agree_but_need_not_differ() -> None:
    """R22: EQUAL includes negated contributors; UNIQUE compares a negated event with positive ones only."""
    query = "EVENT Q WHEN UNLESS(A AS a, SEQUENCE(B AS b, C AS c, 5), 9) WHERE CorrelationKey(k, {})"
    assert injected(query.format("EQUAL")) == {
        "/UNLESS": ["a.k = b.k", "a.k = c.k"],
        "/UNLESS/2/SEQUENCE": ["b.k = c.k"],
    }
    assert injected(query.format("UNIQUE")) == {"/UNLESS": ["a.k <> b.k", "a.k <> c.k"]}


def test_nested_negations_are_compared_level_by_level() -> None:
    """R22: c under two negations is compared with b, and through it with a."""
    query = "EVENT Q WHEN UNLESS(A AS a, UNLESS(B AS b, C AS c, 5), 9) WHERE CorrelationKey(k, EQUAL)"
    assert injected(query) == {"/UNLESS": ["a.k = b.k"], "/UNLESS/2/UNLESS": ["b.k = c.k"]}


def test_a_value_for_all_reaches_every_leaf() -> None:
    """R22: [a EQUAL v], negated contributors included."""
    query = "EVENT Q WHEN UNLESS(A AS a, B AS b, 3) WHERE [k EQUAL 'v']"
    assert injected(query) == {"a": ["a.k = 'v'"], "b": ["b.k = 'v'"]}
