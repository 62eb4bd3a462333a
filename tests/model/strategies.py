"""Streams for the properties of the model: one state, said directly and along a winding path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from cedr.model.event import Event, primitive
from cedr.model.schema import EventType, EventTypes
from cedr.model.stream import Insert, Message, Retract
from cedr.model.time import FOREVER

times = st.integers(-3, 12)
ends = st.integers(0, 8) | st.just(FOREVER)
REVISABLE = EventTypes({"S": EventType("S", revisable=FOREVER)})


@dataclass(frozen=True)
class Path:
    """Two streams of messages for one state: inserts alone, and with retractions, removed rows and disorder."""

    direct: Sequence[Message]
    winding: Sequence[Message]


@st.composite
def rows(draw: st.DrawFn) -> Event:
    """A row of stream S; several of one ID are versions of one event."""
    vs, os = draw(times), draw(times)
    ve, oe = draw(ends), draw(ends)
    return primitive(
        "S",
        draw(st.sampled_from("ab")),
        vs,
        FOREVER if ve == FOREVER else vs + ve,
        occurrence_start=os,
        occurrence_end=FOREVER if oe == FOREVER else os + oe + 1,
        payload={"x": draw(st.integers(0, 1))},
    )


def tables() -> st.SearchStrategy[list[Event]]:
    """Rows with at most one of each (ID, Os)."""
    return st.lists(rows(), max_size=5, unique_by=lambda row: (row.id, row.occurrence_start))


@st.composite
def paths(draw: st.DrawFn) -> Path:
    """A table said directly, and said by a winding path in any order."""
    table = draw(tables())
    alive = draw(st.sets(st.sampled_from(range(len(table))))) if table else set()
    winding: list[Message] = []
    for number, row in enumerate(table):
        winding += draw(_said(row, f"K{number}") if number in alive else _removed(row, f"K{number}"))
    direct = [Insert(table[number], f"D{number}") for number in sorted(alive)]
    return Path(direct, draw(st.permutations(winding)))


@st.composite
def _said(draw: st.DrawFn, row: Event, key: str) -> list[Message]:
    """The row, first stated too long and then shortened step by step."""
    steps: list[Message] = []
    first = row
    if draw(st.booleans()) and row.occurrence_end < FOREVER:
        first = replace(first, occurrence_end=FOREVER)
        steps += [
            Retract(key, occurrence_end=row.occurrence_end + more) for more in draw(st.sampled_from(([0], [2, 0])))
        ]
    if draw(st.booleans()) and row.valid_start < row.valid_end < FOREVER:
        first = replace(first, valid_end=FOREVER)
        steps += [Retract(key, valid_end=row.valid_end + more) for more in draw(st.sampled_from(([0], [3, 0])))]
    return [Insert(first, key), *steps]


def _removed(row: Event, key: str) -> st.SearchStrategy[list[Message]]:
    """A row that was said and then proved never to have been."""
    removals = [Retract(key), Retract(key, occurrence_end=row.occurrence_start)]
    if row.valid_end > row.valid_start:
        removals.append(Retract(key, valid_end=row.valid_start))
    return st.sampled_from(removals).map(lambda removal: [Insert(row, key), removal])
