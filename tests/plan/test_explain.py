"""Explanations as text and as data (Section 5; R11, R33 to R37)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.time import MINUTE, SECOND
from cedr.plan import logical
from cedr.plan.compile import compile_text
from cedr.plan.describe import arguments, line, plan_text, word
from cedr.plan.explain import Explanation, explain
from cedr.plan.traits.registry import TRAITS
from tests.plan.templates import TEMPLATES, A, B
from tests.plan.test_rules import P, Q, R

CASES = Path(__file__).with_name("cases")
DIAL = ConsistencyLevel(Bound(2 * SECOND), Bound(10 * MINUTE))

QUERIES = {
    "the paper's example": (
        "EVENT CIDR07_Example WHEN UNLESS(SEQUENCE(INSTALL x, SHUTDOWN AS y, 12 hours), RESTART AS z, 5 minutes) "
        "WHERE {x.Machine_Id = y.Machine_Id} AND {x.Machine_Id = z.Machine_Id}",
        (STRONG, MIDDLE, WEAK),
    ),
    "a moving average": (
        "EVENT MovingAverage FROM TRADE AS t WHERE t.price > 0 WINDOW MOVING 10 minutes GROUP BY t.symbol "
        "OUTPUT t.symbol AS symbol, AVG(t.price) AS price",
        (MIDDLE,),
    ),
    "a join without a window": (
        "EVENT OpenAuctions FROM AUCTION AS a JOIN BID AS b ON a.no = b.auction WHERE b.price > 10 OUTPUT a.no AS no",
        (MIDDLE,),
    ),
    "patterns in patterns": (
        "EVENT Nested WHEN SEQUENCE(A AS a, SEQUENCE(B AS b, C AS c, 10 minutes), 1 hour) DISJOINT OUTPUT a.k AS k",
        (DIAL,),
    ),
    "a count": ("EVENT Calm WHEN ATMOST(5, LOGIN AS i, LOGOUT AS o WEIGHT 2, 1 hour) OUTPUT COUNT(*) AS n", (WEAK,)),
    "a query of queries": (
        "EVENT Calm WHEN ATMOST(5, LOGIN AS i, 1 hour) OUTPUT i.user AS user;"
        "EVENT Spike FROM TICK AS t WINDOW TUMBLING 1 minute GROUP BY t.symbol "
        "OUTPUT t.symbol AS symbol, COUNT(*) AS n;"
        "EVENT After WHEN SEQUENCE(Calm AS c, LAST Spike AS s, 1 hour) OUTPUT s.n AS n",
        (STRONG,),
    ),
}


def plan_of(text: str) -> logical.Query:
    return list(compile_text(text, EventTypes(open=True)).queries.values())[-1].plan


def test_explanations_as_text(golden: Callable[[Path, str], None]) -> None:
    shown = [
        f"# {title}\n\n{explain(plan_of(text), level).as_text()}\n"
        for title, (text, levels) in QUERIES.items()
        for level in levels
    ]
    golden(CASES / "explain.txt", "\n".join(shown))


KEYS = {
    "operator",
    "place",
    "arguments",
    "scope",
    "longest_blocking",
    "state_held",
    "guarantee",
    "warnings",
    "inputs",
}


def records(data: dict[str, object]) -> list[dict[str, object]]:
    below = data["inputs"]
    assert isinstance(below, list)
    return [data, *(record for part in below for record in records(part))]


@pytest.mark.parametrize("title", QUERIES)
def test_data_has_stable_keys(title: str) -> None:
    data = explain(plan_of(QUERIES[title][0])).as_data()
    assert data.keys() >= {"query", "level", "rules", "notes"}
    for record in records(data):
        own = record.keys() - {"query", "level", "rules", "notes"}
        assert own - {"partition_key", "no_partition_key_because"} == KEYS
        assert len(own & {"partition_key", "no_partition_key_because"}) == 1
    assert json.loads(json.dumps(data)) == data


def test_data_of_the_paper_s_example() -> None:
    data = explain(plan_of(QUERIES["the paper's example"][0]), STRONG).as_data()
    unless = data["inputs"][0]["inputs"][0]
    assert (data["query"], data["level"], unless["operator"], unless["place"]) == (
        "CIDR07_Example",
        "STRONG",
        "UNLESS",
        "/UNLESS",
    )
    assert unless["arguments"] == {"scope": 300_000_000, "predicates": ["x.Machine_Id = z.Machine_Id"]}
    assert unless["partition_key"][2] == {
        "variable": "z",
        "type": "RESTART",
        "attribute": "Machine_Id",
        "negated": True,
    }
    assert unless["longest_blocking"]["duration"] == 300_000_000
    assert unless["state_held"]["duration"] == unless["scope"] == 43_500_000_000


def test_what_has_no_bound_is_forever_in_data() -> None:
    data = explain(plan_of("EVENT E WHEN SEQUENCE(A a, B b, FOREVER) WHERE {a.k = b.k}")).as_data()
    sequence = data["inputs"][0]["inputs"][0]
    assert (sequence["scope"], sequence["state_held"]["duration"]) == ("FOREVER", "FOREVER")


# -- warnings ---------------------------------------------------------------------------------------------------------


def warnings(text: str, level: ConsistencyLevel = MIDDLE) -> tuple[str, ...]:
    return explain(plan_of(f"EVENT E {text}"), level).warnings


def test_r11_nested_order_is_warned_of() -> None:
    (found,) = warnings("WHEN SEQUENCE(A a, SEQUENCE(B b, C c, 5), 9)")
    assert "parameter 2 of SEQUENCE is a composite" in found
    assert not warnings("WHEN SEQUENCE(SEQUENCE(A a, B b, 5), C c, 9)")
    assert not warnings("WHEN SEQUENCE(A a, ANY(B b, C c), 9)")
    assert warnings("WHEN SEQUENCE(A a, NOT(D d, SEQUENCE(B b, C c, 5)), 9)")


def test_r37_state_without_a_bound_is_warned_of() -> None:
    assert "a WINDOW bounds their lifetime" in warnings("FROM A AS a GROUP BY a.k OUTPUT COUNT(*) AS n")[0]
    assert "has no bound" in warnings("WHEN ALL(A a, B b, FOREVER)")[0]
    assert not warnings("FROM A AS a WINDOW MOVING 5 GROUP BY a.k OUTPUT COUNT(*) AS n")


def test_r34_rows_without_an_end_are_never_forgotten_by_memory() -> None:
    forever = explain(plan_of("EVENT E WHEN SEQUENCE(A a, B b, 5 minutes) VALID FOREVER"), DIAL)
    bounded = explain(plan_of("EVENT E WHEN SEQUENCE(A a, B b, 5 minutes)"), DIAL)
    assert "5 minutes behind the guarantee" in str(forever)
    assert "15 minutes behind the newest Sync" in str(bounded)


# -- in words ---------------------------------------------------------------------------------------------------------


def test_every_operator_has_a_word() -> None:
    operators = {
        cls
        for cls in vars(logical).values()
        if isinstance(cls, type) and issubclass(cls, logical.Node) and cls not in (logical.Node, logical.Pattern)
    }
    assert operators == set(TRAITS)


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_plan_can_be_shown_and_explained(name: str) -> None:
    plan = TEMPLATES[name](P, Q, R)
    assert len(plan_text(plan).splitlines()) >= 2
    assert isinstance(explain(plan), Explanation)
    assert all(word(node) and isinstance(arguments(node), dict) for node in logical.walk(plan))


def test_slices_and_lists_in_one_line() -> None:
    assert line(logical.Slice(A, (1, 5), (2, 9), 7)) == "SLICE @ [1, 5] # [2, 9] AS OF 7"
    assert line(logical.Session(A, 5, (P,))) == "SESSION 5 BY x.k = 1"
    assert line(logical.GroupBy(A, (), ())) == "GROUP BY ()"
    assert line(logical.CancelWhen(A, B, from_root=True)) == "CANCEL-WHEN FROM ROOT"
    assert line(logical.Distinct(A)) == "DISTINCT"
    assert line(logical.All((logical.Parameter(A),), 5, ties=True)) == "ALL WITHIN 5 WITH TIES"


def test_arguments_by_name() -> None:
    assert arguments(logical.Slice(A, (1, 5), None, 7)) == {"occurrence": "[1, 5]", "as_of": "7"}
    assert arguments(logical.CancelWhen(A, B, from_root=True)) == {"from": "ROOT"}
    assert arguments(logical.Sequence((logical.Parameter(A),), 5, ties=True)) == {"scope": 5, "with": "TIES"}
    assert arguments(logical.Unless(A, B, 5, disjoint=logical.Disjoint()))["disjoint"] == "over the whole stream"


def test_an_explanation_without_a_query_still_has_a_head() -> None:
    assert str(explain(A)).splitlines()[0] == "plan at MIDDLE"
