"""The check of the order: it finds what is wrong, makes it small, and has nothing to say about what is right.

Paper: Definitions 3 to 5.  Readings: R3, R35, R40, R41.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cedr.connect.messages import take_messages
from cedr.hosts.event_types import declared_types
from cedr.hosts.host import Start
from cedr.hosts.naive import Naive, NaiveChanges
from cedr.hosts.oracle import Oracle
from cedr.language.parse import parse
from cedr.language.syntax import File
from cedr.model.intake import Intake
from cedr.model.level import MIDDLE, STRONG, WEAK
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, Message, Retract
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan.compile import compile_text
from cedr.testing.deliveries import delivery, story_of
from cedr.testing.order import check_order, levels_for
from cedr.testing.promises import Setting, Truths
from tests.properties.standing import FILES, HISTORIES, REVISABLE, REVISED, Story, arriving, plan_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TYPES = "TYPE A (key INTEGER) REVISABLE; TYPE B (key INTEGER) REVISABLE;"
ALERT = f"{TYPES} EVENT Alert WHEN UNLESS(A AS a, B AS b, 10) WHERE {{a.key = b.key}} OUTPUT a.key AS key"


REVISABLE_TYPES = declared_types(parse(ALERT))


def row(stream: str, id: str, vs: int, key: int = 1, **more: Any) -> dict[str, Any]:  # noqa: A002 - the paper's word
    return {"insert": {"type": stream, "id": id, "vs": vs, "payload": {"key": key}, **more}}


MESSAGES = [
    row("A", "a1", 1),
    row("A", "a2", 3, key=2),
    row("B", "b2", 6, key=2),
    row("B", "b3", 7, key=3, k="K"),
    row("A", "a4", 20),
    {"retract": {"k": "K"}},
    row("B", "b1", 22),
    {"guarantee": 40},
]


# -- engines that are wrong on purpose --------------------------------------------------------------------------------


class Deaf(Naive):
    """Hears no retraction."""

    def step(self, messages: Sequence[Any], cedr_time: Time) -> list[NaiveChanges]:
        return super().step([message for message in messages if not isinstance(message, Retract)], cedr_time)


class Impatient(Naive):
    """Does not wait for what is late."""

    high: Time = BEGINNING

    def step(self, messages: Sequence[Any], cedr_time: Time) -> list[NaiveChanges]:
        return super().step([message for message in messages if self._in_time(message)], cedr_time)

    def _in_time(self, message: Message) -> bool:
        if not isinstance(message, Insert):
            return True
        start = message.event.occurrence_start
        late, self.high = start < self.high, max(start, self.high)
        return not late


class Mute(Naive):
    """Forgets to say the guarantee, and what comes with it."""

    def step(self, messages: Sequence[Any], cedr_time: Time) -> list[NaiveChanges]:
        said = super().step(messages, cedr_time)
        return [NaiveChanges(each.level, each.cedr_time, each.changes[-1:]) for each in said]


class Fragile(Naive):
    """Breaks on a batch of several messages."""

    def step(self, messages: Sequence[Any], cedr_time: Time) -> list[NaiveChanges]:
        if sum(isinstance(message, Insert) for message in messages) > 2:
            message = "three is too many"
            raise ValueError(message)
        return super().step(messages, cedr_time)


class Hasty(Naive):
    """Takes STRONG for MIDDLE."""

    def __init__(self, plan: Any, levels: Any, catalog: EventTypes, providers: Any = ()) -> None:
        super().__init__(plan, [MIDDLE if level == STRONG else level for level in levels], catalog, providers)


# -- it can fail ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("engine", "promise", "most"),
    [
        (Deaf, "is not the oracle's", 4),
        (Impatient, "is not the oracle's", 3),
        (Mute, "is not the oracle's", 4),
        (Fragile, "the engine failed: ValueError: three is too many", 3),
        (Hasty, "STRONG", 4),
    ],
)
def test_an_engine_that_is_wrong_is_found_and_made_small(engine: Start, promise: str, most: int) -> None:
    """R35."""
    messages = [*MESSAGES[:4], row("B", "b1x", 5, k="L"), {"retract": {"k": "L"}}, *MESSAGES[4:]]
    report = check_order(ALERT, messages, runs=100, engine=engine)
    assert not report.ok
    found = report.counterexample
    assert found is not None
    assert promise in found.broken.promise
    assert sum(len(batch) for batch in found.batches) <= most + 1
    assert "a promise is broken" in str(report)


@pytest.mark.parametrize("engine", [Deaf, Impatient, Fragile])
def test_the_lines_show_it_again(engine: Start) -> None:
    """What is printed is enough to see the failure once more."""
    messages = [*MESSAGES[:4], row("B", "b1x", 5, k="L"), {"retract": {"k": "L"}}, *MESSAGES[4:]]
    found = check_order(ALERT, messages, runs=100, engine=engine).counterexample
    assert found is not None
    read = [json.loads(line) for line in found.lines]
    batches = [line if isinstance(line, list) else [line] for line in read]
    arrived = take_messages([m for batch in batches for m in batch], REVISABLE_TYPES)
    messages_again = iter(message for _, message in arrived.messages)
    again = [[next(messages_again) for _ in batch] for batch in batches]
    plan = plan_of_text(ALERT)
    setting = Setting(plan, REVISABLE_TYPES, (), engine)
    assert setting.judge(again, [found.broken.level], Truths(plan)) is not None


def plan_of_text(text: str) -> Any:
    return list(compile_text(text).queries.values())[-1].plan


def test_the_same_seed_finds_the_same() -> None:
    one, other = (check_order(ALERT, MESSAGES, runs=50, seed=7, engine=Impatient) for _ in range(2))
    assert one == other
    assert str(one) == str(other)


# -- and has nothing to say where all is right ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["machines", "fire", "mail", "coupons", "trades"])
def test_the_examples_keep_every_promise(name: str) -> None:
    report = check_order(EXAMPLES / f"{name}.cedr", EXAMPLES / f"{name}.jsonl", runs=8, host="oracle")
    assert report.ok, str(report)
    assert "every promise kept" in str(report)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["machines", "fire", "mail", "coupons"])
def test_the_columnar_engine_keeps_every_promise(name: str) -> None:
    report = check_order(EXAMPLES / f"{name}.cedr", EXAMPLES / f"{name}.jsonl", runs=40)
    assert report.host == "local"
    assert report.ok, str(report)


@pytest.mark.slow
@given(FILES, st.one_of(arriving(HISTORIES), arriving(REVISED)), st.integers(0, 100))
@settings(max_examples=max(5, settings.default.max_examples // 5))
def test_no_false_alarm(file: File, story: Story, seed: int) -> None:
    """R35: the naive engine keeps its promises in every delivery of whatever arrives."""
    plan = plan_of(file, REVISABLE)
    found = story_of([message for batch in story[1] for message in batch], REVISABLE, 20)
    setting = Setting(plan, REVISABLE, found.providers, Oracle().start)
    truths = Truths(plan)
    for number in (0, 1, 2, 3, 4 + seed):
        levels = levels_for(plan, found, Random(number))
        assert setting.judge(delivery(found, number, seed), levels, truths) is None


# -- deliveries -------------------------------------------------------------------------------------------------------


@given(st.one_of(arriving(HISTORIES), arriving(REVISED)), st.integers(0, 60), st.integers(0, 5))
def test_every_delivery_is_true_to_the_guarantees(story: Story, number: int, seed: int) -> None:
    """R3, R41: nothing in it is a dead letter, and it tells the same history."""
    sent = [message for batch in story[1] for message in batch]
    found = story_of(sent, REVISABLE)
    batches = delivery(found, number, seed)
    assert batches == delivery(found, number, seed)
    intake, first = Intake(REVISABLE, found.providers), Intake(REVISABLE, found.providers)
    for message in (message for batch in batches for message in batch):
        intake.receive(message)
    for message in sent:
        first.receive(message)
    assert intake.dead_letters(final=True) == []
    assert intake.rows() == first.rows()
    assert intake.guarantee == found.end or not batches


def test_what_is_no_use_in_the_file_is_left_out() -> None:
    """R39: a message that breaks a guarantee would be right in another order."""
    broken = [*MESSAGES, row("A", "late", 2)]
    report = check_order(ALERT, broken, runs=5, host="oracle")
    assert (report.messages, report.left_out, report.ok) == (7, 1, True)
    assert "of 7 messages (1 dead letter left out) at" in str(report)


def test_rows_of_one_id_and_os_keep_their_order() -> None:
    """R41: a second live row of one ID and Os would be a dead letter."""
    messages = [row("A", "a1", 1, k="K1"), {"retract": {"k": "K1"}}, row("A", "a1", 1, key=2, k="K2"), {"guarantee": 9}]
    found = story_of([m for _, m in take_messages(messages, REVISABLE_TYPES).messages], REVISABLE_TYPES)
    assert found.tied == ((0, 1, 2),)
    for number in range(30):
        flat = [m for batch in delivery(found, number, 0) for m in batch if not isinstance(m, Guarantee)]
        assert list(dict.fromkeys(flat)) == [each.message for each in found.told]


def test_several_providers_each_keep_their_own_promise() -> None:
    """R33: g is the smallest of all that are known."""
    messages = [
        {**row("A", "a1", 1), "source": "s1"},
        {"guarantee": 30, "source": "s1"},
        {**row("B", "b1", 5), "source": "s2"},
        {"guarantee": 30, "source": "s2"},
    ]
    report = check_order(ALERT, messages, runs=30, host="oracle")
    assert report.ok, str(report)
    assert report.messages == 2


def test_an_empty_file_is_no_failure() -> None:
    assert check_order(ALERT, [], runs=3, host="oracle").ok
    assert check_order(ALERT, [{"guarantee": 3}], runs=3, host="oracle").ok


def test_finite_memory_is_judged_where_it_can_be() -> None:
    """R35: of group-by only the payloads alive at g are promised."""
    story = story_of([], EventTypes())
    pattern, groups = plan_of_text(ALERT), plan_of_text(f"{TYPES} EVENT N FROM A AS a OUTPUT COUNT(*) AS n")
    assert WEAK in levels_for(pattern, story, Random(0))
    assert WEAK not in levels_for(groups, story, Random(0))
    assert all(level.memory.duration == FOREVER for level in levels_for(groups, story, Random(0)))
