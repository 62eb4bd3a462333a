"""What rows carry, which variables they bind, and what expressions read (R20, R21)."""

from __future__ import annotations

import pytest

from cedr.expression.tree import Attribute, Binary, Header, HeaderField, conjunction
from cedr.model.modes import JoinKind
from cedr.model.schema import DataType, EventTypes
from cedr.plan import logical
from cedr.plan.analyses.schema import attributes_of
from cedr.plan.analyses.scope import leaves
from cedr.plan.analyses.shape import certain, own_variables, positive_inputs, possible, reads, split, through_projection
from cedr.plan.compile import compile_text
from cedr.plan.logical import COUNT_NAME, ROW, Node
from tests.plan.plans import attribute, leaf, number, source
from tests.plan.templates import A, B, C, at_least, columns, join, parameter, sequence

TYPED = {"k": DataType.INTEGER, "v": DataType.INTEGER, "s": DataType.STRING}
ANY = logical.Any((parameter(A), parameter(B)))
GROUP = logical.GroupBy(
    A,
    columns(k=attribute("x")),
    (logical.AggregateColumn("n", logical.Aggregate("COUNT", (), star=True), DataType.INTEGER),),
)

ATTRIBUTES: dict[str, tuple[Node, dict[str, DataType]]] = {
    "a source has its type's": (source("A"), TYPED),
    "a renamed one too": (A, TYPED),
    "a query has those of its output": (
        compile_text("TYPE A (k INTEGER); EVENT E WHEN ANY(A a) OUTPUT a.k AS key").queries["E"].plan,
        {"key": DataType.INTEGER},
    ),
    "a composite has none of its own": (sequence(parameter(A), parameter(B)), {}),
    "a join neither": (join(JoinKind.INNER, Binary("=", attribute("x"), attribute("y"))), {}),
    "UNLESS keeps those of its first": (logical.Unless(A, B, 5), TYPED),
    "NOT keeps those of its sequence": (logical.Not(A, sequence(parameter(B), parameter(C))), {}),
    "a projection has its columns": (logical.Project(A, columns(n=number(1))), {"n": DataType.INTEGER}),
    "a group has keys and aggregates": (GROUP, {"k": DataType.INTEGER, "n": DataType.INTEGER}),
    "a sliding count has the count": (logical.SlidingCount((parameter(A),), 5), {COUNT_NAME: DataType.INTEGER}),
    "a difference has those of its left": (logical.Difference(source("A"), source("B")), TYPED),
}


@pytest.mark.parametrize(("node", "expected"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attributes_of(node: Node, expected: dict[str, DataType]) -> None:
    assert attributes_of(node) == expected


BOUND: dict[str, tuple[Node, str, str]] = {
    "sequence": (sequence(parameter(A), parameter(B)), "xy", "xy"),
    "any": (ANY, "", "xy"),
    "any of one": (logical.Any((parameter(A),)), "x", "x"),
    "at least": (at_least(2, parameter(A), parameter(B), parameter(C), predicates=()), "", "xyz"),
    "at least all": (at_least(2, parameter(A), parameter(B), predicates=()), "xy", "xy"),
    "unless": (logical.Unless(A, B, 5), "x", "x"),
    "not": (logical.Not(C, sequence(parameter(A), parameter(B))), "xy", "xy"),
    "left join": (join(JoinKind.LEFT, number(1)), "x", "xy"),
    "anti join": (join(JoinKind.ANTI, number(1)), "x", "x"),
    "union": (logical.Union(A, logical.Rename(leaf("B", "x"), "y")), "x", "xy"),
    "projection": (logical.Project(A, ()), "", ""),
    "composite": (logical.Rename(ANY, "s"), "s", "sxy"),
    "group": (GROUP, "", ""),
}


@pytest.mark.parametrize(("node", "always", "sometimes"), BOUND.values(), ids=BOUND)
def test_r21_which_variables_are_bound(node: Node, always: str, sometimes: str) -> None:
    assert certain(node) == frozenset(always)
    assert possible(node) == frozenset(sometimes)


def test_leaves_with_their_variables_and_negations() -> None:
    plan = logical.Unless(sequence(parameter(A), parameter(B)), logical.Select(C, number(1)), 5, place="/UNLESS")
    assert [(leaf.variable, leaf.negations) for leaf in leaves(plan)] == [("x", ()), ("y", ()), ("z", ("/UNLESS",))]


def test_what_a_negation_holds_is_negated_at_any_depth() -> None:
    plan = logical.CancelWhen(A, logical.Unless(B, C, 5, place="/2/UNLESS"), place="/CANCEL-WHEN")
    assert [leaf.negations for leaf in leaves(plan)] == [(), ("/CANCEL-WHEN",), ("/CANCEL-WHEN", "/2/UNLESS")]


def test_a_named_query_is_a_leaf() -> None:
    program = compile_text("EVENT E WHEN ANY(A a); EVENT F WHEN ANY(E e)", EventTypes(open=True))
    (leaf,) = leaves(program.queries["F"].plan.input.input)  # type: ignore[attr-defined]
    assert (leaf.variable, leaf.source.type.name) == ("e", "E")


def test_one_node_may_stand_on_both_sides() -> None:
    assert positive_inputs(logical.Unless(A, A, 5)) == (A,)


def test_r21_a_conjunction_is_split_only_where_all_is_bound() -> None:
    both = conjunction((attribute("x"), attribute("y")))
    assert split(both, frozenset("xy")) == (attribute("x"), attribute("y"))
    assert split(both, frozenset("x")) == (both,)


def test_own_variables_stand_for_the_row_itself() -> None:
    assert own_variables(logical.Rename(logical.Select(A, number(1)), "y")) == {ROW, "x", "y"}
    assert own_variables(sequence(parameter(A), parameter(B))) == {ROW}


def test_reads_header_fields() -> None:
    expression = Binary("<", Header("x", HeaderField.VS), number(1))
    assert reads(expression, HeaderField.VS)
    assert not reads(expression, HeaderField.VS, of=ROW)
    assert not reads(expression, HeaderField.VE)


def test_through_a_projection_only_what_it_has() -> None:
    project = logical.Project(A, columns(n=Binary("+", attribute("x"), number(1))))
    known, unknown = Attribute(ROW, "n"), Attribute(ROW, "m")
    assert through_projection(known, project, frozenset({ROW})) == Binary("+", attribute("x"), number(1))
    assert through_projection(unknown, project, frozenset({ROW})) is None
    assert through_projection(attribute("x"), project, frozenset({ROW})) is None
