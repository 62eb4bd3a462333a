"""Hypothesis strategies for how one history may arrive: in which order, in which batches, by which retractions.

Paper: Section 4: streams that are logically equivalent describe one ideal history, "regardless of the order in which
those state updates arrive".  Everything here is such a stream of the given history.  Readings: R3, R4, R41.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from hypothesis import strategies as st

from cedr.model.event import Event
from cedr.model.stream import Guarantee, Insert, Message, Retract, insert
from cedr.model.sync import sync_of
from cedr.model.time import FOREVER, Time, plus
from cedr.testing.histories import History

Batches = list[list[Message]]
"""Messages in arrival order; those of one batch have one CEDR time.  Reading: R40."""


def messages_of(history: History) -> list[Message]:
    """The ideal messages of a history, in the order of Sync: each row once, a closing that no modification says.

    >>> from cedr.model.event import primitive
    >>> [type(m).__name__ for m in messages_of((primitive("A", "a", 1, occurrence_end=5),))]
    ['Insert', 'Retract']
    """
    found: list[Message] = []
    for row in history:
        opened = insert(replace(row, occurrence_end=FOREVER))
        found.append(opened)
        if not _closed_by_modification(row, history):
            found.extend([Retract(opened.lineage_key, occurrence_end=row.occurrence_end)])
    syncs = syncs_of(found)
    return [message for _, _, message in sorted(zip(syncs, range(len(found)), found, strict=True), key=lambda m: m[:2])]


def _closed_by_modification(row: Event, history: History) -> bool:
    """Whether the row's Oe needs no message of its own: it is FOREVER, or the Os of the next version (R4)."""
    return row.occurrence_end == FOREVER or any(
        other.reference == row.reference and other.occurrence_start == row.occurrence_end for other in history
    )


def syncs_of(messages: Sequence[Message]) -> list[Time]:
    """The Sync of each message; of a guarantee its time.  Reading: R7."""
    rows = {m.lineage_key: m.event for m in messages if isinstance(m, Insert)}
    return [_sync(message, rows) for message in messages]


def _sync(message: Message, rows: dict[str, Event]) -> Time:
    if isinstance(message, Guarantee):
        return message.time
    if isinstance(message, Insert):
        return message.event.occurrence_start
    return sync_of(rows[message.lineage_key], message)


# -- orders -----------------------------------------------------------------------------------------------------------


def arrival_orders(messages: Sequence[Message]) -> st.SearchStrategy[Batches]:
    """The messages in any order whatsoever, in any batches."""
    return st.permutations(list(messages)).flatmap(batched)


def batched(messages: Sequence[Message]) -> st.SearchStrategy[Batches]:
    """The messages in their order, cut into batches."""
    cuts = st.lists(st.sampled_from((True, True, False)), min_size=len(messages), max_size=len(messages))
    return cuts.map(lambda ends: _cut(messages, ends))


def _cut(messages: Sequence[Message], ends: Sequence[bool]) -> Batches:
    batches: Batches = [[]]
    for message, end in zip(messages, ends, strict=True):
        batches[-1].append(message)
        if end:
            batches.append([])
    return [batch for batch in batches if batch]


def nearly_ordered(messages: Sequence[Message], *, displaced: int = 5) -> st.SearchStrategy[list[Message]]:
    """The messages in the order of Sync, each late by up to ``displaced``."""
    syncs = syncs_of(messages)
    delays = st.lists(st.integers(0, displaced), min_size=len(messages), max_size=len(messages))
    return delays.map(
        lambda late: [m for _, _, m in sorted(zip(map(sum, zip(syncs, late, strict=True)), count(), messages))]
    )


# -- guarantees -------------------------------------------------------------------------------------------------------


def guaranteed(batches: Batches, *, final: bool = False) -> st.SearchStrategy[Batches]:
    """The batches with guarantees put in where they are true: every later message has Sync > t.  Reading: R3.

    With ``final`` a last batch promises that all is said.
    """
    size = sum(map(len, batches))
    now_and_then, keeping_pace = (None, None, 0, 1, 3), (None, 0, 0, 0)
    slack = st.sampled_from((now_and_then, now_and_then, keeping_pace)).flatmap(
        lambda some: st.lists(st.sampled_from(some), min_size=size, max_size=size)
    )
    return slack.map(lambda drawn: _promised(batches, drawn, final=final))


def _promised(batches: Batches, slack: Sequence[int | None], *, final: bool) -> Batches:
    syncs = syncs_of([message for batch in batches for message in batch])
    end = max((sync for sync in syncs if sync != FOREVER), default=0) + 3
    result: Batches = []
    position = 0
    for batch in batches:
        kept: list[Message] = []
        for message in batch:
            kept.append(message)
            less, position = slack[position], position + 1
            if less is not None:
                kept.append(Guarantee(min(syncs[position:], default=end) - 1 - less))
        result.append(kept)
    return [*result, [Guarantee(end + 40)]] if final else result


