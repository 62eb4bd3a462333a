"""The clauses of the operator contract as checks: each drives a plan through one run, and fails where it is broken.

The contract is ``cedr.runtime.operators.contract``; the numbers are its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple
from unittest.mock import patch

from cedr.model.event import primitive
from cedr.model.schema import EventTypes
from cedr.model.stream import Message, insert
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan.logical import Node
from cedr.runtime.operators.contract import Frontier, Line
from cedr.runtime.operators.mechanism.arrangement import Arrangement, Pairs, Probes
from cedr.runtime.operators.mechanism.value_index import ValueIndex
from cedr.runtime.store.segments import Places, Segments, Sorted
from cedr.semantics.evaluate import evaluate
from tests.conformance.driving import Admission, Driven, look


class Story(NamedTuple):
    """What arrives, and what readers ask for while it does."""

    catalog: EventTypes
    batches: Sequence[Sequence[Message]]
    lines: Sequence[int]
    """Up to which Vs nobody needs rows after each step, as lengths before the newest one."""
    memories: tuple[int, int]
    """How far two readers remember, as lengths before the newest Vs."""
    restart: int
    """After which step a new operator takes over."""
    while_alive: bool = False
    """Whether readers need rows until their Ve, not their Vs."""


Check = Callable[[Node, Story], None]


def meaning(plan: Node, story: Story) -> None:
    """Clause 1: the rows add up to the denotation of what was taken in, after every batch."""
    driven = Driven(plan, Admission(story.catalog))
    for time, batch in enumerate(story.batches, 1):
        driven.step(driven.admission.take(batch, time))
        meant = Counter(look(row) for row in evaluate(plan, driven.admission.tables()))
        assert driven.table() == meant, f"after batch {time}"


def frontier(plan: Node, story: Story) -> None:
    """Clause 2: what is final stays, what is guaranteed stays *to* its time, and neither moves back.

    A row that is final by its Vs, with an end that is not, may get another end that is not.
    """
    driven = Driven(plan, Admission(story.catalog))
    before = Frontier(BEGINNING, BEGINNING, BEGINNING)
    for time, batch in enumerate(story.batches, 1):
        to_guarantee, final = driven.table_to(before.guarantee), driven.final(before)
        driven.step(driven.admission.take(batch, time))
        assert driven.final(before) == final, f"batch {time} changes what was final"
        assert driven.table_to(before.guarantee) == to_guarantee, f"batch {time} changes what was guaranteed"
        for each, old, new in zip(Frontier._fields, before, driven.frontier, strict=True):
            assert new >= old, f"batch {time} moves {each} back"
        before = driven.frontier


def demand(plan: Node, story: Story) -> None:
    """Clause 3: what nobody demands can be withheld; rows after the line come out as if everything were known."""
    admission = Admission(story.catalog)
    complete, released = Driven(plan, admission), Driven(plan, admission)
    line = Line(BEGINNING, BEGINNING, BEGINNING if story.while_alive else FOREVER)
    for time, batch in enumerate(story.batches, 1):
        changes = admission.take(batch, time)
        complete.step(changes)
        released.step(changes)
        assert released.table(line) == complete.table(line), f"after batch {time}, line {line}"
        line = _next_line(line, released, story, time)
        released.release(line)


def snapshot(plan: Node, story: Story) -> None:
    """Clause 4: after a restart everything goes on as if nothing had happened."""
    driven = Driven(plan, Admission(story.catalog))
    other: Driven | None = None
    line = Line(BEGINNING, BEGINNING, BEGINNING if story.while_alive else FOREVER)
    for time, batch in enumerate(story.batches, 1):
        changes = driven.admission.take(batch, time)
        driven.step(changes)
        if other is not None:
            other.step(changes)
            assert other.table(line) == driven.table(line), f"after batch {time}, line {line}"
            assert other.frontier == driven.frontier, f"after batch {time}"
        line = _next_line(line, driven, story, time)
        driven.release(line)
        if other is not None:
            other.release(line)
        if time == story.restart:
            other = driven.restarted(line)
            assert other.table(line) == driven.table(line), f"restarted after batch {time}, line {line}"


def horizon(plan: Node, story: Story) -> None:
    """Clause 7: what begins later may be withheld, and ends later may be others, until somebody asks for them."""
    admission = Admission(story.catalog)
    complete, asked = Driven(plan, admission), Driven(plan, admission)
    until = BEGINNING
    for time, batch in enumerate(story.batches, 1):
        until = max(until, _behind(admission, story.lines[(time - 1) % len(story.lines)]))
        changes = admission.take(batch, time)
        complete.step(changes)
        asked.step(changes, until)
        assert asked.table_until(until) == complete.table_until(until), f"after batch {time}, asked until {until}"
    asked.step({})
    assert asked.table() == complete.table(), "asked for everything"


def readers(plan: Node, story: Story) -> None:
    """Clause 5: two readers of one dataflow get the guarantees that each would get alone."""
    admission = Admission(story.catalog)
    alone, shared = [Driven(plan, admission) for _ in story.memories], Driven(plan, admission)
    for time, batch in enumerate(story.batches, 1):
        memories = [_behind(admission, memory) for memory in story.memories]
        changes = admission.take(batch, time)
        shared.memory = max(shared.memory, min(memories))
        shared.step(changes)
        for driven, memory in zip(alone, memories, strict=True):
            driven.memory = max(driven.memory, memory)
            driven.step(changes)
            found = shared.root.frontiers(driven.memory)[-1]
            assert found == driven.frontier, f"after batch {time}, m = {driven.memory}"


def cost(plan: Node, story: Story) -> None:
    """Clause 6: a step looks at as many rows whether little or much is held that it does not affect."""
    few, many = (_looked_at(plan, story.catalog, copies) for copies in (2, 40))
    assert few == many


CLAUSES: dict[str, Check] = {
    "1 meaning": meaning,
    "2 frontier": frontier,
    "3 demand": demand,
    "4 snapshot": snapshot,
    "5 readers": readers,
    "6 cost": cost,
    "7 horizon": horizon,
}


def _behind(admission: Admission, length: int) -> Time:
    high = admission.arrivals.high
    return BEGINNING if high == BEGINNING or length == FOREVER else high - length


def _next_line(line: Line, driven: Driven, story: Story, time: int) -> Line:
    """The next line of a reader: it needs everything that is not final, as a reader that never forgets does."""
    wanted = _behind(driven.admission, story.lines[(time - 1) % len(story.lines)])
    final, ended = driven.frontier.final, driven.frontier.ended
    if story.while_alive:
        until = min(wanted, final, ended)
        return Line(max(line.vs, until), BEGINNING, max(line.vs, until))
    ended = max(line.ended if line.vs > BEGINNING else BEGINNING, ended)
    return Line(max(line.vs, min(wanted, final)), ended=ended)


# -- cost -------------------------------------------------------------------------------------------------------------


_FAR, _TYPES = 1_000, "ABCAB"


def _looked_at(plan: Node, catalog: EventTypes, copies: int) -> int:
    """How many rows a last batch finds and moves, after so many batches like it, each long before the next."""
    driven = Driven(plan, Admission(catalog))
    for copy in range(copies):
        driven.step(driven.admission.take(_batch(copy), copy + 1))
    changes = driven.admission.take(_batch(copies), copies + 1)
    with counting() as counted:
        driven.step(changes)
    return counted[0]


def _batch(copy: int) -> list[Message]:
    payload = {"k": 1, "v": 1, "s": "x"}
    return [
        insert(primitive(name, f"{name}{copy}-{at}", copy * _FAR + at, copy * _FAR + at + len(_TYPES), payload=payload))
        for at, name in enumerate(_TYPES)
    ]


@contextmanager
def counting() -> Iterator[list[int]]:
    """How many rows the sorted stores find, take in and give up."""
    counted = [0]
    locate, add, remove = Sorted.locate, Segments.add, Segments.remove
    alive, by_value = Arrangement.alive, ValueIndex.alive

    def located(self: Sorted, *given: object) -> Places:
        found: Places = locate(self, *given)  # type: ignore[arg-type]
        counted[0] += found.total
        return found

    def found_alive(self: Arrangement, *given: object) -> Iterator[Pairs]:
        for found in alive(self, *given):  # type: ignore[arg-type]
            counted[0] += len(found.rows)
            yield found

    def found_by_value(self: ValueIndex, probes: Probes, places: Places) -> Iterator[Pairs]:
        counted[0] += places.total
        return by_value(self, probes, places)

    def added(self: Segments, *given: object) -> None:
        counted[0] += len(given[2])  # type: ignore[arg-type]
        add(self, *given)  # type: ignore[arg-type]

    def removed(self: Segments, *given: object) -> None:
        counted[0] += len(given[2])  # type: ignore[arg-type]
        remove(self, *given)  # type: ignore[arg-type]

    with (
        patch.object(Sorted, "locate", located),
        patch.object(Arrangement, "alive", found_alive),
        patch.object(ValueIndex, "alive", found_by_value),
        patch.object(Segments, "add", added),
        patch.object(Segments, "remove", removed),
    ):
        yield counted
