"""Each rewrite rule keeps the meaning: the same rows, headers and IDs, on plain and on revised histories.

Small plans by hand meet each rule with each operator; random ones nest them.  Both are held against the denotation
(Definitions 7 to 9 and 12; R9 to R18, R21, R25 to R31).
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.tree import Binary, Expression
from cedr.plan.describe import plan_text
from cedr.plan.logical import Node, Select
from cedr.plan.rewrite import RULES, Rule, rewrite
from cedr.testing.histories import History, histories, revised_histories
from tests.plan.plans import (
    PLAIN,
    REVISABLE,
    attribute,
    output,
    patterns,
    payload_variables,
    planned_histories,
    predicates,
    relations,
    result,
    simple,
)
from tests.plan.templates import TEMPLATES

HISTORIES = st.one_of(
    histories(PLAIN, min_size=2, max_size=6, max_time=6),
    revised_histories(REVISABLE, min_size=2, max_size=4),
    planned_histories(),
)
BOTH = st.sampled_from([Binary(sign, attribute("x"), attribute("y")) for sign in ("=", "<>", "<=")])


def check(plan: Node, rules: tuple[Rule, ...], history: History) -> None:
    rewritten = rewrite(plan, rules)
    if not rewritten.firings:
        return
    before, after = result(plan, history), result(rewritten.plan, history)
    assert before == after, "\n".join(
        (
            "before:",
            plan_text(plan),
            "after:",
            plan_text(rewritten.plan),
            f"lost: {before - after}",
            f"new: {after - before}",
        )
    )


@pytest.mark.parametrize("name", TEMPLATES)
@given(p=simple(["x"]), q=simple(["y"]), r=BOTH, history=HISTORIES)
def test_rules_keep_the_meaning_of_each_operator(
    name: str, p: Expression, q: Expression, r: Expression, history: History
) -> None:
    plan = output(TEMPLATES[name](p, q, r))
    for rule in RULES:
        check(plan, (rule,), history)
    check(plan, RULES, history)


@st.composite
def selected(draw: st.DrawFn, nodes: st.SearchStrategy[Node]) -> Node:
    node = draw(nodes)
    names = sorted(payload_variables(node))
    return Select(node, draw(predicates(names))) if names and draw(st.booleans()) else node


@given(plan=selected(patterns()), history=HISTORIES)
def test_rules_keep_the_meaning_of_nested_patterns(plan: Node, history: History) -> None:
    check(output(plan), RULES, history)


@given(plan=selected(relations()), history=HISTORIES)
def test_rules_keep_the_meaning_of_nested_relations(plan: Node, history: History) -> None:
    check(output(plan), RULES, history)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_rule_fires_on_some_template(rule: Rule) -> None:
    """What no template lets fire would be proven of nothing."""
    p, q, r = (Binary("=", attribute(name), attribute(other)) for name, other in (("x", "x"), ("y", "y"), ("x", "y")))
    assert any(rewrite(template(p, q, r), (rule,)).firings for template in TEMPLATES.values())
