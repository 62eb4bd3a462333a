"""Fields and elements on the local host and the oracle: messages and columns give the same.  Readings: R20 to R22."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cedr
from cedr.consistency.batch import EventBatch
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE
from cedr.model.stream import Guarantee
from cedr.plan.analyses.keys import partition_key
from cedr.plan.analyses.pattern_key import key_of
from cedr.plan.compile import compile_text
from cedr.plan.rewrite import rewrite

CARD = pa.struct(
    [
        ("no", pa.string()),
        ("limit", pa.float64()),
        ("since", pa.timestamp("us")),
        ("owner", pa.struct([("n", pa.int64())])),
    ]
)
COLUMNS = {"card": CARD, "items": pa.list_(pa.string()), "stops": pa.list_(pa.struct([("at", pa.int64())]))}
TYPES = "TYPE {0} (card STRUCT(no STRING, limit FLOAT, since TIMESTAMP, owner STRUCT(n INTEGER)), items LIST(STRING), \
stops LIST(STRUCT(at INTEGER)));"
DECLARED = TYPES.format("A") + TYPES.format("B")
QUERIES = [
    "WHEN SEQUENCE(A AS a, B AS b, 6) WHERE {a.card.no = b.card.no}"
    " OUTPUT a.card.no AS no, b.items[1] AS first, a.ID, b.ID AS b",
    "WHEN ALL(A AS a, B AS b, 5) WHERE CorrelationKey(card.no, EQUAL) AND {a.card.limit > 1}"
    " OUTPUT a.card.limit AS x, a.ID",
    "WHEN UNLESS(A AS a, B AS b, 4) WHERE CorrelationKey(card.owner.n, EQUAL) OUTPUT a.card.owner.n AS n, a.ID",
    "WHEN SEQUENCE(A AS a, A AS b, 6) WHERE {a.items[-1] = b.items[1]} OUTPUT a.items[-1] AS last, a.ID, b.ID AS b",
    "WHEN ALL(A AS a, B AS b, 5) WHERE CorrelationKey(card.no, UNIQUE) OUTPUT MAX(card.limit) AS x, a.ID, b.ID AS b",
    "WHEN SEQUENCE(A AS a, B AS b, 6) WHERE {a.card = b.card}"
    " OUTPUT a.card AS card, a.stops[2].at AS at, a.ID, b.ID AS b",
    "WHEN ATMOST(1, A AS a, B AS b, 4) WHERE CorrelationKey(card.no, EQUAL)",
    "WHEN SEQUENCE(A AS a, B AS b, 6) WHERE [card.no EQUAL 'x'] OUTPUT a.ID, b.ID AS b",
    "WHEN SEQUENCE(A AS a CONSUME, B AS b CONSUME, 6) DISJOINT WHERE CorrelationKey(card.no, EQUAL)"
    " OUTPUT a.ID, b.ID AS b",
    "FROM A AS a WHERE card.limit >= 1 AND items[1] IS NOT NULL OUTPUT a.items[1] || '!' AS x, a.card.since + 1 s AS t",
    "FROM (FROM A AS a WHERE card.no <> 'y' OUTPUT a.card AS c, a.items AS i) AS s"
    " OUTPUT s.c.no, s.c.owner.n AS n, s.i[2] AS i",
    "FROM A AS a OUTPUT a.card.nothing AS x, a.card['no'] AS no, a.open.deep[3].er AS y",
]

GROUPED = "FROM A AS a GROUP BY card.no AS no OUTPUT no, COUNT(*) AS n, MAX(card.limit) AS x, MIN(a.stops[1].at) AS at"
JOINED = "FROM A AS a JOIN B AS b ON a.card.no = b.card.no AND a.card.owner.n < b.card.owner.n OUTPUT a.ID, b.ID AS b"

texts = st.none() | st.sampled_from("xy")
cards = st.none() | st.fixed_dictionaries(
    {
        "no": texts,
        "limit": st.none() | st.sampled_from([0.5, 1.0, 2.5]),
        "since": st.none() | st.integers(0, 3),
        "owner": st.none() | st.fixed_dictionaries({"n": st.none() | st.integers(0, 1)}),
    }
)
payloads = st.fixed_dictionaries(
    {
        "card": cards,
        "items": st.none() | st.lists(texts, max_size=3),
        "stops": st.none()
        | st.lists(st.none() | st.fixed_dictionaries({"at": st.none() | st.integers(0, 2)}), max_size=2),
    }
)
events = st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 9), payloads), max_size=8)
Events = list[tuple[str, int, dict[str, Any]]]


def messages(given: Events) -> list[dict[str, Any]]:
    return [
        {"insert": {"type": of, "id": f"{of}{number}", "vs": time, "payload": payload}}
        for number, (of, time, payload) in enumerate(given)
    ]


def batches(given: Events) -> list[EventBatch]:
    """The same as Arrow columns: one batch for each event type."""
    found = []
    for of in "AB":
        own = [(number, time, payload) for number, (name, time, payload) in enumerate(given) if name == of]
        columns = {name: pa.array([payload[name] for _, _, payload in own], kind) for name, kind in COLUMNS.items()}
        ids, times = [f"{of}{number}" for number, _, _ in own], pa.array([time for _, time, _ in own], pa.int64())
        found.append(EventBatch(of, pa.array(ids, pa.string()), times, payload=columns))
    return found


def rows(query: str, given: Any, host: str) -> Counter[str]:
    """What stands at the end."""
    live: Any = cedr.run(query, given, host=host, consistency=MIDDLE)
    for _ in live:
        pass
    assert live.dead_letters == ()
    return Counter(repr((e.valid_start, e.valid_end, sorted(e.payload.items()))) for e in live.said())


@pytest.mark.parametrize("query", QUERIES)
@given(given=events)
def test_messages_and_columns_give_what_the_oracle_gives(query: str, given: Events) -> None:
    if "nothing" in query:  # of a type that is not declared anything may be asked
        expected = rows(f"EVENT Q {query}", messages(given), "oracle")
        assert rows(f"EVENT Q {query}", messages(given), "local") == expected
        return
    text = f"{DECLARED} EVENT Q {query}"
    expected = rows(text, messages(given), "oracle")
    assert rows(text, messages(given), "local") == expected
    assert rows(text, batches(given), "local") == expected
    assert rows(text, batches(given), "oracle") == expected


def card(no: str, limit: float, n: int) -> dict[str, Any]:
    return {"card": {"no": no, "limit": limit, "since": None, "owner": {"n": n}}, "items": [], "stops": [{"at": n}]}


def test_groups_and_joins_by_fields() -> None:
    given: Events = [("A", 1, card("x", 1.0, 1)), ("A", 2, card("x", 3.0, 2)), ("B", 3, card("x", 0.0, 2))]
    grouped = cedr.evaluate(f"{DECLARED} EVENT Q {GROUPED}", messages(given), host="oracle")
    assert [dict(row.payload) for row in grouped.rows if row.valid_start == 2] == [
        {"no": "x", "n": 2, "x": 3.0, "at": 1}
    ]
    joined = cedr.evaluate(f"{DECLARED} EVENT Q {JOINED}", messages(given), host="oracle")
    assert [dict(row.payload) for row in joined.rows] == [{"ID": "A0", "b": "B2"}]


@pytest.mark.parametrize("query", QUERIES[:3])
@given(before=events, after=events)
def test_a_restored_state_knows_what_is_inside(query: str, before: Events, after: Events) -> None:
    compiled = compile_text(f"{DECLARED} EVENT Q {query}")
    plan, types = compiled.queries["Q"].plan, compiled.types

    def begun() -> Pipeline:
        return Pipeline(plan, MIDDLE, types)

    later = [(of, time + 3, payload) for of, time, payload in after]
    straight, broken = begun(), begun()
    for pipeline in (straight, broken):
        pipeline.step([*batches(before)], 1)
    restored = begun()
    restored.restore({name: part for name, part in broken.state().items() if part is not None})
    renamed = [
        EventBatch(b.stream, pa.array([f"{i}+" for i in b.ids.to_pylist()], pa.string()), b.vs, payload=b.payload)
        for b in batches(later)
    ]
    told = [
        [repr(c.message) for (changes,) in [p.step([*renamed, Guarantee(9)], 2)] for c in changes.to_changes()]
        for p in (straight, restored)
    ]
    assert Counter(told[0]) == Counter(told[1])


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        (QUERIES[0], "a.card.no = b.card.no"),
        (QUERIES[1], "a.card.no = b.card.no"),
        (QUERIES[2], "a.card.owner.n = b.card.owner.n"),
        (QUERIES[3], "none: no equality between A a, A b"),
        (GROUPED, "a.card.no"),
        (JOINED, "a.card.no = b.card.no"),
        ("FROM (FROM A AS a OUTPUT a.card AS c) AS s GROUP BY s.c.no OUTPUT COUNT(*) AS n", "a.card.no"),
    ],
)
def test_fields_are_keys_of_the_plan(query: str, shown: str) -> None:
    plan = compile_text(f"{DECLARED} EVENT Q {query}").queries["Q"].plan
    assert str(partition_key(rewrite(plan).plan)) == shown


def test_fields_are_keys_of_the_runtime() -> None:
    plan: Any = compile_text(f"{DECLARED} EVENT Q {QUERIES[0]}").queries["Q"].plan
    while not hasattr(plan, "predicates"):
        plan = plan.input
    key = key_of(plan)
    assert key is not None
    assert key.sides == (("a", ("card", "no")), ("b", ("card", "no")))


def test_declared_fields_are_read_as_their_types() -> None:
    types = "TYPE A (card STRUCT(since TIMESTAMP, tags LIST(DATE)));"
    query = f"{types} EVENT Q FROM A AS a OUTPUT a.card.since AS t, a.card.tags[1] AS d"
    payload = {"card": {"since": "1970-01-01T00:00:01Z", "tags": ["2026-01-31"], "more": 1}}
    result = cedr.evaluate(query, [{"insert": {"type": "A", "id": "a", "vs": 1, "payload": payload}}])
    (row,) = result.rows
    assert (row.payload["t"], str(row.payload["d"])) == (1_000_000, "2026-01-31")


def test_a_value_inside_that_does_not_fit_is_a_dead_letter_with_its_place() -> None:
    query = "TYPE A (card STRUCT(limits LIST(FLOAT))); EVENT Q FROM A AS a OUTPUT a.card.limits[1] AS x"
    payload = {"card": {"limits": [1.5, "much"]}}
    result = cedr.evaluate(query, [{"insert": {"type": "A", "id": "a", "vs": 1, "payload": payload}}])
    (letter,) = result.dead_letters
    assert letter.code == "wrong-value"
    assert letter.primary == "attribute \"card.limits[2]\" is FLOAT: a string, 'much', is not a number"
