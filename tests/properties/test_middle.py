"""Middle, and what all levels have in common: batches, K, repairs.

Paper: Definition 4, Section 4.  Readings: R8 (K), R33 (B = 0 never waits), R35, R40 (micro-batches).
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cedr.language.syntax import File
from cedr.model.event import Event
from cedr.model.intake import Intake
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.stream import Guarantee, Insert, Retract
from cedr.semantics.evaluate import evaluate
from cedr.testing import strategies as some
from tests.consistency.engines import BOTH, MakesEngine
from tests.properties.standing import (
    FILES,
    HISTORIES,
    REVISABLE,
    REVISED,
    Story,
    arriving,
    ended,
    of_any_kind,
    plan_of,
    run,
    said,
    shown,
    syncs,
    to,
    truth,
)

CATALOG = REVISABLE
Files = st.SearchStrategy[File]
ANY_FILE = st.one_of(FILES, some.relations(CATALOG), some.compositions(CATALOG))
ARRIVALS = st.one_of(arriving(HISTORIES), arriving(REVISED))


@BOTH
@given(FILES, ARRIVALS)
def test_middle_never_waits(engine: MakesEngine, file: File, story: Story) -> None:
    """Reading: R33: what is said at any moment is the meaning of all that was received, as far as it is not the future.

    A row said before stays, however far ahead it lies; an Oe that is not due is left open.
    """
    _, batches = story
    plan, intake = plan_of(file, CATALOG), Intake(CATALOG)
    before: set[tuple[str, int]] = set()
    for step, batch in zip(run(plan, MIDDLE, CATALOG, batches, engine=engine), batches, strict=True):
        for message in batch:
            intake.receive(message)
        due = max(intake.high, step.guarantee)
        rows = [e for e in evaluate(plan, intake.rows()) if e.occurrence_start <= due or _name(e) in before]
        before = {_name(row) for row in rows}
        meant = Counter(shown(row) for row in rows)
        open_ = Counter(shown(ended(row, occurrence=row.occurrence_end > due)) for row in rows)
        told = Counter(shown(row) for row in step.engine.said)
        assert told <= meant | open_
        assert sum(told.values()) == sum(meant.values())


def _name(row: Event) -> tuple[str, int]:
    return row.id, row.occurrence_start


@of_any_kind(ANY_FILE)
@given(st.data(), some.levels(), ARRIVALS)
def test_batches_leave_in_order(
    engine: MakesEngine, files: Files, data: st.DataObject, level: ConsistencyLevel, story: Story
) -> None:
    """Readings: R8, R40: no K is inserted and retracted in one batch, what leaves is in the order of Sync."""
    _, batches = story
    every_key: Counter[str] = Counter()
    for step in run(plan_of(data.draw(files), CATALOG), level, CATALOG, batches, engine=engine):
        inserted = {c.message.lineage_key for c in step.changes if isinstance(c.message, Insert)}
        retracted = [c.message.lineage_key for c in step.changes if isinstance(c.message, Retract)]
        assert not inserted & set(retracted)
        assert len(set(retracted)) == len(retracted)
        assert syncs(step.changes) == sorted(syncs(step.changes))
        assert [c for c in step.changes if isinstance(c.message, Guarantee)] in ([], step.changes[-1:])
        every_key.update(inserted)
    assert max(every_key.values(), default=1) == 1


@of_any_kind(ANY_FILE)
@given(st.data(), some.levels(), ARRIVALS)
def test_changes_amount_to_what_is_said(
    engine: MakesEngine, files: Files, data: st.DataObject, level: ConsistencyLevel, story: Story
) -> None:
    """Readings: R3, R33: reducing the change stream gives the rows said, at every step."""
    _, batches = story
    changes = []
    for step in run(plan_of(data.draw(files), CATALOG), level, CATALOG, batches, engine=engine):
        changes += step.changes
        reduced = Counter(shown(row.event("Q")) for row in said(changes).reduced())
        assert reduced == Counter(shown(row) for row in step.engine.said)


@of_any_kind(ANY_FILE)
@given(st.data(), ARRIVALS)
def test_middle_converges(engine: MakesEngine, files: Files, data: st.DataObject, story: Story) -> None:
    """Paper: Definition 6.  Readings: R35, R36: when all is guaranteed, the output is the oracle's table to g'."""
    history, batches = story
    plan = plan_of(data.draw(files), CATALOG)
    steps = list(run(plan, MIDDLE, CATALOG, batches, engine=engine))
    changes = [change for step in steps for change in step.changes]
    assert to(said(changes), steps[-1].guarantee) == to(truth(plan, history), steps[-1].guarantee)
