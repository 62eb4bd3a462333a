"""Definition 6: well behaved operators.

"A CEDR operator O is well behaved iff for all (combinations of) inputs to O which are logically equivalent to infinity,
O's outputs are also logically equivalent to infinity."  For all queries: properties/test_well_behaved.py.
"""

from __future__ import annotations

import pytest

from cedr.model.equivalence import logically_equivalent_to
from cedr.model.history import HistoryTable
from cedr.model.intake import Intake
from cedr.model.schema import EventType, EventTypes
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_text
from cedr.semantics.evaluate import evaluate
from tests.semantics.stepping import message

TYPES = EventTypes({name: EventType(name, {}, FOREVER, open=True) for name in "AB"})

BY_HAND = """
    A e0 1 @1..3 K=E0
    A e0 1..10 @3 K=E2
    B b 4
"""
AS_IN_FIGURE_2 = """
    A e0 1 @1..5 K=E0
    A e0 1..10 @5 K=E1
    B b 4
    retract E0 oe=3
    retract E1 oe=5
    A e0 1..10 @3 K=E2
"""
BACKWARDS = "\n".join(reversed(AS_IN_FIGURE_2.strip().splitlines()))
BY_MODIFICATION = """
    A e0 1..10 @3
    B x 2 K=wrong
    retract wrong
    B b 4..20 K=b
    retract b ve=12
    A e0 1
"""


def arrived(text: str) -> dict[str, list]:  # type: ignore[type-arg]
    intake = Intake(TYPES)
    for line in text.strip().splitlines():
        assert intake.receive(message(line.strip())) is None
    return intake.rows()


@pytest.mark.parametrize(
    "query",
    [
        "WHEN SEQUENCE(A AS a, B AS b, 9) VALID WITH LAST",
        "WHEN UNLESS(A, B, 3)",
        "WHEN ATMOST(1, A, B, 3)",
        "FROM A AS a JOIN B AS b ON a.Vs < b.Vs",
        "FROM A AS a OUTPUT COUNT(*) AS n",
        "FROM A AS a WINDOW MOVING 4 OUTPUT a.Ve AS e",
        "FROM A AS a WINDOW DELETES",
    ],
)
def test_equivalent_inputs_give_equivalent_outputs(query: str) -> None:
    """Definition 6, on the story of Figure 2: by hand, with retractions, backwards."""
    plan = compile_text(f"EVENT Q {query}", TYPES).queries["Q"].plan
    one, other, last = (
        HistoryTable.from_events(evaluate(plan, arrived(text))) for text in (BY_HAND, AS_IN_FIGURE_2, BACKWARDS)
    )
    assert len(one)
    assert logically_equivalent_to(one, other, FOREVER)
    assert logically_equivalent_to(one, last, FOREVER)


def test_the_inputs_are_equivalent() -> None:
    """Definition 6 speaks of inputs that are logically equivalent to infinity; these are, and a detour more is too."""
    tables = [arrived(text) for text in (BY_HAND, AS_IN_FIGURE_2, BACKWARDS)]
    assert tables[0] == tables[1] == tables[2]
    assert [(e.occurrence_start, e.occurrence_end) for e in arrived(BY_MODIFICATION)["A"]] == [(1, 3), (3, FOREVER)]
    assert [(e.id, e.valid_end) for e in arrived(BY_MODIFICATION)["B"]] == [("b", 12)]
