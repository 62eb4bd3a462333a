"""The physical plan: which operators run, fused and shared (R11, R13, R15, R32)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cedr.model.schema import EventTypes
from cedr.plan.analyses.pattern_key import key_of
from cedr.plan.compile import compile_text
from cedr.plan.physical.choose import choose, desugared
from cedr.plan.physical.nodes import Chain, Match, Named, Physical, Scan, UnlessPair
from cedr.testing.histories import small_catalog

SCOPED = "SEQUENCE(A x, B y, 5)"


def physical(text: str, catalog: EventTypes | None = None) -> Physical:
    """The physical plan of the last query of a text."""
    program = compile_text(text, catalog or small_catalog())
    return choose(desugared(list(program.queries.values())[-1].plan))


def walk(plan: Physical) -> Iterator[Physical]:
    yield plan
    for part in plan.inputs:
        yield from walk(part)


def kinds(plan: Physical) -> list[str]:
    """The kinds of operators from the top, a shared one as often as it is read."""
    return [type(each).__name__ for each in walk(plan)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"WHEN {SCOPED} OUTPUT x.k AS k", ["Chain", "Match", "Named", "Scan", "Named", "Scan"]),
        ("WHEN ALL(A x, B y, 5) OUTPUT x.k AS k", ["Chain", "Match", "Named", "Scan", "Named", "Scan"]),
        ("WHEN ANY(A x) OUTPUT x.k AS k", ["Chain", "Match", "Named", "Scan"]),
        ("WHEN ATMOST(1, A x, 5) OUTPUT x.k AS k", ["Chain", "Count", "Named", "Scan"]),
        ("WHEN A x WHERE {x.k = 1} OUTPUT x.k AS k", ["Chain", "Filter", "Named", "Scan"]),
        ("WHEN A x OUTPUT x.k AS k # [1, 5]", ["Chain", "TimeSlice", "Chain", "Named", "Scan"]),
        ("FROM A x UNION B y OUTPUT x.k AS k", ["Chain", "Named", "Algebra", "Scan", "Scan"]),
    ],
)
def test_which_operators_run(text: str, expected: list[str]) -> None:
    assert kinds(physical(f"EVENT Q {text}")) == expected


def test_a_name_a_projection_and_valid_are_one_operator() -> None:
    plan = physical(f"EVENT Q WHEN {SCOPED} VALID FOREVER OUTPUT x.k AS k")
    assert isinstance(plan, Chain)
    assert [type(step).__name__ for step in plan.steps] == ["Query", "Project", "SetValid"]
    assert isinstance(plan.inputs[0], Match)


def test_projections_in_a_row_are_an_operator_each() -> None:
    plan = physical("EVENT P WHEN A x OUTPUT x.k AS k; EVENT Q WHEN P p OUTPUT p.k AS k")
    assert kinds(plan) == ["Chain", "Named", "Chain", "Named", "Scan"]


def test_r13_sugar_is_an_atleast() -> None:
    node = physical("EVENT Q WHEN ALL(A x, B y, 5) OUTPUT x.k AS k").inputs[0].node
    assert (type(node).__name__, getattr(node, "count", None)) == ("AtLeast", 2)


def test_r32_equal_parts_are_one_operator() -> None:
    plan = physical("EVENT P WHEN A x OUTPUT x.k AS k; EVENT Q WHEN SEQUENCE(P p, P q, 5) OUTPUT p.k AS k")
    left, right = plan.inputs[0].inputs
    assert isinstance(left, Named)
    assert left is not right
    assert left.inputs[0] is right.inputs[0]
    assert len({id(each) for each in walk(plan)}) == 7


def test_equal_operators_at_other_places_are_others() -> None:
    plan = physical(f"EVENT Q WHEN SEQUENCE({SCOPED}, SEQUENCE(A v, B w, 5), 9) OUTPUT x.k AS k")
    left, right = plan.inputs[0].inputs
    assert isinstance(left, Match)
    assert isinstance(right, Match)
    assert left is not right
    scans = {id(each): each for each in walk(plan) if isinstance(each, Scan)}
    assert sorted(scan.node.type.name for scan in scans.values()) == ["A", "B"]


FUSED = "EVENT Q WHEN UNLESS(SEQUENCE(A x, B y, 5), C z, 3) {} OUTPUT x.k AS k"
LINKED = "WHERE {x.k = y.k} AND {y.k = z.k}"


def test_unless_over_a_sequence_of_two_is_one_operator() -> None:
    plan = physical(FUSED.format(LINKED)).inputs[0]
    assert isinstance(plan, UnlessPair)
    assert plan.sides == (("x", ("k",)), ("y", ("k",)), ("z", ("k",)))
    assert [type(part).__name__ for part in plan.inputs] == ["Named"] * 3
    plain = physical(FUSED.format("")).inputs[0]
    assert isinstance(plain, UnlessPair)
    assert plain.sides == ()


@pytest.mark.parametrize(
    "text",
    [
        FUSED.format("WHERE {x.k = y.k} AND {y.k = z.k} AND {x.v < z.v}"),
        FUSED.format("WHERE {x.k = y.k}"),
        FUSED.replace("B y", "FIRST B y").format(LINKED),
        FUSED.replace("B y", "B y CONSUME").format(LINKED),
        FUSED.replace("B y", "B y, A w").format(LINKED),
        "EVENT Q WHEN UNLESS(ALL(A x, B y, 5), C z, 3) OUTPUT x.k AS k",
        "EVENT Q WHEN UNLESS(A x, C z, 3) OUTPUT x.k AS k",
    ],
)
def test_other_negations_are_operators_of_their_own(text: str) -> None:
    plan = physical(text).inputs[0]
    assert isinstance(plan, Match)
    assert type(plan.node).__name__ == "Unless"


def test_r22_a_pattern_is_grouped_by_its_key() -> None:
    plan = physical("EVENT Q WHEN SEQUENCE(A x, B y, 5) WHERE {x.k = y.k} OUTPUT x.k AS k").inputs[0]
    assert isinstance(plan, Match)
    assert plan.key == key_of(plan.node)
    assert plan.key is not None
    assert plan.key.sides == (("x", ("k",)), ("y", ("k",)))
    assert plan.nulls == (False, False)
