"""Several outputs in one pipeline beside a pipeline for each of them alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cedr.consistency.emitter import Output
from cedr.consistency.pipeline import Pipeline
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Message
from tests.consistency.comparing import Course, Switch, assert_same, told
from tests.consistency.engines import columnar


class Running:
    """A pipeline that is saved and lost as its course says."""

    def __init__(self, outputs: Sequence[Output], catalog: EventTypes, course: Course) -> None:
        self.outputs, self.catalog, self.course = list(outputs), catalog, course
        self.pipeline = self.fresh()
        self.segments: dict[str, bytes] = {}
        self.since: list[Sequence[Message]] = []
        """The batches since the state was saved."""

    def fresh(self) -> Pipeline:
        pipeline = Pipeline(self.outputs, (), self.catalog, self.course.providers)
        if self.course.compacts:
            pipeline.compaction.spare = 0
        return pipeline

    def step(self, batch: Sequence[Message], number: int, switches: Sequence[Switch] = ()) -> list[list[Change]]:
        """What each output emits; then the state is saved, and the pipeline lost, where the course says so."""
        for switch in switches:
            self.pipeline.switch(switch.level, of=switch.of, at_sync_point=switch.at_sync_point)
        given = columnar(batch, self.catalog) if number in self.course.columns else batch
        found = [changes.to_changes() for changes in self.pipeline.step(given, self.course.time(number))]
        if number in {*self.course.saved, *self.course.restarts}:
            self.save()
        if number in self.course.restarts:
            self.restart()
        return found

    def save(self) -> None:
        for name, segment in self.pipeline.state().items():
            if segment is None:
                self.segments.pop(name, None)
            else:
                self.segments[name] = segment

    def restart(self) -> None:
        self.pipeline = self.fresh()
        self.pipeline.restore(dict(self.segments))


def together_as_alone(
    outputs: Sequence[Output], catalog: EventTypes, batches: Sequence[Sequence[Message]], course: Course
) -> None:
    """Each output of one pipeline emits at every step what it emits in a pipeline of its own.  Reading: R43."""
    together = Running(outputs, catalog, course)
    alone = [Running([output], catalog, course) for output in outputs]
    for number, batch in enumerate(batches):
        switches: Mapping[int, list[Switch]] = {of: [] for of in range(len(outputs))}
        for switch in course.switches.get(number, ()):
            switches[switch.of].append(switch)
        found = together.step(batch, number, [switch for some in switches.values() for switch in some])
        for of, running in enumerate(alone):
            (expected,) = running.step(batch, number, [switch._replace(of=0) for switch in switches[of]])
            where = f"step {number}, {outputs[of].name} ({outputs[of].level})"
            assert_same(told(found[of]), told(expected), f"{where}: what is emitted")
