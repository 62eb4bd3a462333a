"""Partition keys: which there are, why there is none, and that a split by key gives the same rows.

Paper: Section 3.1, correlation keys.  Readings: R21, R22, R25 to R27, R29, R30.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.tree import Attribute, Binary, IsNull, Literal
from cedr.model.event import Event
from cedr.model.modes import KeyMode
from cedr.model.schema import DataType, EventTypes
from cedr.plan.analyses.keys import NoPartitionKey, Partitioning, PartitionKey, partition_key, partition_keys
from cedr.plan.compile import compile_text
from cedr.plan.inject import inject_all, key_conjuncts, with_keys
from cedr.plan.logical import ROW, Node, Select, Source, inputs
from cedr.plan.rewrite import rewrite
from cedr.plan.walk import map_inputs
from cedr.testing.histories import History, histories, revised_histories
from tests.plan.plans import KEY, PLAIN, REVISABLE, VALUE, output, patterns, relations, result

OPEN = EventTypes(open=True)


def key_of(query: str) -> Partitioning:
    program = compile_text(query, OPEN)
    plan = list(program.queries.values())[-1].plan
    return partition_key(rewrite(plan).plan)


KEYS = {
    "EVENT E WHEN UNLESS(SEQUENCE(INSTALL x, SHUTDOWN y, 9), RESTART z, 5) "
    "WHERE {x.m = y.m} AND {x.m = z.m}": "x.m = y.m = z.m",
    "EVENT E WHEN UNLESS(SEQUENCE(A x, B y, 9), C z, 5) WHERE CorrelationKey(m, EQUAL)": "x.m = y.m = z.m",
    "EVENT E WHEN SEQUENCE(A x, B y, 9) WHERE {x.no = y.ref}": "x.no = y.ref",
    "EVENT E WHEN SEQUENCE(A x, B y, C z, 9) WHERE {x.a = z.c} AND {z.c = y.b}": "x.a = y.b = z.c",
    "EVENT E WHEN SEQUENCE(A x, B y, 9) WHERE {x.a = y.a AND x.v < y.v}": "x.a = y.a",
    "EVENT E WHEN ATLEAST(2, A a, B b, C c, 9) WHERE CorrelationKey(k, EQUAL)": "a.k = b.k = c.k",
    "EVENT E WHEN ATMOST(2, A a, B b, 9) WHERE CorrelationKey(k, EQUAL)": "a.k = b.k",
    "EVENT E WHEN SEQUENCE(A x, B y, 9) DISJOINT WHERE CorrelationKey(k, EQUAL)": "x.k = y.k",
    "EVENT E WHEN SEQUENCE(FIRST A x CONSUME, A y CONSUME, 9) WHERE CorrelationKey(k, EQUAL)": "x.k = y.k",
    "EVENT E WHEN NOT(C z, SEQUENCE(A x, B y, 9)) WHERE CorrelationKey(k, EQUAL)": "z.k = x.k = y.k",
    "EVENT E WHEN CANCEL-WHEN(SEQUENCE(A x, B y, 9), C z) WHERE CorrelationKey(k, EQUAL)": "x.k = y.k = z.k",
    "EVENT E WHEN SEQUENCE(ANY(A x, B y), C z, 9) WHERE CorrelationKey(k, EQUAL)": "x.k = y.k = z.k",
    "EVENT E FROM A AS a WINDOW MOVING 5 GROUP BY a.k OUTPUT a.k AS k, COUNT(*) AS n": "a.k",
    "EVENT E FROM A AS a JOIN B AS b ON a.k = b.r OUTPUT a.v AS v": "a.k = b.r",
    "EVENT E FROM A AS a JOIN B AS b ON a.v < b.v WHERE a.k = b.r OUTPUT a.v AS v": "a.k = b.r",
    "EVENT E FROM A AS a WINDOW SESSION 5 GROUP BY a.k OUTPUT a.k AS k, COUNT(*) AS n": "a.k",
    "EVENT E FROM A AS a OUTPUT DISTINCT a.k AS k, a.v + 1 AS v": "a.k",
    "TYPE A (k INTEGER); TYPE B (k INTEGER); EVENT E FROM A AS a EXCEPT B AS b": "A.k = B.k",
    "EVENT M FROM A AS a WINDOW MOVING 5 GROUP BY a.k OUTPUT a.k AS key, COUNT(*) AS n;"
    "EVENT E WHEN SEQUENCE(M AS m, B AS b, 9) WHERE {m.key = b.r}": "a.k = b.r",
    "EVENT E FROM A AS a UNION B AS b GROUP BY a.k OUTPUT a.k AS k, COUNT(*) AS n": "A.k = B.k",
    "EVENT E FROM (FROM A AS a JOIN B AS b ON a.k = b.r GROUP BY b.r AS r OUTPUT b.r AS r, COUNT(*) AS n) AS s "
    "JOIN C AS c ON s.r = c.k OUTPUT s.n AS n": "a.k = b.r = c.k",
    "EVENT E WHEN ATMOST(3, ATLEAST(1, A a, B b, 5) AS s, 9) WHERE CorrelationKey(k, EQUAL)": "a.k = b.k",
    "EVENT E WHEN ANY(A x, B y)": "any",
    "EVENT E FROM A AS a WHERE a.k = 1 WINDOW MOVING 5 OUTPUT a.k AS k": "any",
}

REASONS = {
    "EVENT E WHEN UNLESS(SEQUENCE(INSTALL x, SHUTDOWN y, 9), RESTART z, 5) WHERE {x.m = y.m}": (
        "no equality spans RESTART z"
    ),
    "EVENT E WHEN SEQUENCE(A x, B y, 9)": "no equality between A x, B y",
    "EVENT E WHEN SEQUENCE(A x, B y, 9) WHERE {x.k < y.k}": "no equality between A x, B y",
    "EVENT E WHEN SEQUENCE(A x, B y, 9) DISJOINT WHERE {x.k = y.k}": (
        "DISJOINT without CorrelationKey acts over the whole stream"
    ),
    "EVENT E WHEN ATMOST(2, A a, B b, 9)": "ATMOST without CorrelationKey counts over the whole stream",
    "EVENT E FROM A AS a OUTPUT COUNT(*) AS n": "an aggregate without GROUP BY is over the whole stream",
    "EVENT E FROM A AS a GROUP BY a.k + 1 AS k OUTPUT COUNT(*) AS n": "no key for A a",
    "EVENT E WHEN SEQUENCE(A x CONSUME, A y, 9) WHERE {x.no = y.ref}": (
        "CONSUME where A fills several parameters by different attributes"
    ),
    "EVENT E WHEN ALL(A x, A y, 9) WHERE {x.no = y.ref}": (
        "ATLEAST where A fills several parameters by different attributes"
    ),
    "EVENT E WHEN ATLEAST(2, A a, B b, C c, 9) WHERE {a.k = b.k} AND {b.k = c.k}": (
        "nothing links A a and C c where the others are left out"
    ),
    "EVENT E WHEN SEQUENCE(ANY(A x, B y), C z, 9) WHERE {x.k = z.k}": "no equality spans B y",
    "EVENT E WHEN SEQUENCE(FIRST A x, 9)": "FIRST or LAST with nothing else to agree on chooses over the whole stream",
    "TYPE A (k INTEGER); TYPE B (k FLOAT); EVENT E WHEN SEQUENCE(A x, B y, 9) WHERE {x.k = y.k}": (
        "no equality between A x, B y"
    ),
    "EVENT E FROM A AS a LEFT JOIN B AS b ON a.k = b.k GROUP BY b.k OUTPUT COUNT(*) AS n": "GROUP BY is by another key",
    "EVENT E FROM A AS a WINDOW SESSION 5 OUTPUT a.k AS k": "SESSION without GROUP BY is over the whole stream",
    "EVENT E FROM (FROM A AS a OUTPUT a.k + 1 AS k) AS s UNION (FROM B AS b OUTPUT b.k AS k) AS t GROUP BY s.k "
    "OUTPUT COUNT(*) AS n": "no equality between A a, B b",
    "EVENT E FROM A AS a JOIN B AS b ON a.k = b.k OUTPUT DISTINCT a.v AS v": (
        "DISTINCT compares rows in which the key is not left"
    ),
}


@pytest.mark.parametrize(("query", "expected"), KEYS.items())
def test_key(query: str, expected: str) -> None:
    found = key_of(query)
    assert isinstance(found, PartitionKey), found
    assert str(found) == expected


@pytest.mark.parametrize(("query", "reason"), REASONS.items())
def test_reason_why_there_is_no_key(query: str, reason: str) -> None:
    assert key_of(query) == NoPartitionKey(reason)


def test_negated_leaves_are_marked() -> None:
    found = key_of("EVENT E WHEN UNLESS(A x, B y, 5) WHERE {x.k = y.k}")
    assert isinstance(found, PartitionKey)
    assert [attribute.negated for attribute in found.attributes] == [False, True]


def test_an_operator_may_have_a_key_where_the_one_above_has_none() -> None:
    query = "EVENT E WHEN UNLESS(SEQUENCE(A x, B y, 9), C z, 5) WHERE {x.k = y.k} OUTPUT x.k AS k"
    plan = compile_text(query, OPEN).queries["E"].plan
    assert [str(found) for path, found in partition_keys(plan).items() if len(path) in (2, 3)][:2] == [
        "none: no equality spans C z",
        "x.k = y.k",
    ]


def test_of_two_keys_an_operator_takes_the_one_that_those_above_have() -> None:
    query = "EVENT E WHEN UNLESS(SEQUENCE(A x, B y, 9), C z, 5) WHERE {x.a = y.a} AND {x.b = y.b} AND {x.b = z.b}"
    keys = partition_keys(compile_text(query, OPEN).queries["E"].plan)
    assert [str(keys[path]) for path in ((), (0, 0, 0))] == ["x.b = y.b = z.b", "x.b = y.b"]


# -- a split gives the same rows --------------------------------------------------------------------------------------


def split(plan: Node, key: PartitionKey, value: object) -> Node:
    """The plan over the events of each leaf that have a value of the key."""
    attributes = iter(key.attributes)

    def below(node: Node) -> Node:
        if not isinstance(node, Source):
            return map_inputs(node, below)
        name = next(attributes).attribute
        attribute = Attribute(ROW, name, DataType.INTEGER)
        equal = Binary("=", attribute, Literal(value, DataType.INTEGER))
        return Select(node, IsNull(attribute) if value is None else equal)

    return below(plan)


def steady(history: History) -> History:
    """The history with payloads that modifications leave alone, so that every event stays in one part."""
    first: dict[tuple[str, str], Event] = {}
    return tuple(replace(row, payload=first.setdefault(row.reference, row).payload) for row in history)


def check_split(plan: Node, history: History) -> None:
    key = partition_key(plan)
    if not isinstance(key, PartitionKey) or not key.attributes:
        return
    values = {row.payload[name] for row in history for name in (KEY, VALUE)}
    parts = (result(split(plan, key, value), history) for value in values)
    assert Counter(chain.from_iterable(part.elements() for part in parts)) == result(plan, history)


HISTORIES = st.one_of(
    histories(PLAIN, min_size=2, max_size=6, max_time=6),
    revised_histories(REVISABLE, min_size=2, max_size=4).map(steady),
)


@st.composite
def correlated(draw: st.DrawFn) -> Node:
    """A pattern with CorrelationKey(k, EQUAL)."""
    node = draw(patterns())
    keyed = with_keys(node, ((KEY,),))
    return inject_all(keyed, list(key_conjuncts(keyed, (KEY,), KeyMode.EQUAL)))


@given(plan=correlated(), history=HISTORIES)
def test_a_correlated_pattern_split_by_its_key_gives_the_same_rows(plan: Node, history: History) -> None:
    check_split(output(plan), history)


@given(plan=st.one_of(patterns(), relations()), history=HISTORIES)
def test_any_plan_split_by_its_key_gives_the_same_rows(plan: Node, history: History) -> None:
    check_split(output(plan), history)


def test_inputs_are_found_under_their_paths() -> None:
    plan = compile_text("EVENT E WHEN UNLESS(A x, B y, 5)", OPEN).queries["E"].plan
    keys = partition_keys(plan)
    assert set(keys) == {(), (0,), (0, 0), (0, 0, 0), (0, 0, 1), (0, 0, 0, 0), (0, 0, 1, 0)}
    assert len(inputs(plan)) == 1
