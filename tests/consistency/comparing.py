"""The columnar engine beside the naive one, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cedr.consistency.admission.stream_rows import PLAIN
from cedr.consistency.emitter import Output
from cedr.model.intake import DeadLetter
from cedr.model.level import ConsistencyLevel
from cedr.model.retractions import retract_fault
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract
from cedr.model.sync import sync_of
from cedr.model.time import FOREVER, Time
from cedr.plan.logical import Node
from cedr.semantics.levels import Reference
from tests.consistency.engines import Pipeline, columnar
from tests.properties.standing import shown


class Switch(NamedTuple):
    """Go to another level before a step."""

    of: int
    level: ConsistencyLevel
    at_sync_point: bool = False


@dataclass(frozen=True)
class Course:
    """How a run goes: what happens at which step, counted from 0."""

    switches: Mapping[int, Sequence[Switch]] = field(default_factory=dict)
    """Before the step."""
    saved: Collection[int] = ()
    """After the step the state is saved."""
    restarts: Collection[int] = ()
    """After the step the engine is lost; a fresh one starts from what was saved last and repeats the steps since."""
    columns: Collection[int] = ()
    """The batch is given as columns, as far as that goes."""
    times: Sequence[Time] | None = None
    """The CEDR times of the steps; 1, 2 and so on without."""
    providers: tuple[str, ...] = ()
    compacts: bool = False
    """Tables are compacted as soon as there is something to drop, each for itself."""

    def time(self, number: int) -> Time:
        return number + 1 if self.times is None else self.times[number]


PLAIN_COURSE = Course()
SAVES = hasattr(Pipeline, "restore")


def compare(
    plan: Node,
    levels: ConsistencyLevel | Sequence[ConsistencyLevel],
    catalog: EventTypes,
    batches: Sequence[Sequence[Message]],
    course: Course = PLAIN_COURSE,
) -> None:
    """Both engines say the same at every step: changes, guarantees, rows, what is held, dead letters."""
    found = (levels,) if isinstance(levels, ConsistencyLevel) else tuple(levels)
    compare_outputs([Output(str(of), plan, level) for of, level in enumerate(found)], catalog, batches, course)


def compare_outputs(
    outputs: Sequence[Output],
    catalog: EventTypes,
    batches: Sequence[Sequence[Message]],
    course: Course = PLAIN_COURSE,
) -> None:
    """The outputs of one pipeline are what the naive engine gives of each alone.  Reading: R43."""
    _Comparison(tuple(outputs), catalog, batches, course).run()


def _made(outputs: Sequence[Output], catalog: EventTypes, course: Course) -> Pipeline:
    pipeline = Pipeline(outputs, (), catalog, course.providers)
    if course.compacts:
        pipeline.compaction.spare = 0
    return pipeline


class _Comparison:
    def __init__(
        self,
        outputs: tuple[Output, ...],
        catalog: EventTypes,
        batches: Sequence[Sequence[Message]],
        course: Course,
    ) -> None:
        self.catalog, self.batches, self.course = catalog, list(batches), course
        self.references = [Reference(each.plan, each.level, catalog, course.providers) for each in outputs]
        self.fresh = lambda: _made(outputs, catalog, course)
        self.pipeline = self.fresh()
        self.expected: list[list[list[Change]]] = []
        self.segments: dict[str, bytes] = {}
        self.saved_at = -1
        self.received = 0
        self.known: set[str] = set()
        self.late: set[int] = set()
        self.shortening: set[int] = set()
        self.forgetful = [_forgets(output.level, course, of) for of, output in enumerate(outputs)]
        self.repeated = 0
        self.highs: list[Time] = []

    def run(self) -> None:
        for number, batch in enumerate(self.batches):
            for switch in self.course.switches.get(number, ()):
                self.references[switch.of].switch(switch.level, at_sync_point=switch.at_sync_point)
            batch = self.batches[number] = [message for message in batch if not self.misleads(message)]
            self.expected.append([e.step(batch, self.course.time(number)) for e in self.references])
            self.note(number)
            self.highs.append(self.references[0]._intake.high)
            self.take(number)
            self.check_standing(number)
            if number in self.course.saved and SAVES:
                self.save(number)
            if number in self.course.restarts and SAVES:
                self.restart(number)
                self.check_standing(number)

    def note(self, number: int) -> None:
        """Which messages are about a key that was known before, or shorten a row: it may be forgotten by now."""
        now = set[str]()
        for message in self.batches[number]:
            self.received += 1
            if isinstance(message, Insert | Retract):
                if message.lineage_key in self.known | now:
                    self.late.add(self.received)
                    self.repeated += isinstance(message, Insert)
                if isinstance(message, Insert):
                    now.add(message.lineage_key)
                elif message.occurrence_end is None and message.valid_end is not None:
                    self.shortening.add(self.received)
        self.known |= now

    def misleads(self, message: Message) -> bool:
        """Whether a retraction of a forgotten event raises h further than its Sync, or should raise nothing.

        Nothing is left to tell that it is wrong, or that it removes its row.  Reading: R37.
        """
        end = message.first_end if isinstance(message, Retract) else None
        if end is None or not isinstance(message, Retract) or message.lineage_key in _keys(self.pipeline):
            return False
        intake = self.references[0]._intake
        known = intake._lineages.get(message.lineage_key)
        if known is None or end <= intake.high:
            return False
        return retract_fault(known.event, message, self.catalog) is not None or sync_of(known.event, message) < end

    def forgettable_held(self, reference: Reference) -> int:
        """How many of the retractions held may be about forgotten events."""
        waiting = (a for n, a in enumerate(reference._intake.accepted) if n not in reference._admitted)
        return sum(isinstance(a.message, Retract) and a.position in self.late for a in waiting)

    def take(self, number: int) -> None:
        """One step of the columnar engine, and whether it said what it should."""
        for switch in self.course.switches.get(number, ()):
            self.pipeline.switch(switch.level, of=switch.of, at_sync_point=switch.at_sync_point)
        batch: Sequence[object] = self.batches[number]
        if number in self.course.columns:
            batch = columnar(self.batches[number], self.catalog)
        every = self.pipeline.step(batch, self.course.time(number))
        assert self.pipeline._arrivals.high == self.highs[number], f"step {number}: h"
        assert len(every) == len(self.references)
        for of, (found, expected) in enumerate(zip(every, self.expected[number], strict=True)):
            changes = found.to_changes()
            where = f"step {number}, level {of} ({self.references[of].level})"
            assert_same(told(changes), told(expected), f"{where}: what is said")
            assert _order(changes) == sorted(_order(changes)), f"{where}: not in the order of Sync"
            guarantees = [c.message.time for c in expected if isinstance(c.message, Guarantee)]
            assert found.guarantee == (guarantees[0] if guarantees else None), f"{where}: guarantee"
            assert (found.inserts, found.retractions) == tuple(
                sum(c.kind == kind for c in expected) for kind in ("insert", "retract")
            ), f"{where}: counts"
            assert len(found) == len(expected), f"{where}: length"

    def check_standing(self, number: int) -> None:
        measures = self.pipeline.measures()
        for of, reference in enumerate(self.references):
            where = f"after step {number}, level {of} ({reference.level})"
            # rows that are final may be forgotten: that they are is what the changes of later steps show
            rows = Counter(map(shown, self.pipeline.said(of)))
            assert_same(rows - Counter(map(shown, reference.said)), Counter(), f"{where}: rows said")
            assert self.pipeline.guarantee[of] == reference.guarantee, f"{where}: guarantee"
            assert self.pipeline.levels[of] == reference.level, f"{where}: level"
            assert self.pipeline.at_sync_point(of) == reference.at_sync_point, f"{where}: at a sync point"
            if self.forgetful[of]:
                continue  # what memory has let go of is not waited for
            fewest, most = reference.held - self.forgettable_held(reference), reference.held + self.repeated
            assert fewest <= measures[of].held <= most, f"{where}: messages held"
            self.check_letters(of, where)

    def check_letters(self, of: int, where: str) -> None:
        """The same messages are dead letters, for the same reasons.

        The outputs share what has arrived: where another one forgets, a retraction that shortens a row that never came
        may be about a forgotten one, and is then counted instead.  Reading: R37.
        """
        found, expected = self.pipeline.dead_letters(of), self.references[of].dead_letters
        if any(self.forgetful):
            there = {letter.position for letter in found}
            gone = {letter.position for letter in expected if letter.code == _ORPHAN} & self.shortening - there
            assert len(gone - self.late) <= self.pipeline._arrivals.ignored, f"{where}: neither refused nor counted"
            expected = [letter for letter in expected if letter.position not in gone]
        same_letters(found, expected, self.late, where)

    def save(self, number: int) -> None:
        for name, segment in self.pipeline.state().items():
            if segment is None:
                self.segments.pop(name, None)
            else:
                self.segments[name] = segment
        self.saved_at = number

    def restart(self, number: int) -> None:
        self.pipeline = self.fresh()
        if self.saved_at >= 0:
            self.pipeline.restore(dict(self.segments))
        for again in range(self.saved_at + 1, number + 1):
            self.take(again)


def _forgets(level: ConsistencyLevel, course: Course, of: int) -> bool:
    """Whether an output has a finite memory at first, or after a switch."""
    switched = [s.level for some in course.switches.values() for s in some if s.of == of]
    return any(each.memory.duration < FOREVER for each in (level, *switched))


def _keys(pipeline: Pipeline) -> set[str]:
    """The keys of the events that are not forgotten."""
    found, ledger = set[str](), pipeline._arrivals.ledger
    for source in ledger.sources.values():
        plain = source.inserts(np.flatnonzero(source.kind.view == PLAIN), ledger.names)
        found.update(message.lineage_key for message in plain)
        found.update(key for story in source.stories.values() for key in story.rows)
    return found


def told(changes: Sequence[Change]) -> Counter[Hashable]:
    """The changes without their order: kind, row, ends, K, CEDR time."""
    return Counter(map(_telling, changes))


def _telling(change: Change) -> Hashable:
    message = change.message
    if isinstance(message, Guarantee):
        return "guarantee", message.time, change.cedr_time
    assert change.event is not None
    ends = (message.occurrence_end, message.valid_end) if isinstance(message, Retract) else ()
    if isinstance(message, Insert):
        assert shown(message.event) == shown(change.event)
    return change.kind, shown(change.event), ends, message.lineage_key, change.cedr_time


def _order(changes: Sequence[Change]) -> list[tuple[Time, int]]:
    """The order in which a batch leaves: Sync, retractions first; the guarantee last.  Readings: R7, R40."""
    found = []
    for change in changes:
        if isinstance(change.message, Guarantee):
            found.append((2**63, 2))
        elif isinstance(change.message, Retract):
            assert change.event is not None
            found.append((sync_of(change.event, change.message), 0))
        else:
            assert change.event is not None
            found.append((change.event.occurrence_start, 1))
    return found


def assert_same(found: Counter[Hashable], expected: Counter[Hashable], what: str) -> None:
    """Equality of bags, with a difference that can be read."""
    if found != expected:
        more, less = found - expected, expected - found
        lines = [what, *(f"  too much: {x}" for x in more.elements()), *(f"  missing: {x}" for x in less.elements())]
        raise AssertionError("\n".join(lines))


_ORPHAN = "retraction-without-insert"
_UNKNOWN = {None, "broken-guarantee", _ORPHAN}


def same_letters(
    found: Sequence[DeadLetter], expected: Sequence[DeadLetter], late: Collection[int], where: str
) -> None:
    """The same messages are dead letters, for the same reasons.

    What is said of an event that is forgotten may be taken for a repetition, for a broken guarantee, or for a
    retraction of what never was: nothing is left to tell these apart.  Readings: R37, R39, R41.
    """
    one, other = ({letter.position: letter.code for letter in letters} for letters in (found, expected))
    for position in one.keys() | other.keys():
        code, should = one.get(position), other.get(position)
        if code != should and not (position in late and code in _UNKNOWN):
            message = f"{where}: message {position} is {code} where it should be {should}"
            raise AssertionError(message)
