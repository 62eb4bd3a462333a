"""Groups go on after a restart: a row that spans the line keeps its beginning, however often it is touched.

Readings: R8 (its Vs is part of its ID), R33, R37.
"""

from __future__ import annotations

import pytest

from cedr.consistency.pipeline import Pipeline
from cedr.model.event import primitive
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.stream import Change, Guarantee, Message, insert
from cedr.plan.compile import compile_text

QUERIES = {
    "running": "FROM A AS a GROUP BY a.k OUTPUT a.k AS k, COUNT(*) AS n, AVG(a.v) AS mean",
    "largest": "FROM A AS a GROUP BY a.k OUTPUT a.k AS k, MAX(a.v) AS most",
    "moving": "FROM A AS a WINDOW MOVING 20 GROUP BY a.k OUTPUT a.k AS k, SUM(a.v) AS total",
    "constant": "FROM A AS a WINDOW MOVING 20 OUTPUT AVG(a.v - a.v) AS nothing",
    "distinct": "FROM A AS a OUTPUT DISTINCT a.k AS k",
}
BATCHES: list[list[Message]] = [
    [insert(primitive("A", "a1", 1, payload={"k": 1, "v": 3})), Guarantee(2)],
    [insert(primitive("A", "b1", 4, payload={"k": 2, "v": 5})), Guarantee(5)],
    [insert(primitive("A", "b2", 6, payload={"k": 2, "v": 4})), Guarantee(7)],
    [insert(primitive("A", "a2", 9, payload={"k": 1, "v": 3})), Guarantee(9)],
    [insert(primitive("A", "a3", 12, payload={"k": 1, "v": 8})), Guarantee(40)],
]


@pytest.mark.parametrize("level", [MIDDLE, STRONG])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("after", range(1, 5))
def test_a_restart_changes_nothing(query: str, level: ConsistencyLevel, after: int) -> None:
    """All changes are those of a run that nothing stops."""
    assert _run(query, level, restart=after) == _run(query, level, restart=None)


def _run(query: str, level: ConsistencyLevel, restart: int | None) -> list[list[Change]]:
    program = compile_text(f"TYPE A (k INTEGER, v INTEGER); EVENT Q {query}")
    plan = program.queries["Q"].plan
    pipeline, saved, said = Pipeline(plan, level, program.types), dict[str, bytes](), list[list[Change]]()
    for number, batch in enumerate(BATCHES):
        if number == restart:
            pipeline = Pipeline(plan, level, program.types)
            pipeline.restore(saved)
        (changes,) = pipeline.step(batch, number)
        said.append(changes.to_changes())
        for name, segment in pipeline.state().items():
            saved.pop(name, None)
            if segment is not None:
                saved[name] = segment
    return said
