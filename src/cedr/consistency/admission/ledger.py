"""What the parts of the arrivals share: who has said what, and who wants to hear of it.

Readings: R33 (h and g), R41 (counts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.admission.lateness import Lateness
from cedr.consistency.admission.letters import Letters, Policy
from cedr.consistency.admission.stream_rows import Attributes, Source
from cedr.consistency.admission.versions import EventName, Story
from cedr.consistency.encoding import Json
from cedr.model.dead_letter import Fault, broken, late
from cedr.model.intake import IntakeCounts
from cedr.model.lineage import revisable
from cedr.model.providers import Providers
from cedr.model.schema import EventTypes
from cedr.model.stream import Insert
from cedr.model.time import BEGINNING, Time, plus
from cedr.runtime.store.holders import Holder

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Listener(Protocol):
    """Who hears of what was accepted: the feed of a consistency level."""

    def arrived(self, source: Source, rows: Rows, cedr_time: Time) -> None:
        """Plain events have arrived."""

    def promoted(self, source: Source, row: int, story: Story) -> None:
        """A plain event has become a story."""

    def told(self, story: Story, index: int, cedr_time: Time, *, waited: bool) -> None:
        """Something was said about a story; ``waited``: by a retraction that came before its insert."""

    @property
    def held(self) -> int:
        """How many accepted messages wait to be admitted."""

    def holds(self, source: Source, rows: Rows) -> Mask:
        """Which plain events are not admitted yet."""

    def holds_story(self, story: Story) -> bool:
        """Whether something about a story is not admitted yet."""

    def forgot(self, source: Source, rows: Rows, story: Story | None = None) -> None:
        """The rows of forgotten events."""

    def shows(self, source: Source, row: int) -> bool:
        """Whether a row is admitted and stands."""

    def catch_up(self) -> None:
        """Hear of all that is known."""

    def saved(self) -> Json:
        """What is needed to go on later."""

    def resume(self, saved: Json) -> None:
        """Go on with what was saved."""

    def renumber(self, source: Source, old_to_new: Rows) -> None:
        """The rows of a stream have new numbers."""


class Ledger:
    """The state that is shared.  ``holder`` makes the one who holds what is known of the table of a stream."""

    def __init__(
        self,
        catalog: EventTypes,
        providers: Iterable[str],
        policy: Policy,
        reads: Mapping[str, Attributes] | None,
        holder: Callable[[str], Holder],
    ) -> None:
        self.catalog = catalog
        self._reads, self._holder = reads, holder
        self.unread_keys = False
        """Whether inserts with keys of their own have come on streams that nobody reads."""
        self.counts = IntakeCounts()
        self.high: Time = BEGINNING
        self.cedr_time: Time = BEGINNING
        self.serials = 0
        self.lines: dict[str, tuple[int, Time, Time]] = {}
        """Where each stream was last forgotten: up to which serial number, Vs and Ve.  Reading: R37."""
        self.ignored = 0
        """Retractions that came too late to matter: their events are forgotten.  Reading: R34."""
        self.unsaved: dict[EventName, None] = {}
        """Events whose stories have changed or gone since they were last saved."""
        self.sources: dict[str, Source] = {}
        self.read: dict[str, Source] = {}
        """Those of streams that somebody reads."""
        self.letters = Letters(catalog, policy)
        self.lateness = Lateness()
        self.listeners: list[Listener] = []
        self.names: list[str | None] = [None]
        self.providers = Providers()
        self._codes: dict[str | None, int] = {None: 0}
        self.set_providers(dict.fromkeys(providers, BEGINNING), BEGINNING)

    def set_providers(self, own: dict[str, Time], of_all: Time) -> None:
        """Begin with what each provider has promised."""
        declared = [name for name in self.names if name is not None]
        self.names, self._codes = [None], {None: 0}
        self.providers = Providers(own)
        for name, time in own.items():
            self.providers.promise(name, time)
            self.code(name)
        self.providers.promise(None, of_all)
        for name in declared:
            self.code(name)

    def code(self, provider: str | None) -> int:
        """The number of a provider, who is known from now on."""
        found = self._codes.get(provider)
        if found is None:
            found = self._codes[provider] = len(self.names)
            self.names.append(provider)
        self.providers.join(provider)
        return found

    def source(self, stream: str) -> Source:
        """The state of a stream, begun where it is new."""
        found = self.sources.get(stream)
        if found is None:
            found = self.sources[stream] = Source(stream, self._reads.get(stream) if self._reads else None)
            found.table.hold(self._holder(stream))
            if self.reads(stream):
                self.read[stream] = found
            for name, other in self.sources.items():
                if name.startswith(stream + "/") or stream.startswith(name + "/"):
                    other.overlaps = found.overlaps = True
        return found

    def reads(self, stream: str) -> bool:
        """Whether anybody reads a stream."""
        return self._reads is None or stream in self._reads

    def untimely(self, message: Insert) -> Fault | None:
        """Whether an insert breaks a guarantee, or is later than its own Vs allows: no other version can help."""
        event, guarantee = message.event, self.providers.of(message.provider)
        sync = event.occurrence_start
        if sync <= guarantee:
            return broken(sync, guarantee)
        bound = plus(event.valid_start, revisable(self.catalog, event.stream))
        return late(sync, bound) if sync > bound else None

    def number(self) -> int:
        """The serial number of the next accepted message."""
        self.serials += 1
        return self.serials - 1
