"""A plan cut into stages says what it says in one piece, whatever arrives and whatever is taken back.

Paper: Section 3.3.2 (operators compose), Section 4.  Readings: R8, R9, R32, R33, R35, R36.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.consistency.pipeline import Pipeline
from cedr.model.event import Event, Payload, primitive_contributors
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, Message, Retract
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_text
from cedr.plan.logical import Query
from cedr.semantics.evaluate import evaluate
from cedr.testing import strategies as some
from cedr.testing.histories import History, tables_of
from tests.properties.staged import INPUT, Chain, shown

CATALOG = some.small_catalog("A", "B", "C", "D")
REVISABLE = some.small_catalog("A", "B", "C", "D", revisable=FOREVER)
INSIDE = "WHERE {a.k = b.k} AND {b.v = c.v}"
QUERIES = {
    "unless": f"EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 4), C c, 3) {INSIDE} OUTPUT a.s AS s, b.Vs AS t",
    "not followed by": f"EVENT Q WHEN UNLESS(C c, SEQUENCE(A a, B b, 4), 5) {INSIDE} OUTPUT c.s AS s",
    "sequence": f"EVENT Q WHEN SEQUENCE(SEQUENCE(A a, B b, 4) x, C c, 6) {INSIDE} OUTPUT a.s AS s, x.Rt AS t",
    "inner unless": f"EVENT Q WHEN SEQUENCE(UNLESS(B b, A a, 3), C c, 6) {INSIDE} OUTPUT b.s AS s, c.v AS v",
    "any order": f"EVENT Q WHEN ALL(SEQUENCE(A a, B b, 4), C c, 6) {INSIDE} OUTPUT a.v AS v",
    "any order inside": f"EVENT Q WHEN SEQUENCE(ALL(A a, B b, 4), C c, 6) {INSIDE} OUTPUT a.s AS s",
    "since the root": f"EVENT Q WHEN CANCEL-WHEN(SEQUENCE(A a, B b, 5), C c) {INSIDE}",
    "not between": f"EVENT Q WHEN SEQUENCE(C c, NOT(A x, SEQUENCE(A a, B b, 5)), 6) {INSIDE} AND {{x.k = a.k}}",
    "choices": f"EVENT Q WHEN SEQUENCE(LAST SEQUENCE(A a, LAST B b, 4), FIRST C c, 6) {INSIDE} OUTPUT a.s AS s",
    "at most": "EVENT Q WHEN SEQUENCE(ATMOST(1, C c, 3), SEQUENCE(A a, B b, 4), 6) "
    "WHERE {a.k = b.k} AND {b.v = c.v} AND CorrelationKey(v, EQUAL) OUTPUT a.s AS s",
    "named": "EVENT P WHEN SEQUENCE(A a, B b, 4) WHERE {a.k = b.k} OUTPUT a.s AS s, b.v AS v;"
    "EVENT Q WHEN UNLESS(P p, C c, 3) WHERE {p.v = c.v} OUTPUT p.s AS s",
    "named twice": "EVENT P WHEN SEQUENCE(A a, B b, 4) WHERE {a.k = b.k} OUTPUT a.s AS s, b.v AS v;"
    "EVENT Q WHEN SEQUENCE(P p, P q, 6) WHERE {p.v = q.v} OUTPUT p.s AS s, q.s AS t",
    "in both": f"EVENT Q WHEN SEQUENCE(SEQUENCE(A a, B b, 4), A c, 6) {INSIDE} OUTPUT a.s AS s",
    "beside": "EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 4), UNLESS(C c, D d, 2), 3) "
    "WHERE {a.k = b.k} AND {c.k = d.k} AND {b.v = c.v} OUTPUT a.s AS s",
    "three": "EVENT Q WHEN UNLESS(SEQUENCE(SEQUENCE(A a, B b, 4), C c, 5), D d, 3) "
    "WHERE {a.k = b.k} AND {b.v = c.v} AND {c.s = d.s} OUTPUT a.s AS s, b.v AS v, c.k AS k",
}


def plan_of(name: str, catalog: EventTypes = CATALOG) -> Query:
    return compile_text(QUERIES[name], catalog).queries["Q"].plan


def stated_at_once(history: History) -> History:
    """Each event is stated when it happens: Os = Vs."""
    return tuple(replace(row, occurrence_start=row.valid_start) for row in history)


def without_versions(batches: list[list[Message]]) -> list[list[Message]]:
    """Events that are inserted, shortened and taken back, of which none has two versions."""
    return [[m for m in batch if isinstance(m, Guarantee) or not m.lineage_key.startswith("twin")] for batch in batches]


HISTORIES = some.histories(CATALOG, min_size=5, max_size=9, max_time=7).map(stated_at_once)
ARRIVALS = HISTORIES.flatmap(
    lambda history: st.tuples(st.just(history), some.arrivals(history, revised=True, final=True).map(without_versions))
)
Story = tuple[History, list[list[Message]]]


def compare(plan: Query, level: ConsistencyLevel, story: Story, buckets: int, restart: int) -> list[pa.Table]:
    """One pipeline beside the stages; all that the stages said."""
    _, batches = story
    chain, whole = Chain(plan, level, CATALOG, buckets), Pipeline(plan, level, CATALOG)
    rows = {m.lineage_key: m.event for batch in batches for m in batch if isinstance(m, Insert)}
    expected: list[pa.Table] = []
    found: list[pa.Table] = []
    for number, batch in enumerate(batches):
        ordered = sorted(batch, key=lambda m: (Insert, Retract, Guarantee).index(type(m)))
        (changes,) = whole.step(ordered, number)
        expected.append(pa.Table.from_batches([changes.to_arrow()]))
        found += (tables := chain.step(ordered, rows, number, whole._arrivals.high))
        assert chain.guarantee == whole.guarantee[0]
        if level == MIDDLE:
            assert shown(tables) == shown(expected[-1:])
        else:  # a bucket may say what is final before the others know that theirs is
            assert up_to(found, chain.guarantee) == up_to(expected, chain.guarantee)
        if number == restart:
            chain.restart()
    assert all(letter.message.provider in (None, INPUT) for letter in chain.letters)  # none of what a stage said
    return found


def up_to(tables: list[pa.Table], guarantee: int) -> list[tuple[object, ...]]:
    return [row for row in shown(tables, said=False) if row[4] <= guarantee]


LEVELS = (MIDDLE, STRONG)
BUCKETS, RESTARTS = st.integers(1, 3), st.integers(0, 12)


@given(st.sampled_from(list(QUERIES)), st.sampled_from(LEVELS), ARRIVALS, BUCKETS, RESTARTS)
def test_stages_say_what_one_pipeline_says(
    name: str, level: ConsistencyLevel, story: Story, buckets: int, restart: int
) -> None:
    """R33, R35: at every step, with IDs, K, contributors and guarantees; also after a restart."""
    compare(plan_of(name), level, story, buckets, restart)


@st.composite
def promising_too_much(draw: st.DrawFn) -> Story:
    """Guarantees anywhere, true or not.  Reading: R39.

    Under keys of their own: by a default key an event that never came is taken for one that is forgotten.
    """
    history = draw(HISTORIES)
    batches = without_versions(draw(some.retraction_paths(history).flatmap(some.arrival_orders)))
    own = [[replace(m, lineage_key=f"own {m.lineage_key}") for m in batch] for batch in batches]
    times = st.one_of(st.none(), st.none(), st.integers(0, 9))
    return history, [[*batch, *([] if (time := draw(times)) is None else [Guarantee(time)])] for batch in own]


@pytest.mark.slow
@given(st.sampled_from(list(QUERIES)), st.sampled_from(LEVELS), promising_too_much(), BUCKETS, RESTARTS)
def test_stages_refuse_what_one_pipeline_refuses(
    name: str, level: ConsistencyLevel, story: Story, buckets: int, restart: int
) -> None:
    """R39: events of all stages are judged by what the input has promised, not by what a stage has."""
    compare(plan_of(name), level, story, buckets, restart)


@given(st.sampled_from(list(QUERIES)), ARRIVALS)
def test_stages_end_with_what_the_plan_means(name: str, story: Story) -> None:
    """R9, R35: at STRONG all that was said is the table of the oracle."""
    plan = plan_of(name)
    found = shown(compare(plan, STRONG, story, 2, -1), said=False)
    assert sorted(row[1:8] for row in found) == sorted(map(_row, evaluate(plan, tables_of(story[0]))))


def with_stable_keys(history: History) -> History:
    """All versions of an event have the k and the v of one of them: by these the plans are split."""
    known: dict[tuple[str, str], Payload] = {}
    found = []
    for row in history:
        first = known.setdefault(row.reference, row.payload)
        found.append(replace(row, payload=Payload({**row.payload, "k": first["k"], "v": first["v"]})))
    return tuple(found)


REVISED = some.revised_histories(REVISABLE, min_size=4, max_size=8, max_time=7).map(with_stable_keys)


@given(st.sampled_from([name for name in QUERIES if name != "three"]), REVISED, BUCKETS)
def test_a_bounded_history_may_have_versions(name: str, history: History, buckets: int) -> None:
    """R9, R10: once nothing more can come, the table of the oracle: also of events that were modified."""
    plan = plan_of(name, REVISABLE)
    messages = [*some.messages_of(history), Guarantee(FOREVER - 1)]
    rows = {m.lineage_key: m.event for m in messages if isinstance(m, Insert)}
    chain = Chain(plan, STRONG, REVISABLE, buckets, FOREVER)
    found = shown(chain.step(messages, rows, 1, FOREVER - 1), said=False)
    assert sorted(row[1:8] for row in found) == sorted(map(_row, evaluate(plan, tables_of(history))))
    assert not chain.letters


def _row(event: Event) -> tuple[object, ...]:
    times = (event.valid_start, event.valid_end, event.occurrence_start, event.occurrence_end, event.root_time)
    parts = tuple((leaf.stream, leaf.id) for leaf in primitive_contributors(event))
    return (event.id, *times, parts)
