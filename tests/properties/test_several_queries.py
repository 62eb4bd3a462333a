"""Queries that run in one pipeline: each emits what it would emit alone, at every step of every run.

Paper: Section 3 (queries compose) and Section 5, Figure 7.  Readings: R32, R33, R34, R43.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cedr.consistency.emitter import Output
from cedr.consistency.pipeline import Pipeline
from cedr.language.syntax import AlgebraBody, File, Query
from cedr.model.level import MIDDLE, STRONG, WEAK
from cedr.model.schema import EventTypes
from cedr.plan.compile import compile_file, compile_text
from cedr.testing import strategies as some
from tests.consistency.comparing import compare_outputs
from tests.consistency.scenarios import PLAIN, Scenario, scenarios
from tests.consistency.together import together_as_alone
from tests.semantics.stepping import message

HALF = settings(max_examples=max(10, settings.default.max_examples // 2))
FILES = st.one_of(
    some.patterns(PLAIN, depth=1, revisable=True),
    some.patterns(PLAIN, depth=2, sliced=True, revisable=True),
    some.compositions(PLAIN),
    some.relations(PLAIN),
)


def outputs_of(files: Sequence[File], scenario: Scenario) -> list[Output]:
    """The queries of each file, named apart, at the levels in turn; the text of a file may be there twice."""
    found = []
    for number, file in enumerate(files):
        queries = compile_file(file, scenario.arrival.catalog).queries
        found += [(f"{name}/{number}", query.plan) for name, query in queries.items()]
    levels = scenario.levels
    return [Output(name, plan, levels[of % len(levels)]) for of, (name, plan) in enumerate(found)]


def agree(files: Sequence[File], scenario: Scenario) -> None:
    """Patterns as the naive engine has them; what the algebra is part of as it is alone."""
    outputs = outputs_of(files, scenario)
    course = replace(
        scenario.course,
        switches={
            step: [switch._replace(of=switch.of % len(outputs)) for switch in switches]
            for step, switches in scenario.course.switches.items()
        },
    )
    queries = (each for file in files for each in file.statements if isinstance(each, Query))
    algebra = any(isinstance(each.body, AlgebraBody) for each in queries)
    compared = together_as_alone if algebra else compare_outputs
    compared(outputs, scenario.arrival.catalog, scenario.arrival.batches, course)


@pytest.mark.slow
@HALF
@given(st.lists(FILES, min_size=2, max_size=4), scenarios())
def test_several_queries(files: list[File], scenario: Scenario) -> None:
    """R43: levels, switches, restarts and compaction in one pipeline."""
    agree(files, scenario)


@HALF
@given(FILES, scenarios())
def test_equal_queries(file: File, scenario: Scenario) -> None:
    """R43: what is equal runs once, and each output is as if it ran alone."""
    agree([file, file], scenario)


TYPES = "TYPE A (k INTEGER); TYPE B (k INTEGER); TYPE C (k INTEGER);"


def pipeline_of(text: str) -> Pipeline:
    program = compile_text(TYPES + text)
    outputs = [Output(name, q.plan, q.consistency or MIDDLE) for name, q in program.queries.items()]
    return Pipeline(outputs, (), program.types)


def places(pipeline: Pipeline) -> list[str]:
    """The operators of all runs."""
    return [vertex.place for run in pipeline._runs for vertex in run.dataflow.vertices]


def test_equal_parts_run_once() -> None:
    pipeline = pipeline_of("""
        EVENT P1 WHEN UNLESS(SEQUENCE(A AS a, B AS b, 9), C AS c, 3) WHERE CorrelationKey(k, EQUAL);
        EVENT P2 WHEN UNLESS(SEQUENCE(A AS a, B AS b, 9), C AS c, 3) WHERE CorrelationKey(k, EQUAL) OUTPUT a.k AS k;
        EVENT P3 WHEN SEQUENCE(P2 AS p, C AS c, 9);
        EVENT P4 WHEN SEQUENCE(P2 AS q, A AS a, 9) CONSISTENCY WEAK
    """)
    assert places(pipeline).count("/UNLESS") == 1
    assert len(pipeline._runs) == 1


def test_a_level_with_another_b_has_operators_of_its_own() -> None:
    pipeline = pipeline_of("""
        EVENT P1 WHEN SEQUENCE(A AS a, B AS b, 9) CONSISTENCY STRONG;
        EVENT P2 WHEN SEQUENCE(A AS a, B AS b, 9)
    """)
    assert places(pipeline).count("/SEQUENCE") == 2


def test_each_query_remembers_as_long_as_its_own_level() -> None:
    """R34: what WEAK forgets is kept for MIDDLE where that reads it, and only there."""
    catalog = EventTypes(compile_text(TYPES).types.types)
    plans = [
        compile_text(TYPES + f"EVENT Q{of} WHEN SEQUENCE({one} AS a, {other} AS b, 5)").queries[f"Q{of}"].plan
        for of, (one, other) in enumerate([("A", "B"), ("A", "C")])
    ]
    outputs = [Output("Q0", plans[0], WEAK), Output("Q1", plans[1], MIDDLE), Output("Q0s", plans[0], STRONG)]
    lines = [[message(f"{of} {of.lower()}{at} {at} k=1")] for at in range(0, 60, 3) for of in "ABC"]
    compare_outputs(outputs, catalog, lines)
    alone, both = (Pipeline(some_, (), catalog) for some_ in (outputs[:1], outputs[:2]))
    for pipeline in (alone, both):
        for number, batch in enumerate(lines, 1):
            pipeline.step(batch, number)
    assert alone.measures()[0].rows["/SEQUENCE"] == both.measures()[0].rows["/SEQUENCE"] < 10
