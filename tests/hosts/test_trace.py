"""``cedr trace``: what is held, said and taken back, and why.  Readings: R33, R35, R36."""

from __future__ import annotations

from typing import Any

import pytest

from cedr.diagnostics.exceptions import HostError
from cedr.hosts.trace import Trace, trace
from cedr.model.level import MIDDLE, STRONG

HOSTS = pytest.mark.parametrize("host", ["oracle", "local"])
TYPES = "TYPE A (key INTEGER) REVISABLE; TYPE B (key INTEGER); TYPE C (key INTEGER);"
PAIR = f"{TYPES} EVENT Pair WHEN SEQUENCE(A AS a, B AS b, 10) WHERE {{a.key = b.key}} OUTPUT a.key AS key"
ALERT = f"{TYPES} EVENT Alert WHEN UNLESS(A AS a, B AS b, 10) WHERE {{a.key = b.key}} OUTPUT a.key AS key"
FIRST = f"{TYPES} EVENT F WHEN SEQUENCE(A AS a, FIRST B AS b, 10) WHERE {{a.key = b.key}} OUTPUT b.Vs AS at"


def row(stream: str, id: str, vs: int, **more: Any) -> dict[str, Any]:  # noqa: A002 - the paper's word
    return {"insert": {"type": stream, "id": id, "vs": vs, "payload": {"key": 1}, **more}}


def reasons(followed: Trace, of: int = 0) -> list[str]:
    views = (step.views[of] for step in followed.steps())
    return [said.reason for view in views for said in view.said if said.change.kind == "retract"]


@HOSTS
@pytest.mark.parametrize(
    ("query", "messages", "reason"),
    [
        (
            PAIR,
            [row("A", "a1", 1), row("B", "b1", 5), {"retract": {"type": "B", "id": "b1", "os": 5}}],
            "B b1 was retracted",
        ),
        (PAIR, [row("A", "a1", 1), row("B", "b1", 5), row("A", "a1", 6, os=6)], "A a1 was modified at 6"),
        (ALERT, [row("A", "a1", 1), row("B", "b1", 5)], "canceller B b1 arrived"),
        (ALERT, [row("A", "a1", 1), row("C", "c1", 9), row("B", "b1", 5)], "late canceller B b1 arrived"),
        (
            FIRST,
            [row("A", "a1", 1), row("B", "b2", 7), row("B", "b1", 5)],
            "late event B b1 arrived: another choice is right",
        ),
    ],
    ids=["retracted", "modified", "cancelled", "cancelled late", "another choice"],
)
def test_what_is_taken_back_has_a_reason(host: str, query: str, messages: list[Any], reason: str) -> None:
    """R33: the reason for a change lies in what its step has admitted."""
    assert reasons(trace(query, messages, consistency=[MIDDLE], host=host)) == [reason]


@HOSTS
def test_an_end_that_moves_has_a_reason(host: str) -> None:
    """R3: shortening Ve; R4: closing by a provider's own hand."""
    text = f"{TYPES} EVENT Q FROM A AS a OUTPUT a.key AS key"
    messages = [row("A", "a1", 1, k="K"), {"retract": {"k": "K", "ve": 8}}, {"retract": {"k": "K", "oe": 5}}]
    found = reasons(trace(text, [*messages, {"guarantee": 20}], host=host))
    assert found == ["A a1 now ends at 8", "A a1 was closed at 5"]


@HOSTS
def test_each_level_shows_what_it_holds(host: str) -> None:
    """R33, R35."""
    messages = [row("A", "a1", 1), row("B", "b1", 5), {"guarantee": 3}, {"guarantee": 9}]
    followed = trace(PAIR, messages, consistency=["STRONG", MIDDLE], host=host)
    steps = list(followed.steps())
    assert [len(step.views[0].held) for step in steps] == [1, 2, 1, 0]
    assert [len(step.views[1].held) for step in steps] == [0, 0, 0, 0]
    assert [[s.change.kind for s in step.views[0].said] for step in steps] == [
        [],
        [],
        ["guarantee"],
        ["insert", "guarantee"],
    ]
    assert [measures.level for measures in followed.measures()] == [STRONG, MIDDLE]
    assert followed.levels == (STRONG, MIDDLE)
    assert followed.host == host


@HOSTS
def test_a_dead_letter_is_part_of_its_step(host: str) -> None:
    """R39."""
    followed = trace(PAIR, [{"guarantee": 9}, row("A", "a1", 1)], host=host)
    assert [[letter.code for letter in step.dead_letters] for step in followed.steps()] == [[], ["broken-guarantee"]]


def test_where_no_host_is_named_the_runtime_traces() -> None:
    text = "EVENT N FROM A AS a GROUP BY a.key OUTPUT a.key AS key, COUNT(*) AS n"
    messages = [row("A", "a1", 1), row("A", "a2", 2)]
    assert trace(text, messages).host == "local"
    ours, oracle = (list(trace(text, messages, host=host).steps()) for host in ("local", "oracle"))
    assert ours == oracle
    with pytest.raises(HostError, match="moon"):
        trace(text, messages, host="moon")
