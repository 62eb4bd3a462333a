"""Storms of retractions and of modifications: every event is taken back or revised, again and again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from cedr.model.event import Event, primitive
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.stream import Guarantee, Message, Retract, insert
from cedr.model.time import FOREVER
from tests.long.feeding import Said, feed, pipeline_of

pytestmark = pytest.mark.slow

SCOPE = 500
END = 10**9
LEVELS = pytest.mark.parametrize("level", [STRONG, MIDDLE], ids=str)
WHERE = "WHERE CorrelationKey(k, EQUAL) AND {x.v <= y.v} OUTPUT x.n AS x, y.n AS y"


def query(operator: str, revisable: str = "") -> str:
    types = "".join(f"TYPE {kind} (k INTEGER, v INTEGER, n INTEGER) {revisable}; " for kind in "ABC")
    return f"{types} EVENT Q WHEN {operator} {WHERE}"


FIRST = f"SEQUENCE(A AS x, FIRST B AS y, {SCOPE})"
UNLESS = f"UNLESS(SEQUENCE(A AS x, B AS y, {SCOPE}), C AS z, 50)"


def drawn(count: int, keys: int, seed: int) -> list[Event]:
    """Events of three types at random times; their numbers are their order."""
    random = np.random.default_rng(seed)
    kinds = ["ABC"[place] for place in random.integers(0, 3, count)]
    columns = (np.sort(random.integers(0, count // 2, count)), random.integers(0, keys, count))
    values = random.integers(0, 10, count)
    found = zip(kinds, *(column.tolist() for column in (*columns, values)), strict=True)
    return [
        primitive(kind, f"{kind}{number:06}", vs, payload={"k": key, "v": value, "n": number})
        for number, (kind, vs, key, value) in enumerate(found)
    ]


def brute(operator: str, events: Sequence[Event]) -> list[tuple[int, int]]:
    """The pairs by the definition, key by key.  Readings: R11, R15, R25."""
    by_key: dict[object, dict[str, list[Event]]] = {}
    for event in events:
        by_key.setdefault(event.payload["k"], {"A": [], "B": [], "C": []})[event.stream].append(event)
    found = []
    for of in by_key.values():
        for x in of["A"]:
            after = [
                y for y in of["B"]
                if x.valid_start < y.valid_start <= x.valid_start + SCOPE and x.payload["v"] <= y.payload["v"]
            ]  # fmt: skip
            if operator == FIRST:
                after = sorted(after, key=lambda y: (y.valid_start, y.id))[:1]
            else:
                after = [y for y in after if not any(0 < z.valid_start - y.valid_start < 50 for z in of["C"])]
            found += [(x.payload["n"], y.payload["n"]) for y in after]
    return sorted(found)


def chunks(messages: Sequence[Message], size: int) -> list[Sequence[Message]]:
    return [messages[start : start + size] for start in range(0, len(messages), size)]


@LEVELS
@pytest.mark.parametrize("operator", [FIRST, UNLESS], ids=["FIRST", "UNLESS"])
def test_every_event_is_retracted_and_inserted_again(level: ConsistencyLevel, operator: str) -> None:
    """R3, R28, R41: nothing stands while nothing is there; in the end it is as if there had been no storm."""
    events = drawn(9_000, keys=150, seed=1)
    expected = brute(operator, events)
    pipeline, said = pipeline_of(query(operator), level), Said(("x", "y"))
    random = np.random.default_rng(2)
    for turn in range(3):
        keyed = [insert(event, f"{event.id}/{turn}") for event in events]
        order = random.permutation(len(keyed)).tolist()
        feed(pipeline, chunks([keyed[place] for place in order], 3_000), said, first=100 * turn + 1)
        if turn < 2:
            taken = [Retract(keyed[place].lineage_key) for place in reversed(order)]
            feed(pipeline, chunks(taken, 3_000), said, first=100 * turn + 50)
            assert len(said.table()) == 0
    feed(pipeline, [[Guarantee(END)]], said, first=1_000)
    assert [tuple(row) for row in said.table().tolist()] == expected
    assert len(expected) > 1_000
    assert said.retractions == 0 or level is MIDDLE


@LEVELS
def test_a_storm_within_one_batch_says_nothing(level: ConsistencyLevel) -> None:
    """R40: an output inserted and retracted within the batch never leaves it."""
    events = drawn(6_000, keys=100, seed=3)
    storm = [message for event in events for message in (insert(event, event.id), Retract(event.id))]
    said = feed(pipeline_of(query(FIRST), level), [storm, [Guarantee(END)]], Said(("x", "y")))
    assert (said.inserts, said.retractions) == (0, 0)


@LEVELS
@pytest.mark.parametrize("operator", [FIRST, UNLESS], ids=["FIRST", "UNLESS"])
def test_every_event_is_modified_again_and_again(level: ConsistencyLevel, operator: str) -> None:
    """R4, R9, R10: the latest belief is the meaning of the latest versions."""
    events = drawn(2_000, keys=60, seed=4)
    random = np.random.default_rng(5)
    latest = {event.id: event for event in events}
    pipeline = pipeline_of(query(operator, "REVISABLE FOR 5000"), level)
    said: dict[str, tuple[int, int]] = {}
    steps: list[list[Message]] = [[insert(event) for event in events]]
    for version in range(1, 6):
        for event in events:
            at = event.valid_start + version * 10
            payload = {**event.payload, "v": int(random.integers(0, 10))}
            stated = primitive(event.stream, event.id, event.valid_start, occurrence_start=at, payload=payload)
            latest[event.id] = stated
        steps.append([insert(event) for event in latest.values()])
    for number, step in enumerate([*steps, [Guarantee(END)]], start=1):
        (changes,) = pipeline.step(step, number)
        for change in changes.to_changes():
            if change.event is None:
                continue
            if isinstance(change.message, Retract):
                said.pop(change.message.lineage_key, None)  # a row may be said with its end
            elif change.event.occurrence_end == FOREVER:
                payload = change.event.payload
                said[change.message.lineage_key] = (payload["x"], payload["y"])
    expected = brute(operator, list(latest.values()))
    assert sorted(said.values()) == expected
    assert len(expected) > 300
