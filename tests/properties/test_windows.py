"""Windows equal their definitions, by brute force over instants and over k.

Paper: Definition 12, Section 6.  Reading: R31.  Times may lie before the epoch, and s need be no multiple of h.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cedr.model.event import Event
from cedr.model.time import FOREVER, Interval
from cedr.plan import logical
from cedr.plan.logical import Node
from cedr.plan.windows import altered
from cedr.semantics.evaluate import evaluate
from cedr.testing import strategies as some
from cedr.testing.histories import History, tables_of
from tests.properties.plans import COUNT, leaf

CATALOG = some.small_catalog("A")
HISTORIES = some.histories(CATALOG, min_time=-9, max_time=9)
LENGTHS = st.integers(1, 7)
INSTANTS = range(-20, 40)


def lifetimes(node: Node, history: History) -> Counter[tuple[str, Interval]]:
    return Counter((row.id, row.valid) for row in evaluate(node, tables_of(history)))


def expected(history: History, *lifetimes_of) -> Counter[tuple[str, Interval]]:  # type: ignore[no-untyped-def]
    (lifetime,) = lifetimes_of
    found = ((e.id, lifetime(e)) for e in history)
    return Counter((id_, valid) for id_, valid in found if not valid.empty and valid.start != FOREVER)


def count_at(node: Node, history: History, instant: int) -> int:
    """The count of a window's events at an instant."""
    counted = logical.GroupBy(node, (), (COUNT,), place="/GROUP")
    alive = [row.payload["n"] for row in evaluate(counted, tables_of(history)) if row.valid.holds(instant)]
    assert len(alive) <= 1
    return alive[0] if alive else 0  # type: ignore[return-value]


@given(HISTORIES, LENGTHS)
def test_moving(history: History, length: int) -> None:
    """Paper: Section 6: "W_wl(S) = Π_Vs,min(Ve-Vs,wl)(S)"."""
    node = altered(leaf("A", "x"), "MOVING", length)
    assert lifetimes(node, history) == expected(
        history, lambda e: Interval(e.valid_start, e.valid_start + min(e.valid_end - e.valid_start, length))
    )


@given(HISTORIES)
def test_inserts_and_deletes(history: History) -> None:
    """Paper: Section 6: "Inserts(S) = Π_Vs,∞(S), Deletes(S) = Π_Ve,∞(S)".  R31: what never ends is never deleted."""
    inserts, deletes = (altered(leaf("A", "x"), window) for window in ("INSERTS", "DELETES"))
    assert lifetimes(inserts, history) == expected(history, lambda e: Interval(e.valid_start, FOREVER))
    assert lifetimes(deletes, history) == expected(history, lambda e: Interval(e.valid_end, FOREVER))


@given(HISTORIES, LENGTHS, LENGTHS)
def test_hopping(history: History, size: int, hop: int) -> None:
    """Reading: R31: window k counts the Vs in [k·h, k·h + s) and is valid [k·h + s, k·h + s + h)."""
    node = altered(leaf("A", "x"), "HOPPING", size, hop)
    for instant in INSTANTS:
        (k,) = (k for k in range(-60, 60) if k * hop + size <= instant < k * hop + size + hop)
        window = Interval(k * hop, k * hop + size)
        assert count_at(node, history, instant) == sum(window.holds(e.valid_start) for e in history)


@given(HISTORIES, LENGTHS, LENGTHS)
def test_hopping_event_by_event(history: History, size: int, hop: int) -> None:
    """Reading: R31: an event lives while a window that holds its Vs is valid, and if none does it is dropped."""
    node = altered(leaf("A", "x"), "HOPPING", size, hop)

    def lifetime(event: Event) -> Interval:
        windows = [k for k in range(-60, 60) if k * hop <= event.valid_start < k * hop + size]
        if not windows:
            return Interval(0, 0)
        return Interval(min(windows) * hop + size, max(windows) * hop + size + hop)

    assert lifetimes(node, history) == expected(history, lifetime)


@given(HISTORIES, LENGTHS)
def test_tumbling(history: History, size: int) -> None:
    """Reading: R31: tumbling is s = h; each event counts in exactly one window."""
    node = altered(leaf("A", "x"), "TUMBLING", size, size)
    assert lifetimes(node, history) == expected(
        history,
        lambda e: Interval((e.valid_start // size + 1) * size, (e.valid_start // size + 2) * size),
    )


@given(HISTORIES, st.integers(1, 4))
def test_session(history: History, gap: int) -> None:
    """Reading: R31: an event lives as long as its session, from its first start to ``gap`` after its last."""
    starts = sorted(e.valid_start for e in history)

    def lifetime(event: Event) -> Interval:
        first = last = event.valid_start
        while any(0 < first - s < gap for s in starts):
            first = max(s for s in starts if 0 < first - s < gap)
        while any(0 < s - last < gap for s in starts):
            last = min(s for s in starts if 0 < s - last < gap)
        return Interval(first, last + gap)

    assert lifetimes(logical.Session(leaf("A", "x"), gap, place="/SESSION"), history) == expected(history, lifetime)
