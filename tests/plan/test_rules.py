"""Each rewrite rule by example: plans before and after, in ``cases/<rule>.txt``; and the loop around them.

Definitions 7, 8, 9 and 12; R13, R14, R21, R31.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cedr.diagnostics.exceptions import InternalError
from cedr.expression.tree import TRUE, Binary
from cedr.model.event import primitive
from cedr.model.schema import EventTypes
from cedr.plan import logical
from cedr.plan.compile import compile_text
from cedr.plan.describe import plan_text
from cedr.plan.logical import Node
from cedr.plan.rewrite import RULES, Firing, Rule, rewrite
from tests.plan.plans import attribute, leaf, number, output, result
from tests.plan.templates import LAST, TEMPLATES, A, B, parameter, sequence

CASES = Path(__file__).with_name("cases")
P, Q, R = (
    Binary("=", attribute("x"), number(1)),
    Binary(">", attribute("y", "v"), number(2)),
    Binary("=", attribute("x"), attribute("y")),
)

TEXTS = {
    "desugar_all": {"all": "EVENT E WHEN ALL(FIRST A a, B b CONSUME, 1 hour) WHERE CorrelationKey(k, EQUAL)"},
    "desugar_any": {"any": "EVENT E WHEN ANY(A a, B b)"},
    "desugar_atmost": {
        "at most": "EVENT E WHEN ATMOST(5, LOGIN l, LOGOUT o WEIGHT 2, 1 hour) WHERE CorrelationKey(user, EQUAL)",
        "stays where DISJOINT acts on what ATMOST gives": "EVENT E WHEN ATMOST(5, LOGIN l, 1 hour) DISJOINT",
    },
    "push_selection": {
        "below a join, and into its predicate": (
            "EVENT E FROM A AS a JOIN B AS b ON a.k = b.k WHERE a.v > 1 AND b.v > 2 AND a.s <> b.s OUTPUT a.v AS v"
        ),
        "from ON to the sides": "EVENT E FROM A AS a JOIN B AS b ON a.k = b.k AND a.v > 1 OUTPUT a.v AS v",
        "to the left of a left join, not to the right": (
            "EVENT E FROM A AS a LEFT JOIN B AS b ON a.k = b.k AND b.v > 2 WHERE a.v > 1 AND b.v > 3 OUTPUT a.v AS v"
        ),
        "below a union": "EVENT E FROM A AS a UNION B AS b WHERE a.k = 1 OUTPUT a.k AS k",
        "below a projection": (
            "EVENT E FROM (FROM A AS a OUTPUT a.v + 1 AS w) AS s WHERE s.w > 3 AND s.Vs > 4 OUTPUT s.w AS w"
        ),
        "stays above a difference": "EVENT E FROM A AS a EXCEPT B AS b WHERE a.k = 1 OUTPUT a.k AS k",
        "stays above a group": "EVENT E FROM A AS a GROUP BY a.k HAVING a.k > 1 OUTPUT a.k AS k, COUNT(*) AS n",
    },
    "merge_selections": {},
    "merge_projections": {
        "a query in a query": (
            "EVENT E FROM (FROM A AS a OUTPUT a.v + 1 AS w, a.k AS k) AS s OUTPUT s.w * s.w AS square, s.Vs AS since"
        ),
        "not where the outer one asks for Os": "EVENT E FROM (FROM A AS a OUTPUT a.k AS k) AS s OUTPUT s.Os AS since",
    },
    "merge_lifetimes": {},
}

BY_HAND = {
    "push_selection": (
        "sequence",
        "sequence to the last",
        "at least",
        "unless",
        "unless, selected",
        "unless'",
        "not",
        "cancel-when",
        "moving",
        "moving, selected by the row",
        "earlier",
        "valid forever",
        "projection of what may be unbound",
    ),
    "merge_selections": ("selections", "selections over what may be unbound"),
    "merge_lifetimes": (
        "moving 3 over moving 5",
        "inserts over inserts",
        "inserts over deletes",
        "moving 3 over inserts",
        "for two over two later",
        "inserts over moving 3",
        "moving 3 over hopping",
    ),
}


def examples(rule: str) -> Iterator[tuple[str, Node]]:
    for title, text in TEXTS[rule].items():
        yield title, compile_text(text, EventTypes(open=True)).queries["E"].plan.input
    for title in BY_HAND.get(rule, ()):
        yield title, TEMPLATES[title](P, Q, R)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_plans_before_and_after(rule: Rule, golden: Callable[[Path, str], None]) -> None:
    shown = []
    for title, plan in examples(rule.__name__):
        rewritten = rewrite(plan, (rule,))
        after = plan_text(rewritten.plan) if rewritten.firings else "(the same)"
        shown.append(f"# {title}\n\n{plan_text(plan)}\n  =>\n{after}\n")
    golden(CASES / f"{rule.__name__}.txt", "\n".join(shown))


# -- the loop ---------------------------------------------------------------------------------------------------------


def test_rules_are_listed_once_under_the_names_of_their_files() -> None:
    assert len({rule.__name__ for rule in RULES}) == len(RULES)
    assert all(rule.__module__ == f"cedr.plan.rules.{rule.__name__}" for rule in RULES)


def test_firings_name_rule_and_place() -> None:
    plan = logical.All((parameter(A), parameter(B)), 5, predicates=(P,), place="/ALL")
    found = rewrite(plan).firings
    assert found == (Firing("desugar_all", "/ALL"), Firing("push_selection", "/ALL"))
    assert str(found[0]) == "desugar_all at /ALL"
    assert str(Firing("push_selection", "")) == "push_selection"


def test_a_plan_that_no_rule_touches_is_the_same_plan() -> None:
    plan = logical.Unless(A, B, 5, place="/UNLESS")
    assert rewrite(plan).plan is plan


def test_a_selection_of_everything_is_no_selection() -> None:
    assert rewrite(logical.Select(A, TRUE)).plan is A


def test_a_predicate_that_was_pushed_is_not_asked_twice() -> None:
    joined = logical.Select(TEMPLATES["join"](P, Q, R), R)
    assert plan_text(rewrite(joined).plan).count("x.k = y.k") == 1


def test_a_part_that_occurs_twice_stays_one_part() -> None:
    shared = logical.All((parameter(leaf("A", "a")), parameter(leaf("B", "b"))), 5, place="/ALL")
    plan = logical.Union(shared, shared, place="/UNION")
    rewritten = rewrite(plan).plan
    assert isinstance(rewritten, logical.Union)
    assert rewritten.left is rewritten.right


def test_rules_that_chase_each_other_are_an_error_of_ours() -> None:
    def spin(node: Node) -> Node | None:
        return node

    with pytest.raises(InternalError, match="did not end"):
        rewrite(A, (spin,))


# -- why some predicates stay -----------------------------------------------------------------------------------------

PLANNED = (
    primitive("A", "a", 1, payload={"k": 1, "v": 1}),
    primitive("B", "b0", 2, payload={"k": 1, "v": 1}),
    primitive("B", "b", 4, occurrence_start=2, occurrence_end=3, payload={"k": 0, "v": 1}),
    primitive("B", "b", 4, occurrence_start=3, payload={"k": 1, "v": 1}),
)
"""b was announced with k = 0, and changed to k = 1 before it happened."""

OF_Y = Binary("=", attribute("y"), number(1))


def test_r9_a_predicate_stays_in_unless_because_it_looks_back() -> None:
    """Until 3 nobody believed in a b with k = 1; a selection of its own would have it believed all along."""
    without_b0 = tuple(row for row in PLANNED if row.id != "b0")
    inside = logical.Unless(A, B, 4, predicates=(OF_Y,), place="/UNLESS")
    below = logical.Unless(A, logical.Select(B, OF_Y), 4, place="/UNLESS")
    assert [row[2:6] for row in result(output(inside), without_b0)] == [(1, 5, 1, 3)]
    assert not result(output(below), without_b0)
    assert rewrite(inside).plan is inside


def test_r9_a_predicate_stays_on_last_where_it_looks_back() -> None:
    inside = sequence(parameter(A), LAST, predicates=(OF_Y,))
    below = sequence(parameter(A), parameter(logical.Select(B, OF_Y), LAST.selection))
    assert len(result(output(inside), PLANNED)) == 2
    assert len(result(output(below), PLANNED)) == 1
    assert rewrite(inside).plan is inside
