"""A pipeline that passes by what its query does not read says the same.  Reading: R33: all messages raise h."""

from __future__ import annotations

import pytest
from hypothesis import given

from cedr.consistency.emission.changes import Changes
from cedr.consistency.pipeline import Pipeline
from cedr.model.intake import Intake
from cedr.model.level import MIDDLE, STRONG, WEAK
from cedr.model.retractions import repeats, retract_fault
from cedr.model.schema import EventTypes
from cedr.model.stream import Insert, Retract
from cedr.model.sync import sync_of
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_text
from tests.consistency.scenarios import Scenario, catalog, scenarios
from tests.semantics.stepping import message as message_of

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
        sent, intake = set[str](), Intake(arrival.catalog, arrival.providers)
        for number, batch in enumerate(arrival.batches):
            # whether a message of an unread stream repeats another, or uses its key again, is not known
            keys = [m.lineage_key for m in batch if isinstance(m, Insert)]
            if len({*keys, *sent}) < len(keys) + len(sent):
                return
            sent.update(keys)
            for message in batch:
                if isinstance(message, Retract) and misleads(message, intake, arrival.catalog):
                    return
                intake.receive(message)
            said = [[shown(found) for found in engine.step(batch, number + 1)] for engine in (every, some)]
            assert said[0] == said[1]


def misleads(message: Retract, intake: Intake, catalog: EventTypes) -> bool:
    """Whether a retraction raises h where its event is not known, and does not where it is.  Reading: R37."""
    known, end = intake._lineages.get(message.lineage_key), message.first_end
    if known is None or end is None or end <= intake.high:
        return False
    faulty = repeats(known, message) or retract_fault(known.event, message, catalog) is not None
    return faulty or sync_of(known.event, message) < end


@pytest.mark.parametrize("retraction", ["retract A ve=9", "retract A ve=3"])
def test_a_retraction_that_says_nothing_counts_where_its_event_is_not_known(retraction: str) -> None:
    """R37: nothing is left to tell that it lengthens, or repeats, so that its end moves h, and WEAK forgets."""
    known = catalog(FOREVER)
    plan = compile_text(f"EVENT Q WHEN {QUERIES[1]}", known).queries["Q"].plan
    highs = []
    for choice in (True, False):
        pipeline = Pipeline(plan, WEAK, known, all_streams=choice)
        for number, line in enumerate(("A a 1..3 @1 k=1 v=2 s=a K=A", retraction), 1):
            pipeline.step([message_of(line)], number)
        highs.append(pipeline._arrivals.high)
    assert highs == [1, 9 if retraction.endswith("9") else 3]


def shown(found: Changes) -> tuple[list[dict[str, object]], int | None]:
    return found.to_arrow().to_pylist(), found.guarantee
