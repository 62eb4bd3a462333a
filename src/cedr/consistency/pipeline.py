"""The pipeline: one standing query at one or several consistency levels, that any host can drive.

Paper: Section 5, Figure 7.  Readings: R33 to R41.  Deterministic, with no clock, no threads and no input or output of
its own: ``step`` takes a batch of messages with its CEDR time and gives what is said about it.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from cedr.consistency.admission.door import Arrivals
from cedr.consistency.batch import EventBatch
from cedr.consistency.clock import Clock
from cedr.consistency.compaction import Compaction
from cedr.consistency.composition import Said, messages_of
from cedr.consistency.emission.changes import Changes
from cedr.consistency.emission.time_cuts import stretches
from cedr.consistency.emitter import Emitter, Output, by_admission
from cedr.consistency.encoding import as_bytes, from_bytes
from cedr.consistency.gate import Gate
from cedr.consistency.measures import Measures
from cedr.consistency.run import Run
from cedr.model.dead_letter import DeadLetter
from cedr.model.event import Event
from cedr.model.level import STRONG, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Message
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.analyses.memory import Memory
from cedr.plan.analyses.open_ends import kept_to_their_ends
from cedr.plan.analyses.reads import reads_of_all
from cedr.plan.logical import Made, Node, Source, walk
from cedr.runtime.dataflow.build import AT_FIRST, Birth
from cedr.runtime.dataflow.dataflow import Dataflow
from cedr.runtime.dataflow.root import Root
from cedr.runtime.operators.contract import Line
from cedr.runtime.values.memory import keep_freed_memory


class Pipeline:
    """Standing queries at one or several levels each.

    All share what has arrived; those that admit the same messages share their operators; each has an emitter of its
    own.  ``plan`` is one query, with its ``levels``, or several outputs, which bring their own.

    Without ``all_streams`` messages of streams that no query reads are judged as far as each tells by itself, and not
    kept: that one repeats another, or uses its key again, is not known then.
    """

    def __init__(
        self,
        plan: Node | Sequence[Output],
        levels: ConsistencyLevel | Sequence[ConsistencyLevel],
        catalog: EventTypes,
        providers: Iterable[str] = (),
        *,
        all_streams: bool = True,
    ) -> None:
        keep_freed_memory()
        outputs = _outputs(plan, levels) if isinstance(plan, Node) else list(plan)
        reads = None if all_streams else reads_of_all(output.plan for output in outputs)
        self._arrivals = Arrivals(catalog, providers, reads=reads)
        self._clock = Clock()
        self._emitters: list[Emitter] = []
        for output in outputs:
            self._emitters.append(Emitter(output, self._gate(output.level), self._arrivals, self._clock))
        self._longest = self._asked_back()
        self._note_ends()
        self._runs = self._grouped()
        self.compaction = Compaction(self._arrivals)
        self._last: list[weakref.ref[Changes]] = []
        self._dropped: dict[str, bytes | None] = {}
        """Segments of outputs that are gone."""

    def _gate(self, level: ConsistencyLevel) -> Gate:
        """The gate of a level: that of other outputs, where it never had another level."""
        alike = (gate for gate in self._gates if gate.constant and gate.level == level)
        return next(alike, None) or Gate(level, self._arrivals, self._clock)

    @property
    def _gates(self) -> list[Gate]:
        return list(dict.fromkeys(emitter.gate for emitter in self._emitters))

    def _note_ends(self) -> None:
        """Of which event types Ve is read."""
        plans = {id(emitter.output.plan): emitter.output.plan for emitter in self._emitters}
        self._arrivals.forgetting.open_ended = set().union(*map(kept_to_their_ends, plans.values()))

    @property
    def levels(self) -> list[ConsistencyLevel]:
        """The present level of each output."""
        return [emitter.level for emitter in self._emitters]

    @property
    def guarantee(self) -> list[Time]:
        """g' of each output.  Reading: R36."""
        return [emitter.guarantee for emitter in self._emitters]

    def step(self, messages: Sequence[Message | EventBatch], cedr_time: Time) -> list[Changes]:
        """Take a batch, all of one CEDR time; what is said about it at each level.  Readings: R33, R40."""
        self._tidy()
        self._receive(messages, cedr_time)
        return self._speak(cedr_time)

    def whole(self, messages: Sequence[Message | EventBatch], cedr_time: Time) -> Iterator[list[Changes]]:
        """The same for all that there ever is, said in the order of Sync a stretch of time at a time.

        Everything is judged as one batch, and what is said is what ``step`` says; but it is never all in memory, and
        what belongs together is near.  What is said is to be read before the next is asked for.  Where something may be
        taken back or shortened there is one stretch only: below STRONG, with revisions, whose rows get their ends
        later, and with rows that are said before their end is known.
        """
        self._tidy()
        self._receive(messages, cedr_time)
        tables = self._arrivals.tables.values()
        finally_said = all(emitter.level == STRONG for emitter in self._emitters)
        finally_said &= all(emitter.root.relation.open_ended is None for emitter in self._emitters)
        if finally_said and self._arrivals.guarantee == FOREVER - 1 and all(table.plain.implicit for table in tables):
            for until in stretches([table.os.view for table in tables]):
                yield self._speak(cedr_time, until)
                self._tidy()
        yield self._speak(cedr_time)

    def _tidy(self) -> None:
        """Give up the room of what was said."""
        self._keep_changes()
        self.compaction.run_if_due(self._dataflows)

    def _receive(self, messages: Sequence[Message | EventBatch], cedr_time: Time) -> None:
        for gate in self._gates:  # fix m before the batch; what was frozen stays frozen (R34, R38)
            gate.memory = max(gate.memory, self._clock.ago(gate.level.memory, cedr_time))
            gate.feed.refuse_removals_before = gate.memory
        self._arrivals.receive(messages, cedr_time=cedr_time)
        self._arrivals.ledger.lateness.together = None
        self._clock.note(cedr_time, self._arrivals.high, self._longest)

    def _speak(self, cedr_time: Time, until: Time = FOREVER) -> list[Changes]:
        """``until``: as if the guarantee were no larger."""
        if len(self._runs) < len(self._gates):
            self._runs = [run for old in self._runs for run in old.split()]
        emitted = self._farewell(cedr_time)
        emitted |= {
            emitter: changes
            for run in self._runs
            for emitter, changes in zip(run.emitters, run.step(cedr_time, until), strict=True)
        }
        self._forget(until)
        changes = [emitted[emitter] for emitter in self._emitters]
        if any(emitter.leaving is not None for emitter in self._emitters):
            self._emitters = [emitter for emitter in self._emitters if emitter.leaving is None]
            self._changed()
        self._last = [weakref.ref(said) for said in changes]
        return changes

    def _grouped(self) -> list[Run]:
        """Runs for the outputs: those that admit the same messages share one."""
        return [Run(self._arrivals, emitters) for emitters in by_admission(self._emitters)]

    def roots(self) -> list[tuple[int, Root]]:
        """For each output the operators that make it, and the number of the run that these belong to."""
        runs = {emitter: number for number, run in enumerate(self._runs) for emitter in run.emitters}
        return [(runs[emitter], emitter.root) for emitter in self._emitters]

    @property
    def _dataflows(self) -> list[Dataflow]:
        return [run.dataflow for run in self._runs]

    # -- queries come and go ------------------------------------------------------------------------------------------

    def birth(self, *, retained: bool) -> Birth:
        """When a query begins that is added now: with what is known, or with what comes.  Reading: R44.

        Queries that begin with the same messages share operators; before the first message all do.
        """
        ledger = self._arrivals.ledger
        births = [emitter.output.birth for emitter in self._emitters]
        number = max((birth.number for birth in births), default=0) + 1
        if not self._clock.times:
            return AT_FIRST
        if retained or not ledger.serials:
            return Birth(number)
        fresh = (e.output.birth for e in self._emitters if not e.begun and e.output.birth.since == ledger.serials)
        return next(fresh, Birth(number, ledger.serials))

    def known_since(self, plan: Node) -> Time:
        """Since when all is known that bears on rows with a Vs from there on; FOREVER: never.  Reading: R44."""
        memory, found = Memory(plan), BEGINNING
        for node in walk(plan):
            if isinstance(node, Source):
                _, line, _ = self._arrivals.ledger.lines.get(node.type.name, (0, BEGINNING, BEGINNING))
                if line > BEGINNING:
                    reach = memory.reach(node)
                    found = FOREVER if reach == FOREVER else max(found, plus(line, reach + 1))
        return found

    def final_up_to(self, name: str) -> Time:
        """Up to which Vs what an output has emitted is not known any more, for it is final."""
        return self._named(name).line.vs

    def add(self, outputs: Sequence[Output]) -> None:
        """Run further outputs from the next step on.  Reading: R44."""
        for output in outputs:
            self._emitters.append(self._begun(output))
        self._changed()

    def replace(self, outputs: Sequence[Output]) -> None:
        """Put outputs in the place of those of the same names.  Reading: R44."""
        for output in outputs:
            old = self._named(output.name)
            emitter = self._begun(replace(output, level=old.level))
            emitter.replaces(old)
            self._emitters[self._emitters.index(old)] = emitter
            self._detach(old)
        self._changed()

    def remove(self, names: Sequence[str], *, retracting: bool = False) -> None:
        """Outputs that leave with the next step: what leaves last is the guarantee of everything.  Reading: R44."""
        for name in names:
            self._named(name).leaving = retracting

    def _named(self, name: str) -> Emitter:
        return next(emitter for emitter in self._emitters if emitter.output.name == name)

    def _begun(self, output: Output) -> Emitter:
        """An emitter for a further output, in the run of its gate."""
        emitter = Emitter(output, self._gate(output.level), self._arrivals, self._clock)
        run = next((run for run in self._runs if emitter.gate in run.gates), None)
        if run is None:
            self._runs.append(Run(self._arrivals, [emitter]))
        else:
            run.attach(emitter)
        return emitter

    def _detach(self, emitter: Emitter) -> None:
        """An output is gone, and what only it needs."""
        run = next(run for run in self._runs if emitter in run.emitters)
        run.detach([emitter])
        emitter.gate.leave()
        if not run.emitters:
            self._runs.remove(run)

    def _changed(self) -> None:
        self._note_ends()
        self._longest = self._asked_back()

    def _farewell(self, cedr_time: Time) -> dict[Emitter, Changes]:
        """What leaves last of outputs that go."""
        found = {emitter: emitter.last(cedr_time) for emitter in self._emitters if emitter.leaving is not None}
        for emitter in found:
            found[emitter].keep()
            self._dropped |= emitter.segments()
            self._detach(emitter)
        return found

    def heartbeat(self, high: Time) -> None:
        """What the next step brings elsewhere, where a host splits the input by key: h counts all of it.  Reading: R33.

        Of what comes with it nothing is before or after another: late is what lies below the h of before.
        """
        ledger = self._arrivals.ledger
        ledger.lateness.together = ledger.high
        ledger.high = max(ledger.high, high)

    def said_elsewhere(self, said: Sequence[Said], made: Made) -> Sequence[Message | EventBatch]:
        """What other pipelines said in one step, as messages for the next one here.  Reading: R32."""
        return messages_of(said, made, self._arrivals)

    def compact(self) -> None:
        """Drop from the tables what nobody holds; done now and then by itself."""
        self._keep_changes()
        self.compaction.run(self._dataflows)

    def _keep_changes(self) -> None:
        """What the last step said may still be held by somebody who has not read it."""
        for said in self._last:
            changes = said()
            if changes is not None:
                changes.keep()
        self._last = []

    def _asked_back(self) -> int:
        """How far back on the server's clock a level may ask."""
        bounds = [
            bound.duration
            for emitter in self._emitters
            for bound in emitter.bounds()
            if bound.cedr_time and bound.duration < FOREVER
        ]
        return max(bounds, default=0)

    def _forget(self, until: Time) -> None:
        lines: dict[str, Line] = {}
        for run in self._runs:
            lines.update((stream, line & lines.get(stream, line)) for stream, line in run.needed.items())
        self._arrivals.forgetting.forget(lines, min(self._arrivals.guarantee, until))

    def switch(self, level: ConsistencyLevel, *, of: int = 0, at_sync_point: bool = False) -> None:
        """Go on at another level from the next batch, or from the next sync point of the output.  Reading: R38."""
        self._emitters[of].switch(level, at_sync_point=at_sync_point)
        self._longest = self._asked_back()

    def at_sync_point(self, of: int = 0) -> bool:
        """Whether nothing that an output said is provisional.  Reading: R38."""
        return self._emitters[of].at_sync_point

    def said(self, of: int = 0) -> list[Event]:
        """The rows said and not taken back, as far as they may still change."""
        return self._emitters[of].emitted()

    def dead_letters(self, of: int = 0) -> list[DeadLetter]:
        """What could not be used, with reasons; with retractions that still wait for their row."""
        late = self._emitters[of].feed.too_late if self._emitters else []
        letters = [*self._arrivals.dead_letters(final=True), *late]
        return sorted(letters, key=lambda letter: letter.position)

    def take_dead_letters(self) -> list[DeadLetter]:
        """The dead letters decided since the last time, of all levels together; they are held no longer."""
        letters = self._arrivals.drain_dead_letters()
        for emitter in self._emitters:
            letters.extend(emitter.feed.too_late)
            emitter.feed.too_late.clear()
        return sorted(letters, key=lambda letter: letter.position)

    def held(self, of: int = 0) -> int:
        """How many accepted messages wait to be admitted."""
        return self._emitters[of].feed.held

    def state(self) -> dict[str, bytes | None]:
        """The segments of bytes that have changed since the last time; None where one is to be dropped.

        What is saved are the arrivals and what was said: the operators' own state follows from these.
        """
        changes = self._arrivals.state() | self._dropped
        self._dropped = {}
        for run in self._runs:
            changes.update(run.state())
        changes["clock"] = as_bytes([self._clock.times, self._clock.highs])
        return changes

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Go on from what was saved: on a fresh pipeline of the same plan and as many levels."""
        for gate in self._gates:
            gate.feed.close()
        self._arrivals.restore(segments)
        self._clock.times, self._clock.highs = from_bytes(segments["clock"])
        gates = {place: Gate(STRONG, self._arrivals, self._clock) for place in range(self._arrivals.saved_feeds)}
        for number, emitter in enumerate(self._emitters):
            emitter.restore(segments, gates, number)
        for gate in gates.values():
            if not gate.readers:
                gate.feed.close()
        for run in self._runs:
            run.close()
        self._longest = self._asked_back()
        self._runs = self._grouped()
        for run in self._runs:
            run.begin(self._arrivals.guarantee)

    def measures(self) -> list[Measures]:
        """What each level has taken in, holds, and has said."""
        runs = {emitter: number for number, run in enumerate(self._runs) for emitter in run.emitters}
        return [emitter.measures(runs[emitter]) for emitter in self._emitters]


def _outputs(plan: Node, levels: ConsistencyLevel | Sequence[ConsistencyLevel]) -> list[Output]:
    """The outputs of one query."""
    chosen = [levels] if isinstance(levels, ConsistencyLevel) else list(levels)
    return [Output(str(number), plan, level) for number, level in enumerate(chosen)]
