"""Queries that come, change and go while the stream runs: R44, against the naive engine.

Paper: Section 5, Figure 7.  Readings: R33, R34, R43, R44.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cedr.consistency.emitter import Output
from cedr.language.syntax import File
from cedr.model.level import ConsistencyLevel
from cedr.model.time import FOREVER, plus
from cedr.testing import strategies as some
from tests.consistency.comparing import Course, assert_same, told
from tests.consistency.scenarios import Arrival, by_providers, in_any_order, plain
from tests.consistency.together import Running
from tests.properties.coming_and_going import Expected
from tests.properties.standing import PLAIN, plan_of

QUERIES = some.patterns(PLAIN, depth=2)
SOME = settings(max_examples=max(10, settings.default.max_examples // 2))


@dataclass(frozen=True)
class Happening:
    """What happens to the queries before a step."""

    step: int
    kind: str
    file: File
    level: ConsistencyLevel
    of: int


HAPPENINGS = st.lists(
    st.builds(
        Happening,
        st.integers(0, 5),
        st.sampled_from(("now", "retained", "replace", "remove", "retract")),
        QUERIES,
        some.levels(),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=4,
)
COURSES = st.builds(
    Course,
    restarts=st.sets(st.integers(0, 6)),
    columns=st.sets(st.integers(0, 6)),
    compacts=st.booleans(),
)


class Both:
    """The pipeline, and what is expected of it."""

    def __init__(self, outputs: Sequence[Output], arrival: Arrival, course: Course) -> None:
        self.live = Running(outputs, arrival.catalog, course)
        self.expected = Expected(outputs, arrival.catalog, course)
        self.catalog, self.leaving = arrival.catalog, set[str]()

    def happens(self, event: Happening, number: int) -> None:
        pipeline, names = self.live.pipeline, [output.name for output in self.live.outputs]
        names = [name for name in names if name not in self.leaving]
        if event.kind in {"now", "retained"}:
            self.add(event, f"Q{number}", retained=event.kind == "retained")
        elif names:
            name = names[event.of % len(names)]
            if event.kind == "replace":
                self.replace(event, name)
            else:
                self.leaving.add(name)
                pipeline.remove([name], retracting=event.kind == "retract")
                self.expected.leaving[name] = event.kind == "retract"

    def add(self, event: Happening, name: str, *, retained: bool) -> None:
        pipeline, plan = self.live.pipeline, plan_of(event.file, self.catalog)
        start = pipeline.known_since(plan) if retained else -FOREVER
        if start == FOREVER:
            return
        output = Output(name, plan, event.level, pipeline.birth(retained=retained), start)
        pipeline.add([output])
        self.live.outputs.append(output)
        self.expected.add(output, retained=retained)

    def replace(self, event: Happening, name: str) -> None:
        pipeline, plan = self.live.pipeline, plan_of(event.file, self.catalog)
        known = pipeline.known_since(plan)
        if known == FOREVER:
            return
        (place,) = (of for of, output in enumerate(self.live.outputs) if output.name == name)
        start = max(known, plus(pipeline.final_up_to(name), 1))
        level = pipeline.levels[place]
        output = Output(name, plan, level, pipeline.birth(retained=True), start)
        pipeline.replace([output])
        self.live.outputs[place] = output
        self.expected.replace(output)

    def step(self, batch: Sequence[object], number: int) -> None:
        names = [output.name for output in self.live.outputs]
        self.live.outputs = [output for output in self.live.outputs if output.name not in self.leaving]
        self.leaving.clear()
        expected = self.expected.step(batch, number)  # type: ignore[arg-type]
        for name, found in zip(names, self.live.step(batch, number), strict=True):  # type: ignore[arg-type]
            assert_same(told(found), told(expected[name]), f"step {number}, {name}: what is emitted")


def agree(
    files: Sequence[File], level: ConsistencyLevel, arrival: Arrival, happenings: Sequence[Happening], course: Course
) -> None:
    outputs = [Output(f"P{of}", plan_of(file, arrival.catalog), level) for of, file in enumerate(files)]
    both = Both(outputs, arrival, replace(course, providers=arrival.providers))
    for number, batch in enumerate(arrival.batches):
        for which, event in enumerate(happenings):
            if event.step == number:
                both.happens(event, 10 * number + which)
        both.step(batch, number)


@pytest.mark.slow
@SOME
@given(
    files=st.lists(QUERIES, min_size=1, max_size=2),
    level=some.levels(),
    arrival=st.one_of(in_any_order(plain()), by_providers()),
    happenings=HAPPENINGS,
    course=COURSES,
)
def test_queries_come_and_go(
    files: list[File], level: ConsistencyLevel, arrival: Arrival, happenings: list[Happening], course: Course
) -> None:
    """R44: FROM NOW, FROM RETAINED, replaced, removed, at random steps and levels, restarts included."""
    agree(files, level, arrival, happenings, course)
