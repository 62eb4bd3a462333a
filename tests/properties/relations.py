"""Relations packaged into events in different ways: chopped at random instants.

Paper: Definition 11: "the operator must treat a payload whose lifetime is chopped into several insert events the same
way as a payload whose lifetime is described in one event with a larger, equivalent lifetime".
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from hypothesis import strategies as st

from cedr.model.event import Event, Payload, primitive
from cedr.model.time import Interval, Time
from cedr.testing.histories import payloads, small_catalog

CATALOG = small_catalog("A", "B")

Relation = dict[Payload, list[Interval]]


def relations(name: str = "A", largest: int = 3) -> st.SearchStrategy[Relation]:
    """Payloads, each alive over intervals that neither overlap nor meet."""
    found = CATALOG.get(name)
    assert found is not None
    cuts = st.lists(st.integers(0, 9), min_size=2, max_size=4, unique=True).map(sorted).map(_every_other)
    return st.dictionaries(payloads(found), cuts, max_size=largest)


def _every_other(cuts: list[Time]) -> list[Interval]:
    return [Interval(start, end) for start, end in pairwise(cuts)][::2]


@st.composite
def packagings(draw: st.DrawFn, relation: Relation, name: str = "A") -> list[Event]:
    """The relation as events: each interval chopped where one likes."""
    rows: list[Event] = []
    for payload, intervals in relation.items():
        for interval in intervals:
            inside = range(interval.start + 1, interval.end)
            cuts = draw(st.lists(st.sampled_from(inside), max_size=2, unique=True)) if inside else []
            rows += chopped(name, payload, interval, cuts, len(rows))
    return rows


def chopped(name: str, payload: Payload, interval: Interval, cuts: Iterable[Time], first: int = 0) -> list[Event]:
    """One lifetime as several events that meet."""
    times = [interval.start, *sorted(cuts), interval.end]
    return [
        primitive(name, f"{name.lower()}{first + number}", start, end, payload=payload)
        for number, (start, end) in enumerate(pairwise(times))
    ]


def packaged_twice(name: str = "A") -> st.SearchStrategy[tuple[list[Event], list[Event]]]:
    """One relation, packaged in two ways: *(R) and *(S) are identical."""
    return relations(name).flatmap(lambda r: st.tuples(packagings(r, name), packagings(r, name)))


_STARTS = st.integers(0, 5)


def one_lifetime_twice() -> st.SearchStrategy[tuple[list[Event], list[Event]]]:
    """A single lifetime, whole and chopped: the smallest relation that can be packaged in two ways."""
    payload, interval = (
        Payload({"v": 1}),
        st.builds(lambda start, length: Interval(start, start + length), _STARTS, _STARTS),
    )
    return interval.flatmap(
        lambda i: st.lists(st.integers(i.start, i.end), max_size=2, unique=True).map(
            lambda cuts: (
                chopped("A", payload, i, []),
                chopped("A", payload, i, [cut for cut in cuts if i.start < cut < i.end]),
            )
        )
    )
