"""Who has subscribed to what: the subscriptions by their IDs, and where their filters are.

A subscription has a number, its *slot*, for as long as the book lives: one that is removed and added anew has another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import CedrError, LanguageError, StreamError
from cedr.language.problems import close, listing
from cedr.model.schema import EventType, EventTypes
from cedr.model.time import Time
from cedr.runtime.values.arrow_arrays import arrow
from cedr.runtime.values.growable import Growable
from cedr.subscriptions.index import Index
from cedr.subscriptions.texts import Read

Rows = NDArray[np.int64]

_MOST_ERRORS: Final = 20
"""Errors of a bulk of subscriptions that are told."""


class Subscription(NamedTuple):
    """What somebody has subscribed to."""

    id: str
    type: str
    where: str


class Book:
    """The subscriptions, and an index for each event type."""

    def __init__(self, types: EventTypes) -> None:
        self.types = types
        self.indexes = {each.name: Index(each) for each in types}
        self._slots: dict[str, int] = {}
        self._ids: list[str] = []
        self._texts: list[str | None] = []
        """None where the subscription is no more."""
        self._type_names = list(self.indexes)
        self._type = Growable(np.int32)
        self._template = Growable(np.int64)
        self._place = Growable(np.int64)
        self._since = Growable(np.int64)
        self._names: pa.Array | None = None
        self.version = 0
        """How often subscriptions were added or removed."""

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._slots

    def __iter__(self) -> Iterator[Subscription]:
        for id_, slot in self._slots.items():
            yield Subscription(id_, self._type_names[self._type.view[slot]], self._texts[slot] or "")

    @property
    def since(self) -> Rows:
        """The CEDR time from which on each slot gets what is emitted."""
        return self._since.view

    def names(self, slots: Rows) -> pa.Array:
        """The IDs of some slots."""
        if self._names is None or len(self._names) < len(self._ids):
            self._names = pa.array(self._ids, pa.string())
        return pa.DictionaryArray.from_arrays(arrow(slots), self._names)

    def get(self, id_: str) -> Subscription:
        """The subscription of an ID.  Raises ``StreamError``."""
        slot = self._slot(id_)
        return Subscription(id_, self._type_names[self._type.view[slot]], self._texts[slot] or "")

    def at(self, slot: int) -> Subscription:
        """The subscription of a slot."""
        return Subscription(self._ids[slot], self._type_names[self._type.view[slot]], self._texts[slot] or "")

    # -- changes ------------------------------------------------------------------------------------------------------

    def add(self, given: Sequence[Subscription], since: Time | Sequence[Time]) -> None:
        """Add subscriptions, all of them or, where one is wrong, none.  Raises ``StreamError``, ``LanguageError``."""
        self._check_ids(given)
        read = self._read(given)
        first = len(self._ids)
        slots = np.arange(first, first + len(given))
        types = np.array([self._type_names.index(each.type) for each in given], np.int32)
        templates, places = np.empty(len(given), np.int64), np.empty(len(given), np.int64)
        for number in np.unique(types).tolist():
            own = np.flatnonzero(types == number)
            index = self.indexes[self._type_names[number]]
            found = index.extend(slots[own].tolist(), [read[place] for place in own.tolist()])
            templates[own], places[own] = found
        for column, values in ((self._type, types), (self._template, templates), (self._place, places)):
            column.extend(values)
        self._since.extend(np.full(len(given), since) if isinstance(since, int) else since)
        self._ids.extend(each.id for each in given)
        self._texts.extend(each.where for each in given)
        self._slots.update((each.id, first + number) for number, each in enumerate(given))
        self.version += 1

    def remove(self, ids: Iterable[str]) -> None:
        """Remove subscriptions, all of them or, where there is no such one, none.  Raises ``StreamError``."""
        slots = np.array([self._slot(id_) for id_ in dict.fromkeys(ids)], np.int64)
        types, templates = self._type.view[slots], self._template.view[slots]
        for number in np.unique(types).tolist():
            index = self.indexes[self._type_names[number]]
            for place in np.unique(templates[types == number]).tolist():
                template = index.templates[place]
                template.remove(self._place.view[slots[(types == number) & (templates == place)]])
                moved = template.compact()
                if moved is not None:
                    self._place.view[moved] = np.arange(len(moved))
        for slot in slots.tolist():
            del self._slots[self._ids[slot]]
            self._texts[slot] = None
        self.version += 1

    def _check_ids(self, given: Sequence[Subscription]) -> None:
        seen: set[str] = set()
        for each in given:
            named: object = each.id  # whatever was given
            if not isinstance(named, str) or not named:
                primary = f"the ID of a subscription is a text that is not empty, not {named!r}"
                raise StreamError(Diagnostic("bad-subscription", primary))
            if each.id in self._slots or each.id in seen:
                primary = f'there are two subscriptions "{each.id}"'
                hint = "remove the first, or give the second another ID"
                raise StreamError(Diagnostic("duplicate-subscription", primary, hint=hint))
            seen.add(each.id)

    def _read(self, given: Sequence[Subscription]) -> list[Read]:
        """The filters; what is wrong with any of them is told together."""
        found: list[Read] = []
        errors: list[Diagnostic] = []
        for each in given:
            try:
                found.append(self._index(each).reader.read(each.where, f"subscription {each.id}"))
            except CedrError as error:
                errors += error.diagnostics
                if len(errors) >= _MOST_ERRORS:
                    break
        if errors:
            raise LanguageError(errors[:_MOST_ERRORS])
        return found

    def _index(self, given: Subscription) -> Index:
        if given.type not in self.indexes:
            primary = f'the subscription "{given.id}" is to events of type "{given.type}", and there is no such type'
            similar = close(given.type, self.indexes)
            detail = f"types are: {listing(self.indexes)}"
            hint = f"did you mean {similar}?" if similar else ""
            raise LanguageError(Diagnostic("unknown-event-type", primary, detail=detail, hint=hint))
        return self.indexes[given.type]

    def _slot(self, id_: str) -> int:
        slot = self._slots.get(id_)
        if slot is None:
            similar = close(id_, self._slots) if len(self._slots) <= _MOST_SIMILAR else None
            hint = f'did you mean "{similar}"?' if similar else ""
            raise StreamError(Diagnostic("unknown-subscription", f'there is no subscription "{id_}"', hint=hint))
        return slot

    def failure(self, slot: int, error: CedrError) -> Diagnostic:
        """What is told of a subscription whose predicate raised an error."""
        of, (raised, *_) = self.at(slot), error.diagnostics
        primary = f'the subscription "{of.id}" failed: {raised.primary}'
        detail = ", ".join(part for part in (f"it is {of.where}", raised.detail) if part)
        return Diagnostic("subscription-failed", primary, detail=detail, hint=raised.hint)

    # -- state --------------------------------------------------------------------------------------------------------

    def to_arrow(self) -> pa.Table:
        """The subscriptions as a table, with the CEDR time since which each gets what is emitted."""
        slots = np.fromiter(self._slots.values(), np.int64, len(self._slots))
        order = np.sort(slots)
        return pa.table(
            {
                "id": pa.array([self._ids[slot] for slot in order.tolist()], pa.string()),
                "type": pa.array([self._type_names[number] for number in self._type.view[order].tolist()], pa.string()),
                "where": pa.array([self._texts[slot] for slot in order.tolist()], pa.string()),
                "since": arrow(self._since.view[order]),
            }
        )

    @property
    def nbytes(self) -> int:
        """Bytes that the constants of filters take."""
        return sum(template.nbytes for index in self.indexes.values() for template in index.templates)


_MOST_SIMILAR: Final = 10_000
"""Among so many IDs a similar one is looked for."""


def types_of(given: Any) -> EventTypes:
    """The types that may be subscribed to.  Raises ``LanguageError`` where one is not declared."""
    catalog = EventTypes({given.name: given}) if isinstance(given, EventType) else given
    names = [each.name for each in catalog if each.open]
    if names or not catalog.types:
        primary = f'the attributes of type "{names[0]}" are not declared' if names else "no event type is declared"
        hint = 'declare it: cedr.Subscriptions("TYPE TRADE (symbol STRING, price FLOAT)")'
        raise LanguageError(Diagnostic("no-event-type", primary, hint=hint))
    return EventTypes(dict(catalog.types))
