"""The three messages of a physical stream, in the order of CEDR time.

Paper: Sections 2 and 4.  Reading: R3.  *Insert* a row with a key K; *retract* K to a smaller Oe or a smaller Ve (with
neither: remove the row, it never was); *guarantee* t: every later message of this provider has Sync > t.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cedr.model.event import Event
from cedr.model.time import FOREVER, Time

LineageKey = str


@dataclass(frozen=True, slots=True)
class Insert:
    """A row arrives.  Its lineage key K defaults to one made of stream, ID and Os (R3)."""

    event: Event
    lineage_key: LineageKey
    provider: str | None = None


@dataclass(frozen=True, slots=True)
class Retract:
    """The row K is shortened to a smaller Oe or Ve; with neither it is removed.  Reading: R3."""

    lineage_key: LineageKey
    occurrence_end: Time | None = None
    valid_end: Time | None = None
    provider: str | None = None

    @property
    def removes(self) -> bool:
        """Whether the message asks for removal outright."""
        return self.occurrence_end is None and self.valid_end is None

    @property
    def first_end(self) -> Time | None:
        """The smaller of the ends that it names; None where it names none."""
        return min((end for end in (self.occurrence_end, self.valid_end) if end is not None), default=None)


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A sync point declared by a provider: every later message of it has Sync > time.  Without a provider: of all."""

    time: Time
    provider: str | None = None


Message = Insert | Retract | Guarantee


def default_key(event: Event) -> LineageKey:
    """K of an insert that names none: (ID, Os) within its stream.  Reading: R3."""
    return f"{event.stream}/{event.id}@{event.occurrence_start}"


def names_in(key: LineageKey) -> Iterator[tuple[str, str]]:
    """The events of which a key may be the default: stream and ID, each with their Os behind them.  Reading: R3.

    >>> list(names_in("A/b/c@5")), list(names_in("K1"))
    ([('A', 'b/c'), ('A/b', 'c')], [])
    """
    name, at, start = key.rpartition("@")
    if not at or not start.lstrip("-").isdecimal():
        return
    place = name.find("/")
    while place >= 0:
        yield name[:place], name[place + 1 :]
        place = name.find("/", place + 1)


def start_in(key: LineageKey) -> Time:
    """The Os that a key names; FOREVER where it names none.  Reading: R3.

    >>> start_in("A/a@5"), start_in("K1") == FOREVER
    (5, True)
    """
    return int(key.rpartition("@")[2]) if any(names_in(key)) else FOREVER


def insert(event: Event, lineage_key: LineageKey | None = None, provider: str | None = None) -> Insert:
    """An insert with the default key where none is given."""
    return Insert(event, default_key(event) if lineage_key is None else lineage_key, provider)


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of a change stream: a message that a query said, with the CEDR time at which it was said.

    Paper: Section 4.  Reading: R8 for K, R40 for the CEDR time of a batch.  ``event`` is the row an insert says, or the
    row as it was said before a retraction shortens or removes it.
    """

    message: Message
    cedr_time: Time
    event: Event | None = None

    @property
    def kind(self) -> str:
        """What it says: "insert", "retract" or "guarantee"."""
        return type(self.message).__name__.lower()
