"""WITH TIES, and the measure *ties*, on both engines.  Reading: R49."""

from __future__ import annotations

from itertools import permutations

import pytest

from cedr.consistency.pipeline import Pipeline
from cedr.model.event import primitive
from cedr.model.level import MIDDLE
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.stream import Guarantee, Retract, insert
from cedr.plan.compile import compile_text
from tests.consistency.engines import BOTH, MakesEngine
from tests.semantics.running import matches
from tests.semantics.stepping import message, say

CATALOG = EventTypes({name: EventType(name, {"k": DataType.INTEGER, "v": DataType.INTEGER}) for name in "ABC"})


def made(make: MakesEngine, query: str, arrived: str) -> list[str]:
    """What stands after all messages, whatever the order in which they arrive: contributors and lifetime."""
    lines = arrived.split(" / ")
    found = set()
    for order in permutations(lines):
        engine = make(compile_text(f"EVENT Q WHEN {query}", CATALOG).queries["Q"].plan, MIDDLE, CATALOG)
        said: set[str] = set()
        for time, line in enumerate(order, 1):
            for change in map(say, engine.step([message(line)], time)):
                if change.startswith("+"):
                    said.add(change[1:])
                else:
                    said -= {row for row in said if row.startswith(f"{change[1:]} [")}
        found.add(tuple(sorted(said)))
    (only,) = found
    return list(only)


CASES = [
    ("SEQUENCE(A a, B b, 5)", "A a1 3 / B b1 3", []),
    ("SEQUENCE(A a, B b, 5 WITH TIES)", "A a1 3 / B b1 3", ["a1 b1 [3,8)"]),
    ("SEQUENCE(B b, A a, 5 WITH TIES)", "A a1 3 / B b1 3", ["b1 a1 [3,8)"]),
    ("SEQUENCE(A a, B b, 5 WITH TIES)", "A a1 4 / B b1 3 / B b2 9 / B b3 10", ["a1 b2 [9,9)"]),
    ("SEQUENCE(A x, A y, 5 WITH TIES)", "A a1 3 / A a2 3", ["a1 a2 [3,8)"]),
    ("SEQUENCE(A x, A y, 5 WITH TIES)", "A a1 3", []),
    ("SEQUENCE(A x, B y, A z, 5 WITH TIES)", "A a1 3 / A a2 3 / B b1 3", ["a1 b1 a2 [3,8)"]),
    ("SEQUENCE(FIRST A x, B y, 5 WITH TIES)", "A a1 2 / A a2 3 / B b1 3", ["a1 b1 [3,7)"]),
    ("SEQUENCE(LAST A x, B y, 5 WITH TIES)", "A a1 2 / A a2 3 / A a3 3 / B b1 3", ["a2 b1 [3,8)"]),
    ("SEQUENCE(A x, FIRST B y, 5 WITH TIES)", "A a1 3 / B b1 3 / B b2 4", ["a1 b1 [3,8)"]),
    ("SEQUENCE(A x, FIRST A y, 5 WITH TIES)", "A a1 3 / A a2 3 / A a3 4", ["a1 a2 [3,8)", "a2 a3 [4,8)"]),
    ("SEQUENCE(LAST A x, A y, 5 WITH TIES)", "A a1 3 / A a2 3 / A a3 3", ["a1 a2 [3,8)", "a1 a3 [3,8)"]),
    ("SEQUENCE(A x CONSUME, B y CONSUME, 5 WITH TIES)", "A a1 3 / B b1 3 / B b2 4", ["a1 b1 [3,8)"]),
    ("SEQUENCE(A x, B y, 5 WITH TIES) DISJOINT", "A a1 3 / B b1 3 / B b2 4", ["a1 b1 [3,8)"]),
    ("ALL(A a, B b, 5)", "A a1 3 / B b1 3", []),
    ("ALL(A a, B b, 5 WITH TIES)", "A a1 3 / B b1 3", ["a1 b1 [3,8)"]),
    ("ALL(B b, A a, 5 WITH TIES)", "A a1 3 / B b1 3", ["b1 a1 [3,8)"]),
    ("ALL(B b, A a, 5 WITH TIES)", "A a1 2 / B b1 3", ["a1 b1 [3,7)"]),
    ("ALL(A x, A y, 5 WITH TIES)", "A a1 3 / A a2 3", ["a1 a2 [3,8)"]),
    ("ATLEAST(2, A x, A y, A z, 5 WITH TIES)", "A a1 3 / A a2 3", ["a1 a2 [3,8)"]),
    ("ATLEAST(2, A x, B y, A z, 5 WITH TIES)", "A a1 3 / B b1 3", ["a1 b1 [3,8)", "b1 a1 [3,8)"]),
    ("NOT(C c, SEQUENCE(A a, B b, 5 WITH TIES))", "A a1 3 / B b1 3 / C c1 3", ["a1 b1 [3,8)"]),
    ("NOT(C c, SEQUENCE(A a, B b, 5 WITH TIES))", "A a1 3 / B b1 5 / C c1 5", ["a1 b1 [5,8)"]),
    ("NOT(C c, SEQUENCE(A a, B b, 5 WITH TIES))", "A a1 3 / B b1 5 / C c1 4", []),
    ("UNLESS(SEQUENCE(A a, B b, 5 WITH TIES), C c, 2)", "A a1 3 / B b1 3 / C c1 3", ["a1 b1 [3,5)"]),
    ("UNLESS(SEQUENCE(A a, B b, 5 WITH TIES), C c, 2)", "A a1 3 / B b1 3 / C c1 4", []),
    ("UNLESS(SEQUENCE(A x, A y, 5 WITH TIES), C c, 2)", "A a1 3 / A a2 3 / C c1 3", ["a1 a2 [3,5)"]),
    ("SEQUENCE(SEQUENCE(A x, B y, 5), C z, 5 WITH TIES)", "A a1 1 / B b1 3 / C c1 3", ["a1 b1 c1 [3,8)"]),
]


