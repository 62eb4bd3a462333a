"""The hosts give the same: rows, changes, dead letters.  Readings: R10, R24, R33, R35, R39 to R41."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.hosts import Result, evaluate
from cedr.language.syntax import File
from cedr.model.level import STRONG, ConsistencyLevel
from cedr.model.stream import Message
from cedr.plan.compile import compile_file
from cedr.testing import strategies as some
from tests.properties.standing import FILES, HISTORIES, REVISABLE, REVISED, Story, arriving, shown, telling

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SLICED = some.patterns(REVISABLE, depth=1, sliced=True)
COUNT = "EVENT N FROM A AS a GROUP BY a.key OUTPUT a.key AS key, COUNT(*) AS n"
PAIR = "EVENT Pair WHEN SEQUENCE(A AS a, B AS b, 10) WHERE {a.key = b.key} OUTPUT a.key AS key"


def row(stream: str, id: str, vs: int, **more: Any) -> dict[str, Any]:  # noqa: A002 - the paper's word
    return {"insert": {"type": stream, "id": id, "vs": vs, "payload": {"key": 1}, **more}}


def rows(result: Result) -> Counter[Hashable]:
    return Counter(map(shown, result.rows))


@pytest.mark.parametrize("name", ["machines", "fire", "mail", "coupons", "trades"])
@pytest.mark.parametrize("level", [None, "STRONG", "MIDDLE", "WEAK", "BLOCKING 1 hour MEMORY 1 day"])
def test_the_examples(name: str, level: str | None) -> None:
    local, oracle = (
        evaluate(EXAMPLES / f"{name}.cedr", EXAMPLES / f"{name}.jsonl", host=host, consistency=level)
        for host in ("local", "oracle")
    )
    assert local.to_dicts() == oracle.to_dicts()
    assert local.changes_to_dicts() == oracle.changes_to_dicts()
    assert local.dead_letters == oracle.dead_letters


@pytest.mark.slow
@given(st.one_of(FILES, SLICED), st.one_of(arriving(HISTORIES), arriving(REVISED)), some.levels())
def test_local_is_the_oracle(file: File, story: Story, level: ConsistencyLevel) -> None:
    """R33: the table of all that was received, rows and ends that lie ahead included."""
    messages: list[Message] = [message for batch in story[1] for message in batch]
    query = list(compile_file(file, REVISABLE).queries.values())[-1]
    local, oracle = (
        evaluate(query, messages, host=host, consistency=level, catalog=REVISABLE) for host in ("local", "oracle")
    )
    assert rows(local) == rows(oracle)
    assert telling(local.changes()) == telling(oracle.changes())
    assert [letter.code for letter in local.dead_letters] == [letter.code for letter in oracle.dead_letters]


def test_rows_that_lie_ahead_are_rows() -> None:
    """R33: said they are when they are due; the table has them at once."""
    messages = [row("A", "a1", 30, os=1), row("B", "b1", 35, os=2)]
    assert [e.valid_start for e in evaluate(PAIR, messages, host="local").rows] == [35]


def test_as_of_is_what_was_said_by_then() -> None:
    """R24."""
    text = "EVENT Alert WHEN UNLESS(A AS a, B AS b, 10) OUTPUT a.key AS key AS OF 1"
    messages = [row("A", "a1", 1), row("B", "b1", 5)]
    for host in ("local", "oracle", None):
        assert len(evaluate(text, messages, host=host).rows) == 1
        assert evaluate(text.replace("AS OF 1", "AS OF 2"), messages, host=host).rows == ()


@pytest.mark.parametrize("text", [PAIR, COUNT])
def test_where_no_host_is_named_it_is_the_runtime(text: str) -> None:
    """It emits what the oracle emits, and there is nothing to warn of."""
    messages = [row("AB"[n % 2], f"e{n}", n) for n in range(6)]
    unasked, meant = evaluate(text, messages), evaluate(text, messages, host="oracle")
    assert telling(unasked.changes()) == telling(meant.changes())
    assert unasked.to_dicts() == meant.to_dicts()
    assert unasked.warnings == ()


def test_many_messages_make_a_thousand_steps() -> None:
    messages = [row("A", f"e{n}", n) for n in range(2_500)]
    result = evaluate("EVENT Q WHEN ANY(A AS a)", messages)
    assert result.changes()[-1].cedr_time == 834
    assert evaluate("EVENT Q WHEN ANY(A AS a)", messages, batch=500).changes()[-1].cedr_time == 5


@pytest.mark.parametrize("host", ["local", "oracle", None])
def test_a_result_tells_what_its_level_cost(host: str | None) -> None:
    """Paper: Figure 8."""
    messages = [row("A", "a1", 1), row("B", "b1", 5), {"guarantee": 3}]
    measures = evaluate(PAIR, messages, host=host, consistency="STRONG").measures()
    assert measures is not None
    assert (measures.level, measures.received, measures.held, measures.inserts) == (STRONG, 3, 1, 0)
