"""The host ``spark`` gives what the others give.  Readings: R10, R24, R33, R35, R39 to R41."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cedr.hosts import Result, evaluate
from cedr.language.syntax import File
from cedr.model.level import ConsistencyLevel
from cedr.model.stream import Message
from cedr.plan.compile import compile_file
from cedr.testing import strategies as some
from tests.properties.standing import FILES, HISTORIES, REVISABLE, REVISED, Story, arriving

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def rows(result: Result) -> Counter[Hashable]:
    return Counter(str(line) for line in result.to_dicts())


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("machines", "STRONG"),
        ("machines", "MIDDLE"),
        ("machines", "BLOCKING 1 hour MEMORY 1 day"),
        ("fire", "WEAK"),
        ("mail", "STRONG"),
        ("mail", "WEAK"),
        ("coupons", "MIDDLE"),
        ("trades", "STRONG"),
        ("trades", "MIDDLE"),
    ],
)
@pytest.mark.usefixtures("spark")
def test_the_examples(name: str, level: str) -> None:
    ours, oracle = (
        evaluate(EXAMPLES / f"{name}.cedr", EXAMPLES / f"{name}.jsonl", host=host, consistency=level)
        for host in ("spark", "oracle")
    )
    assert ours.to_dicts() == oracle.to_dicts()
    assert ours.changes_to_dicts() == oracle.changes_to_dicts()
    assert ours.dead_letters == oracle.dead_letters


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(FILES, st.one_of(arriving(HISTORIES), arriving(REVISED)), some.levels())
@pytest.mark.usefixtures("spark")
def test_spark_is_the_oracle(file: File, story: Story, level: ConsistencyLevel) -> None:
    """R33: the table of all that was received, split by keys."""
    messages: list[Message] = [message for batch in story[1] for message in batch]
    query = list(compile_file(file, REVISABLE).queries.values())[-1]
    ours, oracle = (
        evaluate(query, messages, host=host, consistency=level, catalog=REVISABLE) for host in ("spark", "oracle")
    )
    assert rows(ours) == rows(oracle)
    assert [letter.code for letter in ours.dead_letters] == [letter.code for letter in oracle.dead_letters]


@pytest.mark.usefixtures("spark")
def test_a_version_with_another_key_closes_the_one_before() -> None:
    """R4, R9: versions of one event belong together though their keys would go to different buckets."""
    text = """TYPE A (key INTEGER) REVISABLE; TYPE B (key INTEGER);
    EVENT Q WHEN UNLESS(A AS a, B AS b, 5) WHERE {a.key = b.key} OUTPUT a.key AS key"""
    versions = [
        {"insert": {"type": "A", "id": "a", "vs": 10, "os": time, "payload": {"key": key}}}
        for time, key in ((1, 1), (2, 2), (3, 3), (4, 4))
    ]
    ours, oracle = (evaluate(text, versions, host=host) for host in ("spark", "oracle"))
    assert ours.to_dicts() == oracle.to_dicts()
    assert len(ours.rows) == 1


@pytest.mark.usefixtures("spark")
def test_columns_that_no_query_reads_do_not_matter(tmp_path: Path) -> None:
    """Of such columns of a file nobody knows the type."""
    (tmp_path / "tx.csv").write_text("id,time,card,amount\n1,2026-01-01 00:00:00,a,2.5\n2,2026-01-01 00:00:01,a,3\n")
    query = "EVENT Q WHEN SEQUENCE(TX AS x, TX AS y, 5 minutes) WHERE CorrelationKey(card, EQUAL) OUTPUT x.card AS card"
    ours, local = (evaluate(query, tmp_path / "tx.csv", type="TX", id="id", host=host) for host in ("spark", "local"))
    assert len(ours) == 1
    assert ours.to_dicts() == local.to_dicts()