@BOTH
@pytest.mark.parametrize(
    ("query", "arrived", "expected"), CASES, ids=[f"{query}: {arrived}" for query, arrived, _ in CASES]
)
def test_events_of_equal_time_follow_each_other(
    engine: MakesEngine, query: str, arrived: str, expected: list[str]
) -> None:
    """R49: and R42's order lets a pair of one stream be found once."""
    assert made(engine, query, arrived) == expected


def test_the_oracle_takes_a_named_query_as_one_stream() -> None:
    """R49, R42: its rows of equal Vs follow each other by their contributors, in one order only."""
    query = "EVENT P WHEN SEQUENCE(A a, B b, 5) OUTPUT a.v AS v; EVENT Q WHEN SEQUENCE(P x, P y, 5 WITH TIES)"
    assert matches(query, "A a1 1\nA a2 2\nB b1 3") == {"a1 b1 a2 b1"}


def ties(make: MakesEngine, query: str, arrived: str, *, together: bool = False) -> int:
    engine = make(compile_text(f"EVENT Q WHEN {query}", CATALOG).queries["Q"].plan, MIDDLE, CATALOG)
    lines = [message(line) for line in arrived.split(" / ")]
    for time, batch in enumerate([lines] if together else [[line] for line in lines], 1):
        engine.step(batch, time)
    return engine.ties


COUNTED = [
    ("SEQUENCE(A a, B b, 5)", "A a1 3 / B b1 3 / B b2 4 / A a2 5", 2),
    ("SEQUENCE(A a, B b, 5)", "B b2 9 / A a1 3 / B b1 3", 2),
    ("SEQUENCE(A a, B b, 5)", "A a1 3 / A a2 3 / A a3 3", 3),
    ("SEQUENCE(A a, B b, 5 WITH TIES)", "A a1 3 / B b1 3", 0),
    ("SEQUENCE(A x, A y, 5)", "A a1 3 / A a2 4", 0),
    ("SEQUENCE(A x, A y, 5)", "A a2 4 / A a1 3 / A a3 3", 2),
    ("ALL(A a, B b, 5) WHERE CorrelationKey(k, EQUAL)", "A a1 3 k=1 / B b1 3 k=2 / B b2 3 k=1", 2),
    ("ALL(A a, B b, 5) WHERE CorrelationKey(k, EQUAL)", "A a1 3 k=null / B b1 3 k=null", 0),
    ("SEQUENCE(A a, B b, 5) WHERE a.v > 1", "A a1 3 v=1 / B b1 3 v=1 / A a2 3 v=2", 2),
    ("ATLEAST(2, A a, B b, C c, 5)", "A a1 3 / B b1 3 / C c1 3 / C c2 4", 3),
    ("ATLEAST(1, A a, B b, 5)", "A a1 3 / B b1 3", 0),
    ("UNLESS(SEQUENCE(A a, B b, 5), C c, 2)", "A a1 3 / B b1 3 / C c1 3", 2),
    ("SEQUENCE(SEQUENCE(A a, B b, 5), C c, 5)", "A a1 1 / A a2 2 / B b1 3 / C c1 3", 0),
    ("UNLESS(A a, B b, 5)", "A a1 3 / B b1 3", 0),
]


@BOTH
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "at once"])
@pytest.mark.parametrize(("query", "arrived", "expected"), COUNTED, ids=[f"{q}: {a}" for q, a, _ in COUNTED])
def test_ties_are_counted(engine: MakesEngine, query: str, arrived: str, expected: int, together: bool) -> None:
    """R49: events that share Vs and key with another event of the same operator, each once."""
    assert ties(engine, query, arrived, together=together) == expected


@BOTH
def test_what_is_retracted_ties_no_longer(engine: MakesEngine) -> None:
    """R49: three events at one time, of which one goes, and then another one."""
    running = engine(compile_text("EVENT Q WHEN SEQUENCE(A a, B b, 5)", CATALOG).queries["Q"].plan, MIDDLE, CATALOG)
    running.step([insert(primitive(kind, f"{kind}1", 3), lineage_key=kind) for kind in "AB"], 1)
    running.step([insert(primitive("B", "B2", 3), lineage_key="B2")], 2)
    assert running.ties == 3
    running.step([Retract("B2")], 3)
    assert running.ties == 2
    running.step([Retract("A")], 4)
    assert running.ties == 0


def test_ties_are_kept_with_the_state() -> None:
    """R49: after a restart they are counted on, once each, those that are forgotten included."""
    plan = compile_text("EVENT Q WHEN SEQUENCE(A a, B b, 2)", CATALOG).queries["Q"].plan
    before, after = (Pipeline(plan, MIDDLE, CATALOG) for _ in range(2))
    before.step([*(insert(primitive(kind, f"{kind}{t}", t)) for t in (1, 9) for kind in "AB"), Guarantee(8)], 1)
    assert before.measures()[0].ties == 4
    after.restore({name: segment for name, segment in before.state().items() if segment is not None})
    assert after.measures()[0].ties == 4
    after.step([insert(primitive("A", "A", 9))], 2)
    assert after.measures()[0].ties == 5
