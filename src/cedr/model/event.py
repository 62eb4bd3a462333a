"""Events with the full header, and their payloads.

Paper: Section 3.3.1, "(ID, Vs, Ve, Os, Oe, Rt, cbt[]; p)".  Reading: R2.  The paper's symbols and our names:

    ID   id                          Rt     root_time
    Vs   valid_start                 cbt[]  contributors
    Ve   valid_end                   p      payload
    Os   occurrence_start            K      lineage_key (on messages and history rows)
    Oe   occurrence_end              Cs,Ce  cedr_start, cedr_end (on history rows)

An ``Event`` is one *version* of an event: rows of one ``(stream, id)`` with different ``occurrence_start`` are
its modifications (R4).  ``bindings`` holds what the variables of a pattern stand for; it is part of the row while a
query is evaluated and empty in what a query gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Union

from cedr.model.time import FOREVER, Interval, Time

Value = Union[None, bool, int, float, Decimal, str, bytes, date, "tuple[Value, ...]", "Payload"]


class Payload(Mapping[str, Value]):
    """An immutable, hashable, ordered row of named values; nested lists become tuples, structs payloads.

    >>> Payload({"a": 1, "b": [2, {"c": 3}]})
    Payload(a=1, b=(2, Payload(c=3)))
    """

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[str, object] | Iterable[tuple[str, object]] = ()) -> None:
        self._items: dict[str, Value] = {name: freeze(value) for name, value in dict(items).items()}
        self._hash: int | None = None

    def __getitem__(self, name: str) -> Value:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._items.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Payload) and self._items == other._items

    def __repr__(self) -> str:
        return f"Payload({', '.join(f'{name}={value!r}' for name, value in self._items.items())})"


_IMMUTABLE = (bool, int, float, Decimal, str, bytes, date)


def freeze(value: object) -> Value:
    """A value as an immutable one."""
    if value is None or isinstance(value, _IMMUTABLE):  # as a rule; to ask for a mapping takes much longer
        return value
    if isinstance(value, Payload):
        return value
    if isinstance(value, Mapping):
        return Payload(value)
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    message = f"a payload cannot hold {value!r} of type {type(value).__name__}"
    raise TypeError(message)


EMPTY = Payload()


@dataclass(frozen=True, slots=True)
class Event:
    """One version of an event: header and payload.  Paper: Section 3.3.1.  Reading: R2."""

    stream: str
    id: str
    valid_start: Time
    valid_end: Time
    occurrence_start: Time
    occurrence_end: Time
    root_time: Time
    contributors: tuple[Event, ...] = ()
    payload: Payload = EMPTY
    bindings: tuple[tuple[str, Event], ...] = ()

    @property
    def valid(self) -> Interval:
        """``[Vs, Ve)``."""
        return Interval(self.valid_start, self.valid_end)

    @property
    def occurrence(self) -> Interval:
        """``[Os, Oe)``."""
        return Interval(self.occurrence_start, self.occurrence_end)

    @property
    def reference(self) -> tuple[str, str]:
        """What identifies the event across its versions: IDs are unique within their stream (R4)."""
        return self.stream, self.id

    @property
    def content(self) -> Event:
        """The event without its occurrence interval: what stays the same over a run of beliefs (R9)."""
        if self.occurrence_start == 0 and self.occurrence_end == FOREVER:
            return self
        return replace(self, occurrence_start=0, occurrence_end=FOREVER)


def primitive(
    stream: str,
    id: str,  # noqa: A002 - the paper's word
    valid_start: Time,
    valid_end: Time = FOREVER,
    *,
    occurrence_start: Time | None = None,
    occurrence_end: Time = FOREVER,
    payload: Mapping[str, object] = EMPTY,
) -> Event:
    """A primitive event: Rt = Vs, no contributors; Os = Vs, Ve = Oe = FOREVER unless given.  Reading: R2.

    >>> e = primitive("A", "a1", 5)
    >>> e.root_time, e.occurrence_start, e.valid_end == FOREVER, e.contributors
    (5, 5, True, ())
    """
    start = valid_start if occurrence_start is None else occurrence_start
    frozen = payload if isinstance(payload, Payload) else Payload(payload)
    return Event(stream, id, valid_start, valid_end, start, occurrence_end, valid_start, (), frozen)


TieOrder = tuple[tuple[tuple[Time, str], ...], str]
"""(Vs, ID) of each primitive contributor, then the ID."""


def tie_order(event: Event) -> TieOrder:
    """What puts events of equal Vs in order.  Reading: R42.

    Primitive events go by ID; composites by their primitive contributors, each by (Vs, ID), and then by ID.
    """
    return tuple((leaf.valid_start, leaf.id) for leaf in primitive_contributors(event)), event.id


def primitive_contributors(event: Event) -> tuple[Event, ...]:
    """The primitive events an event is made of, flattened, in pattern order; a primitive one is made of itself."""
    if not event.contributors:
        return (event,)
    return tuple(leaf for part in event.contributors for leaf in primitive_contributors(part))
