"""What was said, is frozen and meant no longer is known after a restart.  Readings: R8, R34."""

from __future__ import annotations

from cedr.model.level import WEAK
from cedr.model.stream import Retract
from tests.consistency.engines import Pipeline
from tests.consistency.test_regressions import CATALOG, batches_of, plan_of

PLAN = plan_of("ANY(A x) VALID WITH LAST")
ARRIVED = "A a1 1..3 / B b9 9 / retract A/a1@1"
AGAIN = "A a1 1..20 K=again"


def restarted(engine: Pipeline, segments: dict[str, bytes]) -> Pipeline:
    """A pipeline that goes on from where another one is; ``segments`` is what was stored before, and is now."""
    for name, part in engine.state().items():
        if part is None:
            segments.pop(name)
        else:
            segments[name] = part
    again = Pipeline(PLAN, WEAK, CATALOG)
    again.restore(dict(segments))
    assert again.measures()[0].frozen == engine.measures()[0].frozen == 1
    return again


def haunted() -> Pipeline:
    engine = Pipeline(PLAN, WEAK, CATALOG)
    for time, batch in enumerate(batches_of(ARRIVED), 1):
        engine.step(batch, time)
    return engine


def test_the_retraction_of_a_row_said_before_a_restart_has_its_columns() -> None:
    (changes,) = restarted(haunted(), {}).step(batches_of(AGAIN)[0], 9)
    assert (changes.retractions, changes.inserts, len(changes)) == (1, 1, 2)
    old, new = changes.to_arrow().to_pylist()
    assert (old["change"], old["said"], old["Vs"], old["Ve"], old["Os"], old["Oe"]) == ("retract", 1, 1, 3, 1, 1)
    assert (new["change"], new["said"], new["Vs"], new["Ve"]) == ("insert", 9, 1, 20)
    assert old["id"] == new["id"]
    assert old["contributors"] == new["contributors"] == [{"type": "A", "id": "a1"}]


def test_of_its_columns_only_those_are_made_that_are_asked_for() -> None:
    (changes,) = restarted(haunted(), {}).step(batches_of(AGAIN)[0], 9)
    old, new = changes.to_arrow({"change", "Oe"}).to_pylist()
    assert (old["change"], old["Oe"], old["id"], new["change"]) == ("retract", 1, None, "insert")


def test_it_is_saved_again() -> None:
    segments: dict[str, bytes] = {}
    engine = restarted(restarted(haunted(), segments), segments)
    engine.step([], 8)
    (changes,) = restarted(engine, segments).step(batches_of(AGAIN)[0], 9)
    assert [change.message for change in changes.to_changes() if isinstance(change.message, Retract)] == [
        Retract(f"{changes.to_arrow()['id'][0]}@1/1")
    ]
