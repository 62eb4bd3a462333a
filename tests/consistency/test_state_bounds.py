"""State is as small as ``explain`` says: by guarantees at every level, by M where it is finite.

Paper: Section 5 ("may therefore forget"), Figure 8 (State Size).  Readings: R34, R37.  An operator may hold what its
inputs have given with Vs after g (or the newest Sync) less ``state_held``, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from cedr.model.event import Event, primitive
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.stream import Guarantee, Message, insert
from cedr.model.time import FOREVER, Time, plus
from cedr.plan.compile import compile_text
from cedr.plan.explain import OperatorRecord, explain
from cedr.plan.logical import Node, inputs
from cedr.semantics.evaluate import Oracle
from cedr.testing.histories import small_catalog
from tests.consistency.engines import Pipeline

pytestmark = pytest.mark.slow  # in `make test`

PLAIN = small_catalog("A", "B")
REVISABLE = small_catalog("A", "B", revisable=5)

PATTERNS = (
    "SEQUENCE(A x, B y, 3)",
    "SEQUENCE(A x, B y, A z, 5)",
    "SEQUENCE(A x, LAST B y, 3)",
    "SEQUENCE(LAST A x, FIRST B y, 4)",
    "SEQUENCE(FIRST A x CONSUME, B y CONSUME, 4)",
    "SEQUENCE(A x, B y, 3) DISJOINT",
    "ALL(A x, B y, 3)",
    "ALL(FIRST A x, B y, 3)",
    "ALL(A x, LAST B y, 3)",
    "ATLEAST(2, A x, B y, A z, 4)",
    "ANY(A x, B y)",
    "ATMOST(1, A x, B y, 3)",
    "UNLESS(A x, B y, 3)",
    "UNLESS(A x, B y, 1, 3)",
    "UNLESS(SEQUENCE(A x, B y, 3), A z, 2)",
    "UNLESS(SEQUENCE(A x, B y, 3), A z, 1, 2)",
    "NOT(B z, SEQUENCE(A x, A y, 4))",
    "CANCEL-WHEN(SEQUENCE(A x, A y, 4), B z)",
    "SEQUENCE(UNLESS(A x, B y, 2), A z, 3)",
)
TAILS = ("", " WHERE CorrelationKey(k, EQUAL)")
LENGTH = 40


def events() -> list[Event]:
    """An A and a B at each instant, with two keys in turn."""
    return [
        primitive(kind, f"{kind}{time}", time, time + 3, payload={"k": time // 2 % 2, "v": 1, "s": "a"})
        for time in range(LENGTH)
        for kind in "AB"
    ]


def batches(*, disorder: int = 0) -> Iterator[list[Message]]:
    random = Random(37)
    arriving = sorted(events(), key=lambda e: (e.valid_start + random.randint(0, disorder), e.id))
    for start in range(0, len(arriving), 3):
        yield [insert(event) for event in arriving[start : start + 3]]


def plan_of(pattern: str, catalog: object = PLAIN) -> Node:
    return compile_text(f"EVENT Q WHEN {pattern}", catalog).queries["Q"].plan  # type: ignore[arg-type]


def allowed(plan: Node, level: ConsistencyLevel, line: Time) -> dict[str, int]:
    """How many rows each operator may hold, by its place; where several share one, all of theirs.

    ``line`` is the last instant whose events may go once they are ``state_held`` behind it.
    """
    tables: dict[str, list[Event]] = {}
    for event in events():
        tables.setdefault(event.stream, []).append(event)
    oracle, found = Oracle(tables), dict[str, int]()
    for record in explain(plan, level).plan.walk():
        place = record.place or type(record.node).__name__
        found[place] = found.get(place, 0) + _rows_since(record, oracle, line)
    return found


def _rows_since(record: OperatorRecord, oracle: Oracle, line: Time) -> int:
    held = record.bounds.state_held.duration
    since = plus(line, -held)
    return sum(row.valid_start > since for part in inputs(record.node) for row in oracle.table(part))


def assert_within(rows: dict[str, int], bounds: dict[str, int]) -> None:
    too_much = {place: (held, bounds.get(place, 0)) for place, held in rows.items() if held > bounds.get(place, 0)}
    assert too_much == {}, f"operators that hold more than they may: {too_much}"


@pytest.mark.parametrize("tail", TAILS, ids=["", "keyed"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("disorder", [0, 5])
def test_guarantees_shrink_state(pattern: str, tail: str, disorder: int) -> None:
    """Reading: R37: at every level."""
    plan, levels = plan_of(pattern + tail), (STRONG, MIDDLE, ConsistencyLevel(Bound(2), Bound(FOREVER)))
    engine = Pipeline(plan, levels, PLAIN)
    for time, batch in enumerate(batches(disorder=disorder), 1):
        engine.step(batch, time)
    engine.step([Guarantee(LENGTH - 1)], LENGTH * 2)
    for level, measures in zip(levels, engine.measures(), strict=True):
        assert_within(dict(measures.rows), allowed(plan, level, LENGTH - 1))
        assert measures.held == 0
    engine.step([Guarantee(LENGTH * 10)], LENGTH * 3)
    assert all(measures.total_rows == 0 for measures in engine.measures())


@pytest.mark.parametrize("pattern", PATTERNS)
def test_revisable_types_are_kept_longer(pattern: str) -> None:
    """Reading: R37: scope + d."""
    plan = plan_of(pattern, REVISABLE)
    engine = Pipeline(plan, MIDDLE, REVISABLE)
    for time, batch in enumerate(batches(), 1):
        engine.step(batch, time)
    engine.step([Guarantee(LENGTH - 1)], LENGTH * 2)
    assert_within(dict(engine.measures()[0].rows), allowed(plan, MIDDLE, LENGTH - 1))


SELECTING = ("CONSUME", "DISJOINT")


@pytest.mark.parametrize("pattern", [p for p in PATTERNS if not any(word in p for word in SELECTING)])
@pytest.mark.parametrize("memory", [0, 4])
def test_memory_shrinks_state_without_guarantees(pattern: str, memory: int) -> None:
    """Reading: R34: M + scope behind the newest Sync before the last batch, though nothing is guaranteed."""
    plan, level = plan_of(pattern), ConsistencyLevel(Bound(0), Bound(memory))
    engine, newest = Pipeline(plan, level, PLAIN), 0
    for time, batch in enumerate(batches(), 1):
        line = newest
        engine.step(batch, time)
        newest = max([newest, *(message.event.valid_start for message in batch)])  # type: ignore[union-attr]
    assert_within(dict(engine.measures()[0].rows), allowed(plan, level, line - 1))  # Ve = m is not frozen yet


def test_state_does_not_grow() -> None:
    """Figure 8: with a guarantee after every batch, the state of a long run is that of a short one."""
    plan = plan_of("NOT(B z, SEQUENCE(A x, A y, 4))")
    engine, sizes = Pipeline(plan, [STRONG, MIDDLE, WEAK], PLAIN), list[list[int]]()
    for time in range(200):
        batch: list[Message] = [
            insert(primitive(kind, f"{kind}{time}", time, payload={"k": 1, "v": 1, "s": "a"})) for kind in "AB"
        ]
        engine.step([*batch, Guarantee(time)], time + 1)
        sizes.append([measures.total_rows for measures in engine.measures()])
    assert max(sizes[20:]) == max(sizes[:20]) or sizes[19] == sizes[199]


@pytest.mark.parametrize("pattern", ["UNLESS(A x, B y, 3)", "ANY(A x) @ [999, 1000]"])
def test_what_waits_for_a_decision_is_let_go_of_without_guarantees(pattern: str) -> None:
    """Readings: R34, R36: what bears on frozen rows alone waits for no guarantee, and keeps no row in the tables."""
    engine = Pipeline(plan_of(pattern), WEAK, PLAIN)
    for time, batch in enumerate(batches(), 1):
        engine.step(batch, time)
    engine.compact()
    assert len(engine._arrivals.table("A")) < LENGTH / 2


WINDOWS = {"MOVING 30": 30, "TUMBLING 20": 40, "HOPPING 30 EVERY 10": 40, "SESSION 5": 5, "LIFETIME a.Vs, 25": 25}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("aggregate", ["COUNT(*)", "MAX(a.v)"])
def test_a_window_over_events_that_never_end_keeps_what_is_in_it(window: str, aggregate: str) -> None:
    """Reading: R37: that an event may still get an end does not keep it when its window has closed."""
    text = f"EVENT Q FROM A AS a WHERE a.v < 9 WINDOW {window} GROUP BY a.k OUTPUT a.k AS k, {aggregate} AS n"
    pipeline = Pipeline(compile_text(text, PLAIN).queries["Q"].plan, MIDDLE, PLAIN)
    known = []
    for time in range(0, 400, 2):
        pipeline.step([insert(primitive("A", f"a{time}", time, payload={"k": time % 3, "v": 1, "s": "x"}))], time)
        pipeline.step([Guarantee(time)], time + 1)
        known.append(sum(source.events for source in pipeline._arrivals.ledger.sources.values()))
    assert max(known) <= WINDOWS[window] // 2 + 2
    assert known[-1] > 0


@pytest.mark.parametrize("aggregate", ["AVG(a.v)", "SUM(a.v)"])
def test_a_value_that_never_changes_keeps_one_step(aggregate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings: R30, R37: of a row that goes on for ever its start and value are kept, not all that it was made of."""
    monkeypatch.setattr("cedr.runtime.operators.algebra.steps._SPARE", 0)
    text = f"EVENT Q FROM A AS a WINDOW MOVING 31 GROUP BY a.k OUTPUT a.k AS k, {aggregate} AS n"
    pipeline, said, sizes = Pipeline(compile_text(text, PLAIN).queries["Q"].plan, MIDDLE, PLAIN), 0, list[int]()
    for time in range(0, 6400, 80):
        rows = [primitive("A", f"a{t}", t, payload={"k": 1, "v": 0, "s": "x"}) for t in range(time, time + 80, 2)]
        pipeline.step([*map(insert, rows), Guarantee(time + 78)], time)
        (measures,) = pipeline.measures()
        said, sizes = measures.inserts, [*sizes, dict(measures.bytes)["/GROUP"]]
    assert said == 1
    assert max(sizes[40:]) <= 2 * max(sizes[:10])
