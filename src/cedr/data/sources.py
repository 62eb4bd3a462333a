"""A source: rows of files or of a data frame, and which of their columns are the header of an event.

Paper: Section 3.3.1 (the header).  Readings: R2, R3, R37 (types inferred from data), R50.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cedr.data.origins import Origin
from cedr.data.values import shape_of, type_of
from cedr.data.words import Words, constant
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.schema import DataType, Shape


@dataclass(frozen=True, eq=False)
class Source:
    """Where rows are, and how they are read as messages."""

    origin: Origin
    words: Words

    def __str__(self) -> str:
        """What it is, and the words that were said."""
        said = self.words.said()
        return ", ".join([self.origin.name, *(f"{word}={value!r}" for word, value in said.items())])

    @property
    def constant_type(self) -> str | None:
        """The event type of all rows; None where a column tells it."""
        told = self.words.type
        if told is None:
            hint = 'name the type of all rows, type="TX", or the column that tells it, type="kind"'
            raise StreamError(
                Diagnostic("no-event-type", f"{self.origin.name}: nothing tells the type of an event", hint=hint)
            )
        fixed = constant(told)
        return fixed if fixed is not None else None if told in self.origin.names() else told

    def header(self) -> dict[str, str]:
        """The columns of the header by their words.  Raises ``StreamError`` where one is not there."""
        known = self.origin.names()
        if not known:
            raise StreamError(Diagnostic("empty-data", f"{self.origin.name} holds no columns: it is empty, or no data"))
        named = self.words.columns()
        if self.constant_type is None:
            named["type"] = self.words.type or ""
        return {word: self._column(word, column, known) for word, column in named.items()}

    def _column(self, word: str, column: str, known: list[str]) -> str:
        if column in known:
            return column
        similar = [each for each in known if each.lower() == column.lower()]
        if len(similar) == 1:
            return similar[0]
        detail = f"the columns are: {', '.join(known) or 'none'}"
        hint = f'say which column it is: {word}="…"' if word == "time" and column == "time" else ""
        primary = f'{self.origin.name} has no column "{column}", asked for by {word}='
        raise StreamError(Diagnostic("unknown-column", primary, detail=detail, hint=hint))

    def attributes(self, mentioned: Collection[str]) -> dict[str, DataType]:
        """The columns that are attributes, ANY where their type is not known yet.

        A column of the header is one only where the query mentions it.
        """
        types = self.origin.types()
        if self.words.attributes is not None:
            known = self.origin.names()
            chosen = [self._column("attributes", name, known) for name in self.words.attributes]
        else:
            taken = set(self.header().values()) - set(mentioned)
            chosen = [name for name in self.origin.names() if name not in taken]
        return {name: type_of(types[name]) if name in types else DataType.ANY for name in chosen}

    def shapes(self) -> dict[str, Shape]:
        """What is inside of columns of structs and lists, as far as that is known without reading the rows."""
        found = {name: shape_of(of) for name, of in self.origin.types().items()}
        return {name: shape for name, shape in found.items() if shape.nested}
