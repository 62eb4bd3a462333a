"""Every query of the language is well behaved: logically equivalent inputs give logically equivalent outputs.

Paper: Definition 6, Section 6.  Readings: R4, R5, R28, R41.  The input differs in arrival order, batching and
retraction path; the output is the oracle's table on what arrived.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.language.syntax import File
from cedr.model.equivalence import logically_equivalent_to, projected
from cedr.model.history import HistoryTable
from cedr.model.intake import Intake
from cedr.model.schema import EventTypes
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_file
from cedr.semantics.evaluate import evaluate
from cedr.testing import strategies as some
from cedr.testing.arrivals import Batches
from cedr.testing.histories import History, tables_of
from tests.properties.standing import plan_of

PLAIN, REVISABLE = some.small_catalog(), some.small_catalog(revisable=FOREVER)
FOR_A_WHILE = some.small_catalog(revisable=3)

Story = tuple[History, Batches]


def stories(catalog: EventTypes, largest: int = 5) -> st.SearchStrategy[Story]:
    histories = some.revised_histories(catalog, max_size=largest)
    return histories.flatmap(lambda h: st.tuples(st.just(h), some.arrivals(h, revised=True)))


def well_behaved(file: File, catalog: EventTypes, story: Story) -> None:
    history, batches = story
    intake = Intake(catalog)
    for batch in batches:
        for message in batch:
            intake.receive(message)
    plan = plan_of(file, catalog)
    ideal = HistoryTable.from_events(evaluate(plan, tables_of(history)))
    arrived = HistoryTable.from_events(evaluate(plan, intake.rows()))
    assert projected(arrived) == projected(ideal)
    assert logically_equivalent_to(arrived, ideal, FOREVER)


@given(some.patterns(REVISABLE, sliced=True, revisable=True), stories(REVISABLE))
def test_patterns(file: File, story: Story) -> None:
    """Paper: Definition 6.  Reading: R28: selection and consumption are repaired like everything else."""
    well_behaved(file, REVISABLE, story)


@given(some.relations(REVISABLE, sliced=True), stories(REVISABLE))
def test_algebra(file: File, story: Story) -> None:
    """Paper: Definition 6: "AdjustLifetime, while non-view update compliant, is well behaved"."""
    well_behaved(file, REVISABLE, story)


@given(some.compositions(FOR_A_WHILE, sliced=True), stories(FOR_A_WHILE, largest=4))
def test_compositions(file: File, story: Story) -> None:
    """Paper: Definition 6.  Readings: R32, R37 (revisions are judged on the messages, not on their order)."""
    well_behaved(file, FOR_A_WHILE, story)


@pytest.mark.parametrize("catalog", [PLAIN, REVISABLE, FOR_A_WHILE], ids=["plain", "revisable", "for a while"])
@given(data=st.data())
def test_detours_amount_to_the_history(catalog: EventTypes, data: st.DataObject) -> None:
    """Paper: Section 4, Figure 2.  Readings: R3 to R5, R37, R41: the strategies keep what they promise."""
    history, batches = data.draw(stories(catalog))
    intake = Intake(catalog)
    for batch in batches:
        for message in batch:
            intake.receive(message)
    assert Counter(row for rows in intake.rows().values() for row in rows) == Counter(history)


@given(some.files(PLAIN, declared=True))
def test_random_queries_compile(file: File) -> None:
    """The strategies give valid queries by construction; each names its output's type."""
    program = compile_file(file)
    assert all(query.plan.type == query.output for query in program.queries.values())
