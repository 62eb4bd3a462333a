"""Small runs whose output follows from the readings alone, on both engines.

Each once came out differently: on one engine, or on both.
"""

from __future__ import annotations

import pytest

from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.plan.compile import compile_text
from tests.consistency.engines import BOTH, Engine, MakesEngine
from tests.semantics.stepping import message, say

TYPES = {name: EventType(name, {"k": DataType.INTEGER}) for name in "ABC"}
CATALOG = EventTypes(TYPES)
WITHOUT_KEY = EventTypes({**TYPES, "A": EventType("A", {"j": DataType.INTEGER})})


def run(
    make: MakesEngine, query: str, arrived: str, level: ConsistencyLevel = MIDDLE, catalog: EventTypes = CATALOG
) -> tuple[list[str], Engine]:
    """What is said at each step, messages between slashes; and the engine after it."""
    engine = make([*compile_text(query, catalog).queries.values()][-1].plan, level, catalog)
    lines = enumerate(arrived.split(" / "), 1)
    return [" ".join(map(say, engine.step([message(line)], time))) for time, line in lines], engine


@BOTH
def test_an_unbound_attribute_agrees_with_nothing(engine: MakesEngine) -> None:
    """Reading: R22: of the rows of Q2 only that of C has a k; with itself it is no pair."""
    query = (
        "EVENT Q2 WHEN ANY(A AS a, C AS c) OUTPUT c.k AS k;"
        "EVENT Q3 WHEN ALL(Q2 AS x, Q2 AS y, 3) WHERE CorrelationKey(k, EQUAL)"
    )
    assert run(engine, query, "A a1 2 k=1 / A a2 4 k=1 / C c1 3 k=1")[0] == ["", "", ""]
    many = " / ".join(f"A a{number} {number} k=1" for number in range(30))
    assert run(engine, query, f"{many} / C c1 40 k=1 / C c2 42 k=1")[0][-1] == "+c1 c2 [42,43)"


@BOTH
def test_a_late_first_beats_a_later_one(engine: MakesEngine) -> None:
    """Reading: R25, where LAST chooses by the future."""
    said, _ = run(engine, "EVENT Q WHEN SEQUENCE(FIRST A AS x, LAST B AS y, 4)", "A a6 6 / B b8 8 / A a5 5")
    assert said == ["", "+a6 b8 [8,10)", "-a6 b8 +a5 b8 [8,9)"]


READER = "EVENT Q3 WHEN SEQUENCE(Q2 AS x, C AS y, 9) WHERE CorrelationKey(k, EQUAL)"


@BOTH
@pytest.mark.parametrize(("attribute", "catalog"), [("k", CATALOG), ("j", WITHOUT_KEY)], ids=["same", "other"])
def test_a_readers_keys_do_not_change_a_named_query(engine: MakesEngine, attribute: str, catalog: EventTypes) -> None:
    """Readings: R22, R27, R32."""
    arrived = f"A a1 1 {attribute}=1 / A a2 2 {attribute}=2 / B b1 3 k=1 / C c1 5 k=1"
    once = f"EVENT Q2 WHEN SEQUENCE(A AS a, B AS b, 9) DISJOINT OUTPUT b.k AS k; {READER}"
    assert run(engine, once, arrived, catalog=catalog)[0] == ["", "", "", "+a1 b1 c1 [5,12)"]
    few = f"EVENT Q2 WHEN ATMOST(1, A AS a, B AS b, 9) OUTPUT b.k AS k; {READER}"
    assert run(engine, few, arrived, catalog=catalog)[0] == ["", "", "", ""]


@BOTH
def test_the_retraction_of_a_forgotten_event_raises_h(engine: MakesEngine) -> None:
    """Reading: R37: b is due then; and nothing says that data were lost."""
    arrived = "A a 3..7 K=a / B b 6 @5 / guarantee 4 / retract {} ve=6"
    for key in ("a", "A/a@3"):
        said, after = run(engine, "EVENT Q WHEN ANY(A AS a, B AS b)", arrived.format(key).replace("K=a", f"K={key}"))
        assert said == ["+a [3,4)", "", "!4", "+b [6,7)"]
        assert all("it is forgotten" in letter.reason for letter in after.dead_letters)
        assert key == "a" or after.dead_letters == []


@BOTH
def test_shortenings_wait_until_they_are_due(engine: MakesEngine) -> None:
    """Readings: R33, R35: at STRONG everything leaves in the order of Sync."""
    query = "EVENT Q WHEN ANY(UNLESS(A AS a, B AS b, 3), C AS c) VALID WITH LAST"
    arrived = "C c 3 K=c / guarantee 4 / A a 5 / retract c ve=6 / guarantee 6 / guarantee 9"
    said, _ = run(engine, query, arrived, STRONG)
    assert said == ["", "+c [3,∞) !4", "", "", "", "+a [5,8) ~c Ve=6 !9"]


@BOTH
def test_what_is_undecided_holds_the_guarantee_back_whoever_reads_it(engine: MakesEngine) -> None:
    """Reading: R36: the rules are the same whatever is still needed above."""
    query = "EVENT Q WHEN NOT(UNLESS(B AS b, A AS x, 3), SEQUENCE(A AS a, C AS c, 1))"
    said, after = run(engine, query, "B b 2 / guarantee 3 / C c 8")
    assert said == ["", "!1", ""]
    assert after.guarantee == 1


LETTERS = EventTypes({name: EventType(name, {"k": DataType.INTEGER}) for name in "ABCD"})


@BOTH
def test_composites_at_one_time_are_taken_by_their_contributors(engine: MakesEngine) -> None:
    """Reading: R42: of runs that end at one event DISJOINT takes the one that began first, whatever their IDs."""
    query = "EVENT Q WHEN NOT(D AS n, SEQUENCE(SEQUENCE(A AS a, B AS b, C AS c, 50) AS r, D AS d, 50)) DISJOINT"
    arrived = "A a1 1 / A a2 2 / B b1 3 / B b2 4 / C c1 5 / C c2 6 / D d1 7 / D d2 8"
    said, _ = run(engine, query, arrived, catalog=LETTERS)
    assert said == ["", "", "", "", "", "", "+a1 b1 c1 d1 [7,55)", ""]
    first = "EVENT Q WHEN SEQUENCE(LAST SEQUENCE(A AS a, B AS b, 50) AS r, C AS c, 50)"
    said, _ = run(engine, first, "A a3 1 / A a2 2 / B b1 3 / C c1 5", catalog=LETTERS)
    assert said[-1] == "+a3 b1 c1 [5,53)"
