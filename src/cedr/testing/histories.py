"""Hypothesis strategies for events and for histories of them.

A *history* is the ideal bitemporal table of some streams, as a tuple of rows: reduced, each version closed by the next
(R4, R5).  Times and values are few, so that ties, equal keys and NULLs are likely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from hypothesis import strategies as st

from cedr.model.event import Event, Payload, Value, primitive
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.time import FOREVER, Time, plus

History = tuple[Event, ...]
"""The rows of an ideal bitemporal table."""

ATTRIBUTES: Mapping[str, DataType] = {"k": DataType.INTEGER, "v": DataType.INTEGER, "s": DataType.STRING}
"""The payload of the small types: a key, a value, a text."""


def small_catalog(*names: str, revisable: int = 0) -> EventTypes:
    """A catalog of event types with the attributes k, v and s; A, B and C unless named.  Reading: R37.

    >>> [t.name for t in small_catalog()]
    ['A', 'B', 'C']
    """
    types = (EventType(name, ATTRIBUTES, revisable) for name in names or ("A", "B", "C"))
    return EventTypes({event_type.name: event_type for event_type in types})


_DOMAINS: Mapping[DataType, tuple[Value, ...]] = {
    DataType.INTEGER: (1, 1, 2, 1, 2, None),
    DataType.STRING: ("a", "b", "a", None),
    DataType.FLOAT: (1.5, 2.0, -0.5, None),
    DataType.DECIMAL: (Decimal("1.5"), Decimal(2), None),
    DataType.BOOLEAN: (True, False, None),
    DataType.TIMESTAMP: (1, 2, 3, None),
    DataType.DURATION: (1, 2, 3, None),
    DataType.DATE: (date(2026, 1, 1), date(2026, 1, 2), None),
    DataType.BINARY: (b"a", b"b", None),
    DataType.LIST: ((1, 2), (), None),
    DataType.STRUCT: (Payload({"a": 1}), None),
    DataType.NULL: (None,),
    DataType.ANY: (1, "a", None),
}


def payloads(event_type: EventType) -> st.SearchStrategy[Payload]:
    """Payloads of a type from small domains that include NULL."""
    values = (st.sampled_from(_DOMAINS[kind]) for kind in event_type.attributes.values())
    names = tuple(event_type.attributes)
    return st.tuples(*values).map(lambda row: Payload(zip(names, row, strict=True)))


def lengths(longest: int = 6) -> st.SearchStrategy[int]:
    """Lifetimes: short ones, now and then none at all (a detection) or FOREVER."""
    return st.one_of(st.integers(1, longest), st.sampled_from((FOREVER, 0, 1)))


def times(min_time: Time = 0, max_time: Time = 8) -> st.SearchStrategy[Time]:
    """Times of a small range, so that equal ones are likely."""
    return st.integers(min_time, max_time)


def events(event_type: EventType, *, min_time: Time = 0, max_time: Time = 8) -> st.SearchStrategy[Event]:
    """Plain events of a type: one version, stated in time.  Readings: R2, R9.

    All have the ID "e": ``histories`` gives each its own.
    """
    return st.builds(
        lambda start, length, ahead, payload: primitive(
            event_type.name, "e", start, plus(start, length), occurrence_start=start - ahead, payload=payload
        ),
        times(min_time, max_time),
        lengths(),
        st.sampled_from((0, 0, 0, 0, 1)),
        payloads(event_type),
    )


def histories(
    catalog: EventTypes, *, min_time: Time = 0, max_time: Time = 8, min_size: int = 0, max_size: int = 6
) -> st.SearchStrategy[History]:
    """Plain histories: one version per event, stated in time, never closed.  Reading: R9."""
    of_any_type = st.one_of(*(events(t, min_time=min_time, max_time=max_time) for t in catalog))
    return st.lists(of_any_type, min_size=min_size, max_size=max_size).map(numbered)


def numbered(rows: Iterable[Event]) -> History:
    """The rows with IDs of their own within their stream: a1, a2, b1 and so on."""
    counts: dict[str, int] = {}
    result = []
    for row in rows:
        counts[row.stream] = counts.get(row.stream, 0) + 1
        result.append(replace(row, id=f"{row.stream.lower()}{counts[row.stream]}"))
    return tuple(result)


def revised_histories(
    catalog: EventTypes, *, min_time: Time = 0, max_time: Time = 8, min_size: int = 0, max_size: int = 4
) -> st.SearchStrategy[History]:
    """Histories with modifications, closings and statements after the fact, as far as each type allows them.

    Paper: Section 2.  Readings: R4, R9, R37.  Of a type that is not REVISABLE the events are plain.
    """
    any_event = st.one_of(*(_revised(t, min_time, max_time) for t in catalog))
    lists = st.lists(any_event, min_size=min_size, max_size=max_size)
    return lists.map(lambda found: tuple(row for versions in _apart(found) for row in versions))


def _apart(found: Sequence[tuple[Event, ...]]) -> Iterable[tuple[Event, ...]]:
    ids = numbered(versions[0] for versions in found)
    return (tuple(replace(row, id=first.id) for row in versions) for first, versions in zip(ids, found, strict=True))


def _revised(event_type: EventType, min_time: Time, max_time: Time) -> st.SearchStrategy[tuple[Event, ...]]:
    plain = events(event_type, min_time=min_time, max_time=max_time).map(lambda event: (event,))
    if event_type.revisable == 0:
        return plain
    version = st.tuples(
        times(min_time, max_time), times(min_time, max_time), lengths(), payloads(event_type), st.integers(-6, 3)
    )
    several = st.lists(version, min_size=1, max_size=3, unique_by=lambda drawn: drawn[0])
    stories = st.tuples(several, st.booleans()).map(lambda drawn: _story(event_type, *drawn))
    return st.one_of(plain, stories)


_Version = tuple[Time, Time, int, Payload, int]


def _story(event_type: EventType, drawn: list[_Version], in_time: bool) -> tuple[Event, ...]:  # noqa: FBT001 - drawn
    """The versions of one event, drawn as (Os, Vs, length, payload, closing); a positive closing ends one early.

    A version that its type does not allow is left out; a first one is then stated in time instead.  Reading: R37.
    """
    versions: list[Event] = []
    smallest = FOREVER
    for os, vs, length, payload, closing in sorted(drawn, key=lambda item: item[0]):
        start = max(os, vs) if in_time and not versions else vs
        bound = plus(min(smallest, start), event_type.revisable)
        if os > bound:
            if versions:
                continue
            start, bound = os, plus(os, event_type.revisable)
        smallest = min(smallest, start)
        end = plus(os, closing) if closing > 0 and plus(os, closing) <= bound else FOREVER
        valid_end = plus(start, length)
        versions.append(
            primitive(event_type.name, "e", start, valid_end, occurrence_start=os, occurrence_end=end, payload=payload)
        )
    following = [*(row.occurrence_start for row in versions[1:]), FOREVER]
    closed = (min(row.occurrence_end, start) for row, start in zip(versions, following, strict=True))
    return tuple(replace(row, occurrence_end=end) for row, end in zip(versions, closed, strict=True))


def tables_of(history: History) -> dict[str, list[Event]]:
    """The rows by stream, as the oracle takes them."""
    tables: dict[str, list[Event]] = {}
    for row in history:
        tables.setdefault(row.stream, []).append(row)
    return tables
