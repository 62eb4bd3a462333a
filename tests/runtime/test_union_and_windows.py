"""UNION and AlterLifetime on changes that are made by hand.  Paper: Section 6.  Readings: R8, R10, R29, R31, R36."""

from __future__ import annotations

from collections import Counter

import pytest

from cedr.model.event import primitive
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Message, Retract, insert
from cedr.model.time import FOREVER
from cedr.plan import logical
from cedr.plan.compile import compile_text
from cedr.runtime.store.table import Delta
from cedr.semantics.evaluate import evaluate
from cedr.testing import strategies as some
from tests.conformance.driving import Admission, Driven, look

PLAIN = some.small_catalog("A", "B")
REVISABLE = some.small_catalog("A", "B", revisable=FOREVER)


class Story:
    """A query that takes in messages, compared with the oracle after each batch."""

    def __init__(self, text: str, catalog: EventTypes = PLAIN, plan: logical.Node | None = None) -> None:
        self.plan = compile_text(f"EVENT Q {text}", catalog).queries["Q"].plan if plan is None else plan
        self.driven = Driven(self.plan, Admission(catalog))
        self._time = 0

    def step(self, *messages: Message) -> Delta:
        self._time += 1
        delta = self.driven.step(self.driven.admission.take(messages, self._time))
        meant = evaluate(self.plan, self.driven.admission.tables())
        assert self.driven.table() == Counter(map(look, meant))
        return delta

    @property
    def lifetimes(self) -> list[tuple[int, int]]:
        return sorted((row.valid_start, row.valid_end) for row in self.driven.events())


def event(stream: str, id_: str, vs: int, ve: int = FOREVER, **payload: object) -> Message:
    return insert(primitive(stream, id_, vs, ve, payload=payload))


def key(message: Message) -> str:
    return message.lineage_key  # type: ignore[union-attr]


def sources(*names: str) -> logical.Union:
    left, right = (logical.Source(PLAIN.types[name]) for name in names)
    return logical.Union(left, right, place="/UNION")


def test_a_union_keeps_what_its_rows_lack() -> None:
    story = Story("", plan=sources("A", "B"))
    story.step(event("A", "a", 1, k=1, v=None), event("B", "a", 1, s="x"), event("B", "b", 2, k=1.0, v=True))
    story.step(event("A", "c", 1, k=2, v=1, s="y"), event("A", "d", 2))


def test_both_sides_of_a_union_are_rows_of_their_own() -> None:
    story = Story("FROM A UNION A")
    story.step(event("A", "a", 1, k=1, v=1, s="x"))
    assert len(story.driven.rows) == 2
    story.step(Retract(key(event("A", "a", 1))))
    assert not story.driven.rows


def test_a_union_of_unions() -> None:
    inner = logical.Union(sources("A", "B"), logical.Source(PLAIN.types["A"]), place="/1/UNION")
    story = Story("", plan=inner)
    story.step(event("A", "a", 1, k=1, v=1, s="x"), event("B", "b", 1, k=1, v=1, s="x"))
    assert len(story.driven.rows) == 3


@pytest.mark.parametrize(
    ("window", "lifetimes"),
    [
        ("MOVING 3", [(1, 4), (2, 3), (7, 10)]),
        ("TUMBLING 3", [(3, 6), (3, 6), (9, 12), (9, 12)]),
        ("HOPPING 5 EVERY 2", [(3, 7), (3, 9), (9, 13), (9, 13)]),
        ("INSERTS", [(1, FOREVER), (2, FOREVER), (7, FOREVER), (7, FOREVER)]),
        ("DELETES", [(3, FOREVER), (7, FOREVER)]),
        ("LIFETIME Vs - 5, 5", [(-4, 1), (-3, 2), (2, 7), (2, 7)]),
    ],
)
def test_windows(window: str, lifetimes: list[tuple[int, int]]) -> None:
    """Events [1, FOREVER), [2, 3), [7, FOREVER) and one that is never alive."""
    story = Story(f"FROM A AS a WINDOW {window}")
    story.step(event("A", "a", 1), event("A", "b", 2, 3), event("A", "c", 7), event("A", "d", 7, 7))
    assert story.lifetimes == sorted(lifetimes)


def test_a_late_end_leaves_a_window_that_is_over() -> None:
    story = Story("FROM A AS a WINDOW MOVING 3 OUTPUT a.k AS k")
    a = event("A", "a", 1, k=1)
    story.step(a, Guarantee(8))
    assert story.driven.frontier.final == 8
    assert not story.step(Retract(key(a), valid_end=9))
    assert story.lifetimes == [(1, 4)]
    assert len(story.step(Retract(key(a))).removed) <= 1  # which breaks the guarantee, and is a dead letter


def test_a_late_end_cuts_a_window_that_is_open() -> None:
    story = Story("FROM A AS a WINDOW MOVING 30")
    a = event("A", "a", 1, k=1)
    story.step(a, Guarantee(8))
    story.step(Retract(key(a), valid_end=9))
    assert story.lifetimes == [(1, 9)]


def test_versions_that_look_alike_are_one_row() -> None:
    """Of a projection nothing but the payload is left, so that another Ve does not show in the window."""
    story = Story("FROM (FROM A AS a OUTPUT a.k AS k) AS x WINDOW MOVING 3 OUTPUT x.k AS k", REVISABLE)
    story.step(event("A", "a", 1, k=1))
    story.step(insert(primitive("A", "a", 1, 20, occurrence_start=5, payload={"k": 1}), "other"))
    assert story.lifetimes == [(1, 4)]
    story.step(insert(primitive("A", "a", 1, 3, occurrence_start=6, payload={"k": 1}), "third"))
    assert story.lifetimes == [(1, 3), (1, 4)]
    story.step(Retract("other"))


def test_an_event_closed_before_its_window_begins() -> None:
    story = Story("FROM A AS a WINDOW DELETES", REVISABLE)
    a = event("A", "a", 1, 9)
    story.step(a)
    assert story.lifetimes == [(9, FOREVER)]
    story.step(Retract(key(a), occurrence_end=5))
    assert story.lifetimes == []
