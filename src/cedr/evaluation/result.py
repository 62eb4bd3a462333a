"""What an evaluation gives: rows, and on demand the change stream that leads to them.  Readings: R10, R24."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from cedr.connect.rows import Data, change_as_data, row_as_data
from cedr.connect.tables import rows_table
from cedr.consistency.measures import Measures
from cedr.errors import Diagnostic
from cedr.model.event import Event
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventType
from cedr.model.stream import Change, Message

if TYPE_CHECKING:
    from cedr.drawing.picture import Drawing

T = TypeVar("T")
Track = Callable[[Sequence[T], str], Iterable[T]]
"""Passes items on one by one and may show how far it has come: a sequence and what is done with it."""


@dataclass(frozen=True, slots=True)
class ChangeStream:
    """What a query said, the messages that could not be used at its level, and what that has cost."""

    changes: tuple[Change, ...] = ()
    dead_letters: tuple[Diagnostic, ...] = ()
    measures: Measures | None = None
    """What the level has cost; None where nothing was run."""


def untracked(items: Sequence[T], what: str) -> Iterable[T]:  # noqa: ARG001 - nobody looks on
    """Passes items on and shows nothing."""
    return items


def silent(track: Track[Message]) -> ChangeStream:  # noqa: ARG001 - there is nothing to track
    """No changes at all."""
    return ChangeStream()


@dataclass(frozen=True)
class Result:
    """The rows of a query: its latest belief, or with ``@`` its bitemporal table.  Readings: R10, R24.

    ``dead_letters`` are the messages that could not be used, each with its place and reason; ``primitive`` are the
    names of the event types that the query is made of.
    """

    name: str
    rows: tuple[Event, ...]
    type: EventType
    bitemporal: bool
    level: ConsistencyLevel
    dead_letters: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    primitive: frozenset[str] = frozenset()
    _source: Callable[[Track[Message]], ChangeStream] = field(default=silent, repr=False, compare=False)
    _messages: tuple[Message, ...] = field(default=(), repr=False, compare=False)

    def changes(self) -> tuple[Change, ...]:
        """The change stream at the level, one message a step: CEDR times 1, 2, 3 and so on."""
        return self._stream.changes

    def change_stream(self, track: Track[Message]) -> ChangeStream:
        """The same with its dead letters, and with someone looking on."""
        return self._source(track)

    def measures(self) -> Measures | None:
        """What the level has cost when all messages were taken: what waited, what was said, what is kept."""
        return self._stream.measures

    @cached_property
    def _stream(self) -> ChangeStream:
        return self._source(untracked)

    def to_dicts(self) -> list[Data]:
        """The rows as plain data, as ``cedr eval --json`` prints them."""
        return [row_as_data(row, self.primitive) for row in self.rows]

    def changes_to_dicts(self) -> list[Data]:
        """The change stream as plain data, as ``cedr eval --json --changes`` prints it."""
        return [change_as_data(change, self.primitive) for change in self.changes()]

    def draw(self, *, limit: int = 300) -> Drawing:
        """The rows in valid time as a picture, with their events, late events and retractions; at most ``limit`` rows.

        A notebook shows it; ``.save("result.svg")`` writes it to a file.
        """
        from cedr.drawing.picture import draw  # few results are drawn: the others need not load it

        arrived = list(enumerate(self._messages, 1))  # one message a step, as in the change stream
        return draw(
            self.rows, changes=self.changes(), messages=arrived, title=f"{self.name} at {self.level}", limit=limit
        )

    @property
    def title(self) -> str:
        """What the table shows."""
        count = f"{len(self.rows)} row{'' if len(self.rows) == 1 else 's'}"
        return f"{self.name}: {count}, {'all beliefs' if self.bitemporal else 'latest belief'}"

    def __str__(self) -> str:
        return f"{self.title}\n{rows_table(self.rows, self.type, self.primitive).as_text()}"
