"""A pipeline that passes by what its query does not read says the same.  Reading: R33: all messages raise h."""

from __future__ import annotations

from hypothesis import given

from cedr.consistency.emission.changes import Changes
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE, STRONG, WEAK
from cedr.model.stream import Insert
from cedr.plan.compile import compile_text
from tests.consistency.scenarios import Scenario, scenarios

QUERIES = (
    "UNLESS(A AS x, B AS y, 2) WHERE {x.k = y.k} OUTPUT x.k AS k",
    "SEQUENCE(B AS x, FIRST B AS y, 3) OUTPUT y.v AS v",
)


@given(scenarios())
def test_what_is_said_does_not_depend_on_streams_that_nobody_reads(scenario: Scenario) -> None:
    arrival = scenario.arrival
    for query in QUERIES:
        plan = compile_text(f"EVENT Q WHEN {query}", arrival.catalog).queries["Q"].plan
        levels = (STRONG, MIDDLE, WEAK)
        every, some = (Pipeline(plan, levels, arrival.catalog, all_streams=choice) for choice in (True, False))
        sent: set[str] = set()
        for number, batch in enumerate(arrival.batches):
            # whether a message of an unread stream repeats another, or uses its key again, is not known
            keys = [m.lineage_key for m in batch if isinstance(m, Insert)]
            if len({*keys, *sent}) < len(keys) + len(sent):
                return
            sent.update(keys)
            said = [[shown(found) for found in engine.step(batch, number + 1)] for engine in (every, some)]
            assert said[0] == said[1]


def shown(found: Changes) -> tuple[list[dict[str, object]], int | None]:
    return found.to_arrow().to_pylist(), found.guarantee
