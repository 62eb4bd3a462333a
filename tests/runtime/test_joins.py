"""Joins on changes made by hand, with the oracle beside.  Paper: Definition 9.  Readings: R9, R10, R29, R36."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from cedr.model.event import primitive
from cedr.model.stream import Guarantee, Message, Retract, insert
from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.expressions.vector import of_values
from cedr.runtime.operators.contract import Line
from cedr.runtime.operators.mechanism.arrangement import Arrangement, Probes
from cedr.runtime.operators.mechanism.value_index import ordered
from cedr.runtime.store.table import Table, plain_header
from tests.conformance.clauses import counting
from tests.runtime.test_union_and_windows import REVISABLE, Story, event, key

INNER = "FROM A AS a JOIN B AS b ON a.k = b.k"
LEFT = "FROM A AS a LEFT JOIN B AS b ON a.k = b.k"
ANTI = "FROM A AS a ANTI JOIN B AS b ON a.k = b.k"


def a(id_: str, vs: int, ve: int = FOREVER, k: object = 1) -> Message:
    return event("A", id_, vs, ve, k=k)


def b(id_: str, vs: int, ve: int = FOREVER, k: object = 1) -> Message:
    return event("B", id_, vs, ve, k=k)


@pytest.mark.parametrize(
    ("query", "lifetimes"),
    [(INNER, [(4, 6)]), (LEFT, [(1, 4), (4, 6), (6, 9)]), (ANTI, [(1, 4), (6, 9)])],
)
def test_one_inside_the_other(query: str, lifetimes: list[tuple[int, int]]) -> None:
    story = Story(query)
    story.step(a("a", 1, 9), b("b", 4, 6))
    assert story.lifetimes == lifetimes


@pytest.mark.parametrize("query", [INNER, LEFT, ANTI])
def test_boundaries(query: str) -> None:
    """Lifetimes that meet, begin together, end together, are the same, or are empty; keys that are NULL."""
    story = Story(query)
    story.step(a("a", 3, 7), a("empty", 5, 5), a("null", 3, 7, None), a("other", 3, 7, 2))
    story.step(b("before", 1, 3), b("after", 7, 9), b("nothing", 4, 4), b("null", 3, 7, None))
    assert story.lifetimes == {INNER: [], LEFT: [(3, 7)] * 3, ANTI: [(3, 7)] * 3}[query]
    story.step(b("begins", 3, 4), b("ends", 6, 7))
    story.step(b("same", 3, 7))
    story.step(Retract(key(b("same", 3, 7))))


@pytest.mark.parametrize("query", [INNER, LEFT, ANTI])
def test_what_goes_takes_its_rows_along(query: str) -> None:
    story = Story(query)
    left, right = a("a", 1, 9), b("b", 4, 6)
    story.step(left, right, b("c", 5, 8), a("d", 2))
    story.step(Retract(key(right)))
    story.step(Retract(key(left)))
    story.step(b("late", 0, 3))


@pytest.mark.parametrize("query", [INNER, LEFT, ANTI])
def test_a_shorter_life(query: str) -> None:
    story = Story(query)
    left, right = a("a", 1), b("b", 4)
    story.step(left, right)
    story.step(Retract(key(right), valid_end=8))
    story.step(Retract(key(left), valid_end=6))


@pytest.mark.parametrize("query", [INNER, LEFT, ANTI])
def test_a_revision_moves_a_row_to_another_group(query: str) -> None:
    story = Story(query, REVISABLE)
    story.step(a("a", 1, 9), b("one", 2, 5), b("two", 4, 7, 2))
    story.step(insert(primitive("A", "a", 1, 9, occurrence_start=3, payload={"k": 2}), "moved"))
    story.step(insert(primitive("B", "two", 4, 7, occurrence_start=6, payload={"k": None}), "lost"))
    story.step(Retract("moved"))
    story.step(Retract(key(b("one", 2, 5)), occurrence_end=4))
    story.step(Retract("lost"))


@pytest.mark.parametrize("condition", ["b.k = 1", "a.k <> b.k", "NOT b.k IN (1, 0)", "b.Vs > 0"])
def test_what_has_no_partner_is_null_to_conditions(condition: str) -> None:
    """As in SQL: also while no event of the right side is known."""
    story = Story(f"{LEFT} WHERE {condition}")
    story.step(a("a", 1, 9), a("null", 1, 9, None))
    assert story.lifetimes == []
    story.step(b("b", 4, 6))


def test_what_has_no_partner_is_found() -> None:
    story = Story(f"{LEFT} WHERE b.k IS NULL")
    story.step(a("a", 1, 9), b("b", 4, 6))
    assert story.lifetimes == [(1, 4), (6, 9)]


@pytest.mark.parametrize("query", [LEFT, ANTI])
def test_what_is_stated_after_the_fact_cuts_from_then_on(query: str) -> None:
    story = Story(query, REVISABLE)
    story.step(a("a", 1, 9))
    story.step(insert(primitive("B", "b", 3, 5, occurrence_start=7, payload={"k": 1}), "late"))
    assert len(story.lifetimes) > 1


def test_an_end_that_does_not_show_changes_nothing() -> None:
    story = Story(INNER)
    left = a("a", 1)
    story.step(left, b("b", 2, 4), Guarantee(10))
    assert story.driven.frontier.final == 10
    assert not story.step(Retract(key(left), valid_end=12))
    story.step(b("c", 11))
    assert story.lifetimes == [(2, 4), (11, 12)]


def test_what_has_ended_is_forgotten() -> None:
    story = Story(INNER)
    for time in range(0, 50, 2):
        story.step(a(f"a{time}", time, time + 2), b(f"b{time}", time, time + 2), Guarantee(time + 1))
        story.driven.release(Line(story.driven.frontier.final, BEGINNING, story.driven.frontier.ended))
    join = next(v for v in story.driven.dataflow.vertices if v.place == "/FROM/JOIN")
    assert join.operator.size.rows < 10


def test_a_row_that_never_ends_does_not_hold_the_others() -> None:
    story = Story(INNER)
    story.step(a("endless", 0))
    for time in range(0, 50, 2):
        story.step(b(f"b{time}", time, time + 2), Guarantee(time + 1))
        story.driven.release(Line(story.driven.frontier.final, BEGINNING, story.driven.frontier.ended))
    join = next(v for v in story.driven.dataflow.vertices if v.place == "/FROM/JOIN")
    assert join.operator.size.rows < 10


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN", "ANTI JOIN"])
@pytest.mark.parametrize(
    "predicate",
    [
        "a.v BETWEEN b.v - 1 AND b.v + 1",
        "a.v - 0.1 <= b.v AND b.v < 0.1 + a.v",
        "a.v < b.v",
        "a.v >= b.v AND a.v <= b.v",
        "a.v + 1 = b.v",
        "b.k > a.v * 2",
    ],
)
def test_bounds(kind: str, predicate: str) -> None:
    """Numbers of all kinds, NULL among them, that come and go."""
    story = Story(f"FROM A AS a {kind} B AS b ON {predicate}")
    values = [3, None, -1, 2**53, 2**53 + 1, -(2**62), 0, 3, 4, 2]
    for at, value in enumerate(values):
        story.step(event("A", f"a{at}", at, at + 6, k=at, v=value), event("B", f"b{at}", at, at + 3, k=at, v=value))
    for at, value in enumerate(values[::2]):
        story.step(Retract(key(event("A", f"a{2 * at}", 2 * at, v=value))))


def test_a_band_is_searched() -> None:
    """All rows are alive together, and few are within the bounds of each other."""
    story = Story("FROM A AS a JOIN B AS b ON a.v BETWEEN b.v - 1 AND b.v + 1")
    story.step(*(event("B", f"b{n}", 0, v=10 * n) for n in range(60)))
    with counting() as counted:
        story.step(event("A", "a", 1, v=300))
    assert story.lifetimes == [(1, FOREVER)]
    assert counted[0] < 20


@pytest.mark.parametrize("values", [[-1.5, -0.0, 0.0, 2.0, 1e300], [-(2**62), -1, 0, 5, 2**62], [True, 2, 2.5]])
def test_numbers_keep_their_order(values: list[object]) -> None:
    codes, known = ordered(of_values(values))  # type: ignore[arg-type]
    assert known.all()
    assert (np.diff(codes) >= 0).all()


def test_what_is_no_number_is_in_no_range() -> None:
    assert not ordered(of_values([None, float("nan"), 1.0]))[1][:2].any()
    assert not ordered(of_values(["a", "b"]))[1].any()
    huge, known = ordered(of_values([-(10**400), 10**400, Decimal("0.5")]))
    assert known.all()
    assert huge.argsort().tolist() == [0, 2, 1]


def arranged(lifetimes: list[tuple[int, int]]) -> Arrangement:
    table = Table(None)
    store = Arrangement(table)
    vs, ve = (np.array(column, dtype=np.int64) for column in zip(*sorted(lifetimes), strict=True))
    store.add(np.zeros(len(vs), np.int64), vs, table.extend(plain_header(vs, ve, vs)))
    return store


@pytest.mark.parametrize("room", [1, 3, 1000])
def test_alive_together(room: int) -> None:
    """Against looking at every pair, for lifetimes of all magnitudes, in as many parts as there is room for."""
    random = np.random.default_rng(5)
    starts = random.integers(-50, 50, 60)
    lengths = 2 ** random.integers(0, 8, 60) + random.integers(-1, 2, 60)
    ends = [FOREVER if n % 17 == 0 else int(s + n) for s, n in zip(starts, lengths, strict=True)]
    lifetimes = sorted(zip(starts.tolist(), ends, strict=True))
    store = arranged(lifetimes)
    probes = [(-100, -40), (-3, -3), (0, 1), (10, 30), (60, FOREVER), (BEGINNING + 1, FOREVER)]
    groups = np.where([e <= s for s, e in probes], -1, 0)
    asked = Probes(np.arange(len(probes)), groups, *(np.array(column) for column in zip(*probes, strict=True)))
    found = sorted(
        (int(p), int(r)) for part in store.alive(asked, room) for p, r in zip(part.probes, part.rows, strict=True)
    )
    meant = [
        (p, r)
        for p, (low, high) in enumerate(probes)
        for r, (start, end) in enumerate(lifetimes)
        if max(low, start) < min(high, end)
    ]
    assert found == meant


def test_the_longest_lifetimes() -> None:
    huge = [(-(2**62), 2**62), (-(2**63) + 1, 2**63 - 2), (2**60, 2**60 + 1), (0, FOREVER)]
    store = arranged(huge)
    at = np.array([2**60])
    found = [part.rows for part in store.alive(Probes(at, np.zeros(1, np.int64), at, at + 1))]
    assert len(np.concatenate(found)) == 4
    store.forget(2**61)
    assert len(store) >= 2
