"""What comes late is counted, message by message, however it is taken.  Paper: Definition 2.  Readings: R33, R39."""

from __future__ import annotations

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from cedr.consistency.admission.door import Arrivals
from cedr.consistency.batch import EventBatch
from cedr.hosts.holding import Holding
from cedr.model.event import primitive
from cedr.model.level import MIDDLE, WEAK
from cedr.model.stream import Guarantee, Message, Retract, insert
from cedr.model.time import BEGINNING
from cedr.plan.compile import compile_text
from cedr.testing.histories import small_catalog
from tests.consistency.engines import Pipeline
from tests.consistency.messages import CATALOG, cut, in_batches, messages

PLAIN = small_catalog("A", "B")


def pipeline() -> Pipeline:
    plan = compile_text("EVENT Q WHEN SEQUENCE(A x, B y, 3)", PLAIN).queries["Q"].plan
    return Pipeline(plan, [MIDDLE, WEAK], PLAIN)


def row(id_: str, time: int) -> Message:
    return insert(primitive("A", id_, time, payload={"k": 1, "v": 1, "s": "a"}))


@given(messages(), st.lists(st.integers(0, 30), max_size=3), st.sampled_from(((), ("p",), ("p", "q"))), st.data())
def test_what_is_late_is_late_on_every_host(
    sent: list[Message], places: list[int], providers: tuple[str, ...], data: st.DataObject
) -> None:
    arrivals, naive = Arrivals(CATALOG, providers), Holding(CATALOG, providers)
    for time, part in enumerate(cut(sent, places), 1):
        columns = data.draw(st.lists(st.booleans(), min_size=len(part), max_size=len(part)))
        arrivals.receive(in_batches(part, columns))
        naive.receive(part, time, [MIDDLE])
        assert arrivals.late == naive.late


def test_what_comes_in_the_order_of_sync_is_not_late() -> None:
    engine = pipeline()
    engine.step([row("a1", 1), row("a2", 2), row("a3", 2), Guarantee(2), row("a4", 3)], 1)
    assert [measures.late for measures in engine.measures()] == [0, 0]


def test_what_comes_below_the_largest_sync_or_guarantee_is_late() -> None:
    """a4 and a3 come after a5, a7 after a6, the shortening to 6 after that to 7; a2 is behind g: a dead letter, too."""
    engine = pipeline()
    engine.step([row("a5", 5), row("a4", 4)], 1)
    engine.step([Guarantee(3), EventBatch("A", ["a3", "a6", "a7"], [4, 6, 5])], 2)
    engine.step([row("a2", 2), Retract("A/a6@6", valid_end=7), Retract("A/a5@5", valid_end=6)], 3)
    assert [measures.late for measures in engine.measures()] == [5, 5]
    assert [letter.code for letter in engine.dead_letters()] == ["broken-guarantee"]


@given(st.lists(st.lists(st.integers(0, 20), max_size=5), max_size=4), st.booleans())
def test_split_by_key_as_much_is_late_as_in_one(batches: list[list[int]], columns: bool) -> None:
    """R40: a batch comes at once; what is late lies below the h of before, in whichever bucket it is."""
    highs = [max(chain(*batches[:number]), default=0) for number in range(len(batches))]
    expected = sum(sync < high for high, batch in zip(highs, batches, strict=True) for sync in batch)
    for buckets in (1, 2, 3):
        engines = [pipeline() for _ in range(buckets)]
        for time, batch in enumerate(batches, 1):
            sent = [row(f"{time} {number}", sync) for number, sync in enumerate(batch)]
            for number, engine in enumerate(engines):
                own = sent[number::buckets]
                engine.heartbeat(max(batch, default=BEGINNING))
                engine.step(in_batches(own, [columns] * len(own)), time)
        assert sum(engine.measures()[0].late for engine in engines) == expected


def test_what_comes_together_is_late_by_what_came_before() -> None:
    engine = pipeline()
    for time, batch in enumerate(([row("a5", 5), row("a4", 4)], [row("a3", 3), row("a9", 9), row("a6", 6)]), 1):
        engine.heartbeat(9)
        engine.step(batch, time)
    assert engine.measures()[0].late == 2


def test_the_count_survives_a_restart() -> None:
    engine, again = pipeline(), pipeline()
    engine.step([row("a5", 5), row("a4", 4), Guarantee(3), row("a3", 3)], 1)
    again.restore({name: part for name, part in engine.state().items() if part is not None})
    again.step([row("a6", 4)], 2)
    assert [measures.late for measures in again.measures()] == [3, 3]
