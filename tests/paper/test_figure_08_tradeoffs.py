"""Figure 8: what the levels cost on an orderly and on a disorderly stream.

| Consistency | Orderliness | Blocking | State Size | Output Size |
| Strong      | High        | Low      | Low        | Minimal     |
|             | Low         | High     | High       | Minimal     |
| Middle      | High        | None     | Low        | Low         |
|             | Low         | None     | High       | High        |
| Weak        | High        | None     | Low-       | Low-        |
|             | Low         | None     | Low-       | Low-        |

The table is qualitative: what is tested are its orderings, not its numbers.  Blocking is how many messages wait, summed
over the steps; state is how far back of the newest time an input can still matter (the naive engine itself forgets
nothing); output is how many messages leave.  "Orderliness is measured in terms of the frequency of application declared
sync points".
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from cedr.model.event import primitive
from cedr.model.level import MIDDLE, STRONG, WEAK, ConsistencyLevel
from cedr.model.schema import EventType, EventTypes
from cedr.model.stream import Guarantee, Insert, Message, insert
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_text
from cedr.semantics.levels import Reference

TYPES = EventTypes({name: EventType(name) for name in "AB"})
PLAN = compile_text("EVENT Q WHEN NOT(B, SEQUENCE(A AS x, A AS y, 4))", TYPES).queries["Q"].plan
LEVELS = {"strong": STRONG, "middle": MIDDLE, "weak": WEAK}
LENGTH = 24


def orderly() -> list[Message]:
    """A at even times, B one after every third of them; a sync point after each message and at the end."""
    events = sorted([*((2 * n, "A") for n in range(LENGTH)), *((6 * n + 1, "B") for n in range(LENGTH // 3))])
    said = [m for t, name in events for m in (insert(primitive(name, f"{name}{t}", t)), Guarantee(t))]
    return [*said, Guarantee(3 * LENGTH)]


def disorderly() -> list[Message]:
    """The same events, all B half the stream late; a sync point at the end only."""
    events = [m for m in orderly() if isinstance(m, Insert)]
    arrival = {m: m.event.valid_start + (LENGTH if m.event.stream == "B" else 0) for m in events}
    return [*sorted(events, key=lambda m: arrival[m]), Guarantee(3 * LENGTH)]


class Cost(NamedTuple):
    """The columns of Figure 8."""

    blocking: int
    state: int
    output: int


def cost(level: ConsistencyLevel, messages: list[Message]) -> Cost:
    """Runs the stream, one message a step."""
    engine = Reference(PLAN, level, TYPES)
    blocking = state = output = 0
    newest, guarantee, received = 0, -1, list[int]()
    for number, message in enumerate(messages, 1):
        if isinstance(message, Guarantee):
            guarantee = message.time
        elif isinstance(message, Insert):
            newest = max(newest, message.event.valid_start)
            received.append(message.event.valid_start)
        output += sum(change.kind != "guarantee" for change in engine.step([message], number))
        blocking += engine.held
        horizon = guarantee if level.memory.duration == FOREVER else max(guarantee, newest - level.memory.duration)
        state = max(state, sum(time + 4 > horizon for time in received))  # what a scope of 4 can still reach
    return Cost(blocking, state, output)


STREAMS = {"high": orderly(), "low": disorderly()}
COSTS = {(name, order): cost(level, stream) for name, level in LEVELS.items() for order, stream in STREAMS.items()}


def test_strong_blocks_the_more_the_less_order_there_is() -> None:
    """Figure 8, column Blocking: Low, High; None for middle and weak."""
    assert COSTS["strong", "high"].blocking < COSTS["strong", "low"].blocking
    assert COSTS["strong", "high"].blocking <= 2 * LENGTH
    assert all(COSTS[name, order].blocking == 0 for name in ("middle", "weak") for order in ("high", "low"))


def test_strong_and_middle_have_the_same_state_and_weak_less() -> None:
    """Figure 8, column State Size: "the middle and strong consistency levels have the same state size"."""
    for order in ("high", "low"):
        assert COSTS["strong", order].state == COSTS["middle", order].state
        assert COSTS["weak", order].state <= COSTS["middle", order].state
    assert COSTS["strong", "high"].state < COSTS["strong", "low"].state
    assert COSTS["weak", "low"].state < COSTS["middle", "low"].state


def test_output_is_minimal_high_and_low() -> None:
    """Figure 8, column Output Size: strong says each row once; middle repairs; weak repairs only what lives."""
    assert COSTS["strong", "high"].output == COSTS["strong", "low"].output
    for order in ("high", "low"):
        assert COSTS["strong", order].output <= COSTS["weak", order].output <= COSTS["middle", order].output
    assert COSTS["middle", "high"].output < COSTS["middle", "low"].output
    assert COSTS["weak", "low"].output < COSTS["middle", "low"].output


@pytest.mark.parametrize("name", LEVELS)
def test_when_events_are_ordered_strong_costs_little_more(name: str) -> None:
    """Figure 8: "When events are ordered, the strong level of consistency may be enforced with marginal added cost"."""
    assert COSTS["strong", "high"].state <= COSTS[name, "high"].state + 2
    assert COSTS["strong", "high"].output <= COSTS[name, "high"].output
