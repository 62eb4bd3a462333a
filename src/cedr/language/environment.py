"""The names that a query may use: event types of the file and of the catalog, and other queries.

Reading: R32.  A file's own declarations win over the catalog's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cedr.diagnostics.span import Span
from cedr.language.foreign import in_place_of_a_type
from cedr.language.problems import Problems, close, listing
from cedr.model.schema import EventType, EventTypes


@dataclass
class Environment:
    """What is known by name.  ``outputs`` and ``counts`` grow as queries are checked, in the order of their use."""

    types: EventTypes
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

    def event_type(self, name: str, span: Span | None, problems: Problems, mode: str = "") -> EventType:
        """The type of that name; after a complaint, an open one.

        ``mode`` is the word EACH, FIRST or LAST in front of it, if any: it may have been meant as a name (R47).
        """
        found = self.find(name)
        if found is not None:
            return found
        known = [*(item.name for item in self.types), *self.outputs]
        similar = close(name, known)
        meant = close(mode, [other for other in known if other.upper() == mode]) if mode else None
        if similar:
            hint = f"did you mean {similar}?"
        elif meant:
            hint = f'an event type that is called like a keyword is quoted here: "{meant}" AS {name}'
        else:
            hint = in_place_of_a_type(name) or f"declare it: TYPE {name} (attribute STRING)"
        if not any(error.code == "unknown-event-type" and f'"{name}"' in error.primary for error in problems.errors):
            problems.error(
                "unknown-event-type",
                f'there is no event type or query "{name}"',
                span,
                detail=f"known are: {listing(known)}" if known else "no event type is declared",
                hint=hint,
            )
        return EventType(name, open=True)
