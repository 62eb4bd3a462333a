"""Plans in stages: where they are cut, what the rows carry, and why others are not cut.

Paper: Section 3.3.2 (operators compose).  Readings: R8, R20, R21, R32.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from cedr.expression.tree import Attribute, Binary
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.plan import logical
from cedr.plan.analyses.bounds import scope
from cedr.plan.analyses.keys import NoPartitionKey, partition_key
from cedr.plan.analyses.lifetimes import lifetime, open_end
from cedr.plan.analyses.stages import NoStages, Stage, stages_of
from cedr.plan.compile import compile_text
from cedr.plan.logical import Contributor, Made, Node, Query
from cedr.plan.rewrite import rewrite
from cedr.testing.histories import small_catalog

CATALOG = EventTypes({**small_catalog("A", "B", "C", "D").types, "E": EventType("E", {"id": DataType.STRING})})
LINKED = "WHERE {a.k = b.k} AND {b.v = c.v}"


def keyed(plan: Node) -> str:
    found = partition_key(rewrite(plan).plan)
    return found.reason if isinstance(found, NoPartitionKey) else ""


def cut(text: str) -> tuple[Stage, ...] | NoStages:
    plan = list(compile_text(text, CATALOG).queries.values())[-1].plan
    return stages_of(plan, keyed)


def stages(text: str) -> tuple[Stage, ...]:
    found = cut(text)
    assert not isinstance(found, NoStages), found.reason
    return found


def keys(text: str) -> list[str]:
    return [str(partition_key(rewrite(stage.plan).plan)) for stage in stages(text)]


KEYS = {
    f"EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 9), C c, 5) {LINKED}": ["a.k = b.k", "$1.b.v = c.v"],
    f"EVENT Q WHEN UNLESS(C c, SEQUENCE(A a, B b, 9), 5) {LINKED}": ["a.k = b.k", "c.v = $1.b.v"],
    f"EVENT Q WHEN SEQUENCE(UNLESS(B b, A a, 9), C c, 5) {LINKED}": ["b.k = a.k", "$1.b.v = c.v"],
    f"EVENT Q WHEN ALL(ALL(A a, B b, 9) x, C c, 5) {LINKED}": ["a.k = b.k", "$1.b.v = c.v"],
    f"EVENT Q WHEN CANCEL-WHEN(SEQUENCE(A a, B b, 9), C c) {LINKED}": ["a.k = b.k", "$1.b.v = c.v"],
    f"EVENT Q WHEN SEQUENCE(C c, NOT(D d, SEQUENCE(A a, B b, 9)), 5) {LINKED} AND {{d.k = a.k}}": [
        "d.k = a.k = b.k",
        "c.v = $1.b.v",
    ],
    "EVENT P WHEN SEQUENCE(A a, B b, 9) WHERE {a.k = b.k} OUTPUT b.v AS w;"
    "EVENT Q WHEN UNLESS(P p, C c, 5) WHERE {p.w = c.v}": ["a.k = b.k", "p.w = c.v"],
    "EVENT Q WHEN SEQUENCE(SEQUENCE(SEQUENCE(A a, B b, 9), C c, 5), D d, 3) "
    "WHERE {a.k = b.k} AND {b.v = c.v} AND {c.s = d.s}": ["a.k = b.k", "$1.b.v = c.v", "$2.c.s = d.s"],
    "EVENT Q WHEN SEQUENCE(SEQUENCE(A a, B b, 9), SEQUENCE(C c, D d, 9), 5) "
    "WHERE {a.k = b.k} AND {c.k = d.k} AND {b.v = c.v}": ["a.k = b.k", "c.k = d.k", "$1.b.v = $2.c.v"],
}


@pytest.mark.parametrize("text", KEYS)
def test_each_stage_has_a_key(text: str) -> None:
    assert keys(text) == KEYS[text]


def test_the_larger_operator_is_taken_first() -> None:
    """Fewer rows go from one stage to the next, and there are no more stages than it takes."""
    text = "EVENT Q WHEN UNLESS(SEQUENCE(SEQUENCE(A a, B b, 9), D d, 9), C c, 5) WHERE {a.k = b.k} AND {b.k = d.k}"
    first, last = stages(f"{text} AND {{b.v = c.v}}")
    assert first.made is not None
    assert first.made.type.name == "/UNLESS/1/SEQUENCE"
    assert last.made is None


def test_a_row_carries_what_the_rest_asks_for() -> None:
    """R8, R20: attributes of inner variables, and names and times of all that contributes."""
    text = f"EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 9) x, C c, 5) {LINKED} OUTPUT a.s AS s, b.Rt AS r, x.Ve AS e"
    first, last = stages(text)
    assert first.made is not None
    assert dict(first.made.type.attributes) == {
        "a.s": DataType.STRING,
        "b.Rt": DataType.TIMESTAMP,
        "b.v": DataType.INTEGER,
        "a.ID": DataType.STRING,
        "a.Vs": DataType.TIMESTAMP,
        "b.ID": DataType.STRING,
        "b.Vs": DataType.TIMESTAMP,
    }
    assert first.made.contributors == (Contributor("A", "a.ID", "a.Vs"), Contributor("B", "b.ID", "b.Vs"))
    assert first.plan.type == first.made.type
    assert [column.name for column in _project(first.plan).columns] == list(first.made.type.attributes)
    unless = _project(last.plan).input
    assert isinstance(unless, logical.Unless)
    assert unless.predicates == (
        Binary("=", Attribute("$1", "b.v", DataType.INTEGER), Attribute("c", "v", DataType.INTEGER)),
    )
    assert unless.first == logical.Rename(logical.Rename(first.made, "$1"), "x")


def _project(plan: Query) -> logical.Project:
    assert isinstance(plan.input, logical.Project)
    return plan.input


def test_of_a_named_query_only_what_is_asked_for_is_carried() -> None:
    text = (
        "EVENT P WHEN SEQUENCE(A a, B b, 9) WHERE {a.k = b.k} OUTPUT b.v AS w, a.s AS s, a.v AS v;"
        "EVENT Q WHEN UNLESS(P p, C c, 5) WHERE {p.w = c.v} OUTPUT p.s AS s"
    )
    first, _ = stages(text)
    assert first.made is not None
    assert first.made.type.name == "P"
    assert list(first.made.type.attributes) == ["w", "s", "a.ID", "a.Vs", "b.ID", "b.Vs"]


def test_a_row_carries_the_payload_that_an_operator_keeps() -> None:
    """R20: the row of an UNLESS has the payload of its first event, as far as somebody asks for it."""
    (query,) = compile_text(f"EVENT Q WHEN SEQUENCE(UNLESS(B b, A a, 9) x, C c, 5) {LINKED}", CATALOG).queries.values()
    column = logical.Column("s", Attribute("x", "s", DataType.STRING), DataType.STRING)
    plan = replace(query.plan, input=replace(_project(query.plan), columns=(column,)))
    found = stages_of(plan, keyed)
    assert not isinstance(found, NoStages)
    assert found[0].made is not None
    assert list(found[0].made.type.attributes) == ["s", "b.v", "b.ID", "b.Vs"]


def test_rows_of_rows_name_the_first_events() -> None:
    """The contributors of a third stage's rows are events of the input."""
    text = (
        "EVENT Q WHEN SEQUENCE(SEQUENCE(SEQUENCE(A a, B b, 9), C c, 5), D d, 3) "
        "WHERE {a.k = b.k} AND {b.v = c.v} AND {c.s = d.s}"
    )
    made = stages(text)[1].made
    assert made is not None
    assert [part.stream for part in made.contributors] == ["A", "B", "C"]
    assert {made.contributors[0].id, made.contributors[0].start} <= set(made.type.attributes)


