"""Events as functions of their numbers: shares, order, restarts near their shutdowns, corrections that correct."""

from __future__ import annotations

import numpy as np
import pytest

from cedr.connect.chance import Chance
from cedr.connect.machines import CORRECTABLE, MOVED, RESTART, SHARES, SHUTDOWN, Fleet, Story
from cedr.diagnostics.exceptions import StreamError
from cedr.model.time import DAY, HOUR, MINUTE

MANY = np.arange(200_000)


def test_chance_is_even_and_its_purposes_do_not_follow_each_other() -> None:
    chance = Chance(3)
    for purpose in ("one", "other"):
        counts = np.bincount(chance.below(purpose, MANY, 10))
        assert counts.min() > 19_500
        assert counts.max() < 20_500
    both = chance.happens("one", MANY, 0.3) & chance.happens("other", MANY, 0.3)
    assert abs(both.mean() - 0.09) < 0.003


def test_any_part_is_drawn_without_the_rest() -> None:
    fleet = Fleet(Story(events=50_000, machines=1_000, seed=4))
    whole = fleet.first(np.arange(50_000))
    part = fleet.first(np.arange(30_000, 31_000))
    for name in ("kind", "machine", "vs", "load"):
        assert (getattr(whole, name)[30_000:31_000] == getattr(part, name)).all()


def test_another_seed_is_another_story() -> None:
    one, other = (Fleet(Story(events=1_000, seed=seed)).first(np.arange(1_000)) for seed in (1, 2))
    assert (one.vs != other.vs).mean() > 0.9
    assert (one.machine != other.machine).mean() > 0.9


@pytest.mark.parametrize(("events", "span"), [(20, DAY), (5_000, DAY), (200_000, DAY), (200_000, HOUR), (5_000, 100)])
def test_events_lie_in_the_span_and_numbers_follow_time(events: int, span: int) -> None:
    story = Story(events=events, span=span)
    fleet = Fleet(story)
    drawn = fleet.first(np.arange(events))
    assert drawn.vs.min() >= story.start
    assert drawn.vs.max() < story.end + 1
    latest = np.minimum.accumulate(drawn.vs[::-1])[::-1]  # of each event and all later ones the smallest Vs
    for number in range(0, events, max(1, events // 500)):
        assert fleet.not_before(number) <= latest[number]


def test_kinds_have_their_shares_and_all_machines_take_part() -> None:
    drawn = Fleet(Story(events=200_000, machines=50)).first(MANY)
    assert np.abs(np.bincount(drawn.kind) / 200_000 - SHARES).max() < 0.01
    assert np.bincount(drawn.machine).min() > 3_000
    assert len(np.bincount(drawn.machine)) == 50


@pytest.mark.parametrize("events", [2_000, 100_000])
def test_half_of_the_restarts_come_within_5_minutes_of_a_shutdown_of_their_machine(events: int) -> None:
    """Paper: Section 3.1."""
    drawn = Fleet(Story(events=events, machines=events)).first(np.arange(events))
    down = {(machine, vs) for machine, vs in zip(*_of(drawn, SHUTDOWN), strict=True)}
    by_machine: dict[int, list[int]] = {}
    for machine, vs in down:
        by_machine.setdefault(machine, []).append(vs)
    gaps = [
        min((vs - start for start in by_machine.get(machine, ()) if start < vs), default=DAY)
        for machine, vs in zip(*_of(drawn, RESTART), strict=True)
    ]
    assert np.mean(np.array(gaps) <= 11 * MINUTE) > 0.95
    assert 0.4 < np.mean(np.array(gaps) < 5 * MINUTE) < 0.6


def _of(drawn: object, kind: int) -> tuple[list[int], list[int]]:
    rows = drawn.kind == kind  # type: ignore[attr-defined]
    return drawn.machine[rows].tolist(), drawn.vs[rows].tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize("what", CORRECTABLE)
@pytest.mark.parametrize("machines", [1, 2, 500])
def test_a_correction_changes_one_thing(what: str, machines: int) -> None:
    fleet = Fleet(Story(events=10_000, machines=machines, corrects=(what,)))
    numbers = np.arange(10_000)
    was, now = fleet.first(numbers), fleet.corrected(numbers)
    changed = {
        "Load": was.load != now.load,
        "Vs": was.vs != now.vs,
        "Machine_Id": was.machine != now.machine,
    }
    expected = "Load" if what == "Machine_Id" and machines == 1 else what
    for name, rows in changed.items():
        assert rows.all() if name == expected else not rows.any()
    assert (was.kind == now.kind).all()
    assert np.abs(was.vs - now.vs).max() <= MOVED
    assert now.machine.max() < machines
    assert ((now.load >= 0) & (now.load < 1_000)).all()


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"events": 0}, "bad-count"),
        ({"events": -5}, "bad-count"),
        ({"events": 10**10}, "bad-count"),
        ({"machines": 0}, "bad-count"),
        ({"span": 0}, "bad-duration"),
        ({"span": 2**63}, "bad-duration"),
        ({"start": -(2**63)}, "bad-duration"),
        ({"corrects": ("Weight",)}, "unknown-correction"),
        ({"corrects": ()}, "unknown-correction"),
    ],
)
def test_a_story_that_cannot_be_told_is_refused(wrong: dict[str, object], code: str) -> None:
    with pytest.raises(StreamError) as caught:
        Story(**wrong)  # type: ignore[arg-type]
    assert caught.value.diagnostics[0].code == code
