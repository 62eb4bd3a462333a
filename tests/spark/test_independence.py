"""What is said depends neither on buckets nor on partitions; what is true in the end, not on order and batches either.

Readings: R33, R35, R39, R40.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import cedr
from cedr.consistency.pipeline import Pipeline
from cedr.language.syntax import File
from cedr.model.level import ConsistencyLevel
from cedr.model.stream import Guarantee, Insert, Message, Retract
from cedr.plan.compile import compile_file
from cedr.plan.logical import Source, walk
from cedr.spark.api.host import as_events
from tests.consistency.scenarios import ARRIVALS, LEVELS, Arrival
from tests.properties.standing import FILES
from tests.spark.streaming import Stream

HEADER = ("change", "id", "Vs", "Ve", "Os", "Oe")


def ordered(batch: Sequence[Message]) -> list[Message]:
    """Inserts, retractions, guarantees: between map tasks there is no other order."""
    return sorted(batch, key=lambda message: (isinstance(message, Guarantee), isinstance(message, Retract)))


def locally(query: Any, arrival: Arrival, levels: Sequence[ConsistencyLevel]) -> tuple[Counter[Hashable], Counter[str]]:
    """What one pipeline says, batch by batch, and what it could not use."""
    pipeline = Pipeline(query.plan, levels, arrival.catalog, arrival.providers)
    found: Counter[Hashable] = Counter()
    letters: list[Any] = []
    read = {node.type.name for node in walk(query.plan) if isinstance(node, Source)}
    for number, batch in enumerate(arrival.batches, 1):
        for said in pipeline.step(ordered(batch), number):
            rows = said.to_arrow().to_pylist()
            found.update((number, said.level.name, *(row[name] for name in HEADER)) for row in rows)
        letters += pipeline.take_dead_letters()
    return found, Counter(letter.code for letter in letters if _stream(letter.message, arrival) in read)


def _stream(message: Message, arrival: Arrival) -> str:
    """The stream of a message; a retraction names it in its key, or by the insert that it is about."""
    if isinstance(message, Insert):
        return message.event.stream
    inserts = (each for batch in arrival.batches for each in batch if isinstance(each, Insert))
    return next((each.event.stream for each in inserts if each.lineage_key == message.lineage_key), "")


def in_time(arrival: Arrival) -> bool:
    """Whether no retraction comes before its insert: in one process its ends count for h then (R37), for a map task
    its Sync, as it does not know what has come before.
    """
    known: set[str] = set()
    for batch in arrival.batches:
        known |= {message.lineage_key for message in batch if isinstance(message, Insert)}
        if any(isinstance(message, Retract) and message.lineage_key not in known for message in batch):
            return False
    return True


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(FILES, ARRIVALS.filter(in_time), st.lists(LEVELS, min_size=1, max_size=2), st.integers(1, 4), st.integers(1, 3))
@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_each_batch_says_the_same_in_any_number_of_buckets_and_partitions(
    file: File, arrival: Arrival, levels: list[ConsistencyLevel], buckets: int, partitions: int
) -> None:
    """R33, R35: late, repeated, revised, by providers that keep their word or not, at one level or two."""
    session = SparkSession.getActiveSession()
    assert session is not None
    query = list(compile_file(file, arrival.catalog).queries.values())[-1]
    messages = [message for batch in arrival.batches for message in ordered(batch)]
    times = [number for number, batch in enumerate(arrival.batches, 1) for _ in batch]
    events = as_events(messages, arrival.catalog, query.plan, session, times)
    spread = [_spread(source, partitions) for source in events.sources]
    frame = cedr.query(
        query,
        cedr.spark.sources.events.Events(tuple(spread)),
        consistency=levels,
        changes=True,
        catalog=arrival.catalog,
        providers=arrival.providers,
        buckets=buckets,
        dead_letters=True,
    )
    rows = frame.collect()
    said, letters = locally(query, arrival, levels)
    changes = [row for row in rows if row["change"] in ("insert", "retract")]
    assert Counter((row["Cs"], row["level"], *(row[name] for name in HEADER)) for row in changes) == said
    assert Counter(row["code"] for row in rows if row["code"] is not None) >= letters


def _spread(source: Any, partitions: int) -> Any:
    return replace(source, frame=source.frame.repartition(partitions))


# -- streams ----------------------------------------------------------------------------------------------------------

TYPES = "TYPE A (key INTEGER, value INTEGER); TYPE B (key INTEGER, value INTEGER);"
QUERY = (
    TYPES + "EVENT Q WHEN UNLESS(SEQUENCE(A AS a, FIRST B AS b, 20), A AS c, 5) "
    "WHERE {a.key = b.key} AND {c.key = b.key} AND {c.value > 3} OUTPUT a.key AS key, b.value AS value"
)
SCHEMA = "kind string, id string, time long, key long, value long, change string"


def history(count: int = 240) -> list[tuple[Any, ...]]:
    drawn = random.Random(7)
    rows = [
        (drawn.choice("AB"), f"e{n}", drawn.randint(-50, 400), drawn.randint(0, 9), drawn.randint(0, 9), None)
        for n in range(count)
    ]
    again = [(*row[:5], "retract") for row in drawn.sample(rows, 20)]
    return [*rows, *again, *drawn.sample(rows, 10)]


def cut(rows: Sequence[Any], batches: int) -> Iterable[Sequence[Any]]:
    size = -(-len(rows) // batches)
    return (rows[low : low + size] for low in range(0, len(rows), size))


def standing(said: Iterable[Any]) -> Counter[Hashable]:
    """What is left when all that was said is taken together."""
    found: Counter[Hashable] = Counter()
    for row in said:
        if row["change"] in ("insert", "retract"):
            found[row["id"], row["Vs"], row["Ve"], row["key"], row["value"]] += 1 if row["change"] == "insert" else -1
    return +found


@pytest.mark.slow
def test_a_stream_ends_with_the_oracles_answer_whatever_the_order_the_batches_and_the_buckets(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = history()
    removed = {row[1] for row in rows if row[5]}
    kept = {row[1]: row for row in rows if row[1] not in removed}
    messages = [
        {"insert": {"type": row[0], "id": row[1], "vs": row[2], "payload": {"key": row[3], "value": row[4]}}}
        for row in kept.values()
    ]
    oracle = Counter(
        (row["id"], row["vs"], row["ve"], *row["payload"].values())  # type: ignore[attr-defined]
        for row in cedr.evaluate(QUERY, messages, host="oracle").to_dicts()
    )
    assert len(oracle) > 20
    for buckets, batches, seed in ((1, 1, None), (2, 3, 1), (3, 5, 2)):
        arriving = list(rows)
        if seed is not None:
            random.Random(seed).shuffle(arriving)
        stream = Stream(spark, tmp_path / str(buckets), SCHEMA)
        for batch in cut(arriving, batches):
            stream.put(batch)
        events = cedr.events(stream.frame, type="kind", id="id", change="change")
        stream.run(cedr.query(QUERY, events, buckets=buckets))
        assert standing(stream.written()) == oracle, (buckets, batches, seed)
