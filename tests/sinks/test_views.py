"""A view is the latest belief, whatever comes and whatever crashes.  Readings: R10, R40, R48."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from cedr.diagnostics.exceptions import SinkError
from cedr.model.level import MIDDLE, WEAK
from cedr.model.stream import Change
from cedr.sinks.contract import Sink, check_stored
from cedr.sinks.net import net
from cedr.testing import strategies as some
from tests.sinks.places import Place, latest_belief
from tests.sinks.runs import RUNS, Run, believed, runs

FEW = settings(
    max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
"""Each example has its own place: to look for a smaller one would take long."""
NewPlace = Callable[[], Place]


class Crash(BaseException):
    """The process is gone: nobody catches this."""


def columns_of(run: Run, place: Place) -> list[str]:
    return (
        ["id", '"Vs"', '"Ve"', *_payload(run)] if "answers_" not in _name(place) else ["id", "vs", "ve", *_payload(run)]
    )


def _payload(run: Run) -> list[str]:
    return [name for name in run.output.schema.names[11:]]


def _name(place: Place) -> str:
    sink: Any = place.make()
    return getattr(sink, "_table", None) or "delta"


def shown(run: Run, place: Place, changes: list[Change]) -> tuple[list[Any], list[Any]]:
    """What the view has, and what it must have."""
    names = columns_of(run, place)
    return place.rows(names), latest_belief(believed(changes), list(run.query.output.attributes))


@pytest.mark.slow
@FEW
@given(run=runs(), level=some.levels())
def test_a_view_is_the_latest_belief_after_every_batch(new_place: NewPlace, run: Run, level: Any) -> None:
    place, changes = new_place(), list[Change]()
    sink = place.make()
    sink.open(run.output)
    for batch, table, said in run.steps(level):
        changes += said
        sink.write(batch, table)
        assert sink.stored() == batch or not net(table).present.num_rows
    found, wanted = shown(run, place, changes)
    assert found == wanted
    sink.close()


def crashing(sink: Sink, after: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Lets the sink die before its step number ``after``: each call of the driver is one."""
    count = 0
    inner: Any = getattr(sink, "_database", sink)
    names = (
        ["begin", "commit", "run", "columns", "put", "take_away", "add"]
        if inner is not sink
        else ["_commit", "_check_still_ours", "_check_columns"]
    )

    def dying(method: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any) -> Any:
            nonlocal count
            count += 1
            if count == after:
                raise Crash
            done = method(*args)
            count += 1
            if count == after:
                raise Crash
            return done

        return step

    for name in names:
        monkeypatch.setattr(inner, name, dying(getattr(inner, name)))
    return lambda: count


