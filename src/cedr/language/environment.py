"""The names that a query may use: event types of the file and of the catalog, and other queries.

Reading: R32.  A file's own declarations win over the catalog's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cedr.errors import Span
from cedr.language.problems import Problems, close, listing
from cedr.model.schema import Catalog, EventType


@dataclass
class Environment:
    """What is known by name.  ``outputs`` and ``counts`` grow as queries are checked, in the order of their use."""

    types: Catalog
    outputs: dict[str, EventType] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)

    def contributors_of(self, name: str) -> int:
        """How many contributors an event of that name has.  Reading: R16."""
        return self.counts.get(name, 1)

    def find(self, name: str) -> EventType | None:
        """The type of that name: a query's output, or an event type; open where its definition is broken."""
        if name in self.outputs:
            return self.outputs[name]
        if name in self.broken:
            return EventType(name, open=True)
        return self.types.get(name)

    def event_type(self, name: str, span: Span | None, problems: Problems) -> EventType:
        """The type of that name; after a complaint, an open one."""
        found = self.find(name)
        if found is not None:
            return found
        known = [*(item.name for item in self.types), *self.outputs]
        similar = close(name, known)
        if not any(error.code == "unknown-event-type" and f'"{name}"' in error.primary for error in problems.errors):
            problems.error(
                "unknown-event-type",
                f'there is no event type or query "{name}"',
                span,
                detail=f"known are: {listing(known)}" if known else "no event type is declared",
                hint=f"did you mean {similar}?" if similar else f"declare it: TYPE {name} (attribute STRING)",
            )
        return EventType(name, open=True)