def test_what_is_known_of_an_operator_is_known_of_its_rows() -> None:
    """R37: how far back Rt may lie, how long rows live, and that their ends are final."""
    made = stages(f"EVENT Q WHEN CANCEL-WHEN(SEQUENCE(A a, B b, 9), C c) {LINKED}")[0].made
    assert isinstance(made, Made)
    assert (scope(made), lifetime(made), open_end(made)) == (9, 9, False)


REASONS = {
    "EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 9), C c, 5)": "no operator inside has a key of its own",
    f"EVENT Q WHEN UNLESS(SEQUENCE(A a CONSUME, B b, 9), C c, 5) {LINKED}": "CONSUME and DISJOINT",
    f"EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 9), C c, 5) DISJOINT {LINKED}": "CONSUME and DISJOINT",
    f"EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 9), C c, 5) VALID WITH LAST {LINKED}": "VALID WITH LAST",
    f"EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 9), C c, 5) {LINKED} # [1, 5]": "a slice is of the whole",
    f"EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 9), C c, 1, 5) {LINKED}": "UNLESS from a contributor on looks inside",
    f"EVENT Q WHEN NOT(C c, SEQUENCE(A a, B b, 9)) {LINKED}": "NOT looks inside its SEQUENCE",
    f"EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 9), C c, 5) {LINKED} OUTPUT a.Ve AS e": "a.Ve is asked for outside",
    "EVENT Q WHEN UNLESS(ATLEAST(1, A a, B b, 9), C c, 5) WHERE {a.k = b.k} AND {b.v = c.v}": "unbound",
    f"EVENT Q WHEN SEQUENCE(CANCEL-WHEN(B b, A a), C c, 5) {LINKED}": "may still be shortened",
    f"EVENT Q WHEN SEQUENCE(UNLESS(B b, A a, 1, 9), C c, 5) {LINKED}": "begin or end apart from their events",
    "EVENT Q WHEN SEQUENCE(ALL(SEQUENCE(A a, B b, 9), D d, 9), C c, 5) "
    "WHERE {a.k = d.k} AND {b.k = d.k} AND {b.v = c.v}": "is not that of their times",
    "EVENT Q FROM A AS a JOIN B AS b ON a.v < b.v OUTPUT a.k AS k": "Join is not run in stages",
    "EVENT Q WHEN SEQUENCE(SEQUENCE(A a, B b, 9), SEQUENCE(C c, D d, 9), 5) "
    "WHERE {a.k = b.k} AND {b.v = c.v}": "beside /SEQUENCE/1/SEQUENCE",
}


@pytest.mark.parametrize("text", REASONS)
def test_what_is_not_cut_has_a_reason(text: str) -> None:
    found = cut(text)
    assert isinstance(found, NoStages)
    assert REASONS[text] in found.reason