@pytest.mark.slow
def test_a_crash_at_every_step_leaves_a_batch_whole_or_out(
    new_place: NewPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before and after every call of the driver, in the batch that changes most; then everything comes again."""
    run = RUNS["aggregate"]
    steps = list(run.steps(MIDDLE))
    busy = max(
        steps, key=lambda step: len(set(step.table.column("change").to_pylist())) * 100 + step.table.num_rows
    ).batch
    place, after, survived = new_place(), 0, False
    sink = place.make()
    sink.open(run.output)
    for batch, table, _ in steps[: busy - 1]:
        sink.write(batch, table)
    sink.close()
    before = latest_belief(
        believed([c for step in steps[: busy - 1] for c in step.changes]), list(run.query.output.attributes)
    )
    behind = latest_belief(
        believed([c for step in steps[:busy] for c in step.changes]), list(run.query.output.attributes)
    )
    assert before != behind
    while not survived:
        after += 1
        sink = place.make()
        sink.open(run.output)
        stored = sink.stored()
        assert place.rows(columns_of(run, place)) == (before if stored == busy - 1 else behind)
        if stored == busy:
            sink.close()
            break
        with monkeypatch.context() as patched:
            crashing(sink, after, patched)
            try:
                sink.write(busy, steps[busy - 1].table)
                survived = True
            except Crash:
                pass
        sink.close()
    assert after > 3
    sink = place.make()
    sink.open(run.output)
    for batch, table, _ in steps:  # all of it once more: what is stored is skipped
        sink.write(batch, table)
    found, wanted = shown(run, place, [c for step in steps for c in step.changes])
    assert found == wanted
    sink.close()


@pytest.mark.slow
def test_what_is_stored_is_skipped(new_place: NewPlace) -> None:
    run, place = RUNS["aggregate"], new_place()
    steps = list(run.steps(WEAK))
    for _ in range(3):
        sink = place.make()
        sink.open(run.output)
        for batch, table, _ in steps:
            sink.write(batch, table)
        sink.close()
    found, wanted = shown(run, place, [c for step in steps for c in step.changes])
    assert found == wanted


def opened(place: Place, run: Run, upto: int = 5) -> tuple[Sink, list[Any]]:
    sink = place.make()
    sink.open(run.output)
    steps = list(run.steps(MIDDLE))
    for batch, table, _ in steps[:upto]:
        sink.write(batch, table)
    return sink, steps


def go_on(sink: Sink, run: Run, steps: list[Any]) -> None:
    """As a job does: a sink that was not open is opened, and must have what the checkpoint says."""
    if sink.stored() is None:
        sink.open(run.output)
        check_stored("the view", sink.stored(), kept=5, planned=6)
    sink.write(6, steps[5].table)


def code(error: pytest.ExceptionInfo[SinkError]) -> str:
    return error.value.diagnostics[0].code


@pytest.mark.parametrize("while_running", [True, False])
def test_a_view_that_somebody_altered_is_refused(new_place: NewPlace, while_running: bool) -> None:
    run, place = RUNS["aggregate"], new_place()
    sink, steps = opened(place, run)
    if not while_running:
        sink.close()
    place.do("alter")
    with pytest.raises(SinkError) as refused:
        go_on(sink if while_running else place.make(), run, steps)
    assert code(refused) == "view-altered"
    assert '"more" was added' in str(refused.value)
    sink.close()


@pytest.mark.parametrize("while_running", [True, False])
def test_a_view_that_somebody_dropped_is_refused(new_place: NewPlace, while_running: bool) -> None:
    run, place = RUNS["aggregate"], new_place()
    sink, steps = opened(place, run)
    if not while_running:
        sink.close()
    place.do("drop")
    with pytest.raises(SinkError) as refused:
        go_on(sink if while_running else place.make(), run, steps)
    assert code(refused) in ("view-dropped", "sink-behind")
    assert "batch 5" in str(refused.value)
    sink.close()


def test_rows_that_somebody_deleted_are_missed(new_place: NewPlace) -> None:
    run, place = RUNS["aggregate"], new_place()
    sink, _ = opened(place, run)
    sink.close()
    place.do("delete")
    with pytest.raises(SinkError) as refused:
        place.make().open(run.output)
    assert code(refused) == "view-altered"


def test_a_table_of_somebody_else_is_left_alone(new_place: NewPlace) -> None:
    run, place = RUNS["aggregate"], new_place()
    place.do("take")
    with pytest.raises(SinkError) as refused:
        place.make().open(run.output)
    assert code(refused) == "view-not-ours"


def test_a_query_with_other_columns_needs_another_view(new_place: NewPlace) -> None:
    run, place = RUNS["aggregate"], new_place()
    sink, _ = opened(place, run)
    sink.close()
    other = replace(run.output, schema=run.output.schema.append(pa.field("more", pa.float64())))
    with pytest.raises(SinkError) as refused:
        place.make().open(other)
    assert code(refused) == "view-differs"


def test_two_jobs_on_one_view_are_told(new_place: NewPlace) -> None:
    run, place = RUNS["aggregate"], new_place()
    sink, steps = opened(place, run)
    other = place.make()
    other.open(run.output)
    other.write(6, steps[5].table)
    with pytest.raises(SinkError) as refused:
        sink.write(6, steps[5].table)
    assert code(refused) == "two-writers"
    sink.close()
    other.close()