def arrivals(
    history: History, *, revised: bool = False, final: bool = False, settled: bool = False
) -> st.SearchStrategy[Batches]:
    """All at once: retraction paths (with ``revised``), any order, any batches, true guarantees."""
    said = retraction_paths(history, settled=settled) if revised else st.just(messages_of(history))
    orders = said.flatmap(
        lambda found: st.one_of(
            arrival_orders(found), *(nearly_ordered(found, displaced=most).flatmap(batched) for most in (5, 0))
        )
    )
    return orders.flatmap(lambda batches: guaranteed(batches, final=final))


# -- retraction paths -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Path:
    """How one row comes to be said."""

    longer: tuple[int, ...]
    """Ve is said this much later first, then shortened, step by step."""
    closing: str
    """An Oe is said with the row ("at once"), after a larger one ("shortened"), or last ("opened")."""
    twin: tuple[int, str] | None
    """A wrong version of the event at this distance of Os, and how it is removed (Figure 2)."""
    stranger: str | None
    """A row that never was, and how it is removed."""
    repeated: bool
    """Whether messages come twice."""
    key: bool
    """Whether K is a name of its own."""


_REMOVALS = st.sampled_from(("outright", "Oe", "Ve"))
_PATHS = st.builds(
    _Path,
    longer=st.sampled_from(((), (), (2,), (FOREVER,), (5, 2))),
    closing=st.sampled_from(("at once", "shortened", "opened")),
    twin=st.one_of(st.none(), st.tuples(st.sampled_from((-1, 1, 2)), _REMOVALS)),
    stranger=st.one_of(st.none(), st.none(), _REMOVALS),
    repeated=st.booleans(),
    key=st.booleans(),
)


def retraction_paths(history: History, *, settled: bool = False) -> st.SearchStrategy[list[Message]]:
    """Messages that amount to the history by detours: logically equivalent streams.

    Paper: Section 4, Figure 2.  Readings: R3, R5, R41.  Rows first inserted with a larger Oe or Ve and then shortened;
    rows that never were, inserted and removed; a version inserted under the wrong Os, removed and inserted anew;
    messages that come twice.  The order does not matter: no two live rows ever have one ID and one Os.

    With ``settled`` the Ve of an event with several versions is right from the start: whether two versions are one row
    (R10) can otherwise depend on a Ve that a guarantee does not cover yet.
    """
    paths = st.lists(_PATHS, min_size=len(history), max_size=len(history))
    return paths.map(lambda drawn: _said(history, _settled(history, drawn) if settled else drawn))


def _settled(history: History, paths: Sequence[_Path]) -> list[_Path]:
    versions = Counter(row.reference for row in history)
    return [
        replace(path, longer=()) if versions[row.reference] > 1 else path
        for row, path in zip(history, paths, strict=True)
    ]


def _said(history: History, paths: Sequence[_Path]) -> list[Message]:
    taken = {(row.reference, row.occurrence_start) for row in history}
    said: list[Message] = []
    for number, (row, path) in enumerate(zip(history, paths, strict=True)):
        part = _said_row(row, path, history, number)
        if path.twin is not None:
            start = row.occurrence_start + path.twin[0]
            if (row.reference, start) not in taken:
                taken.add((row.reference, start))
                wrong = replace(row, occurrence_start=start, occurrence_end=FOREVER)
                part = [*_withdrawn(wrong, f"twin-{number}", path.twin[1]), *part]
        if path.stranger is not None:
            part += _withdrawn(replace(row, id=f"x{number}", occurrence_end=FOREVER), f"x-{number}", path.stranger)
        said.extend(part)
        if path.repeated:
            said.extend(part)
    return said


def _said_row(row: Event, path: _Path, history: History, number: int) -> list[Message]:
    first, retractions = row, list[Retract]()
    key = f"K{number}" if path.key else insert(row).lineage_key
    if path.longer and row.valid_start < row.valid_end < FOREVER:
        ends = [plus(row.valid_end, more) for more in path.longer]
        first = replace(first, valid_end=ends[0])
        retractions += [Retract(key, valid_end=end) for end in (*ends[1:], row.valid_end)]
    if row.occurrence_end < FOREVER and path.closing != "at once":
        later = FOREVER if path.closing == "opened" else row.occurrence_end + 2
        first = replace(first, occurrence_end=later)
        if path.closing == "shortened" or not _closed_by_modification(row, history):
            retractions.append(Retract(key, occurrence_end=row.occurrence_end))
    return [insert(first, key), *retractions]


def _withdrawn(row: Event, key: str, how: str) -> Iterable[Message]:
    opened = insert(row, key)
    if how == "Ve" and row.valid_start < row.valid_end:
        return [opened, Retract(key, valid_end=row.valid_start)]
    if how == "Oe":
        return [opened, Retract(key, occurrence_end=row.occurrence_start)]
    return [opened, Retract(key)]
