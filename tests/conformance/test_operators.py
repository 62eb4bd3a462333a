"""Every operator through every clause of the contract.  Paper: Sections 5 and 6.  Readings: R33 to R37."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cedr.model.time import FOREVER
from cedr.testing import strategies as some
from tests.conformance.clauses import CLAUSES, Story, cost
from tests.conformance.operators import FROM, PATTERNS, PLAIN, REVISABLE, all_classes, classes, plan_of

LENGTHS = st.sampled_from((0, 1, 2, 5, FOREVER))


@st.composite
def stories(draw: st.DrawFn, *, revisable: bool) -> Story:
    """Histories in any order and batches, with retractions and true guarantees; lines and memories of readers."""
    catalog = REVISABLE if revisable else PLAIN
    histories = some.revised_histories if revisable else some.histories
    history = draw(histories(catalog, min_size=3, max_size=7, max_time=6))
    batches = draw(some.arrivals(history, revised=True, final=draw(st.booleans())))
    lines = draw(st.lists(LENGTHS, min_size=1, max_size=3))
    memories = (draw(LENGTHS), draw(LENGTHS))
    restart = draw(st.integers(1, max(1, len(batches))))
    return Story(catalog, batches, lines, memories, restart, while_alive=draw(st.booleans()))


FEW = settings(max_examples=max(2, settings.default.max_examples // 4))
"""There are many operators and clauses."""
EVERY = pytest.mark.parametrize("name", [*PATTERNS, *FROM])


@pytest.mark.parametrize("clause", [clause for clause, check in CLAUSES.items() if check is not cost])
@EVERY
@FEW
@given(data=st.data())
def test_contract(name: str, clause: str, data: st.DataObject) -> None:
    """Each clause, for events that stand as they are and for events that are revised."""
    revisable = data.draw(st.booleans())
    CLAUSES[clause](plan_of(name, revisable=revisable), data.draw(stories(revisable=revisable)))


@EVERY
def test_cost(name: str) -> None:
    """Clause 6 brings its own events: whatever story it is given, it finds the same."""
    cost(plan_of(name), Story(PLAIN, [], [], (0, 0), 0))


def test_every_operator_is_listed() -> None:
    """A node class that is in no listed plan is not tested here."""
    missing = all_classes() - classes()
    assert not missing, f"list a plan with {', '.join(sorted(node.__name__ for node in missing))}"
