"""What an evaluation gives: rows, and on demand the change stream that leads to them.  Readings: R10, R24."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from cedr.connect.rows import Data, change_as_data, row_as_data
from cedr.connect.tables import Clock, Table, rows_table
from cedr.consistency.emission.columns import TABLE
from cedr.consistency.measures import Measures
from cedr.data.change_log import ChangeLog
from cedr.data.exports import SHOWN, Exports
from cedr.data.results import Shape, events, exported, raw_rows
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.model.event import Event
from cedr.model.level import ConsistencyLevel
from cedr.model.stream import Message
from cedr.model.time import Time
from cedr.semantics.evaluate import latest

if TYPE_CHECKING:
    import pyarrow as pa

    from cedr.drawing.picture import Drawing

T = TypeVar("T")
_REMARKS = 10
Track = Callable[[Sequence[T], str], Iterable[T]]
"""Passes items on one by one and may show how far it has come: a sequence and what is done with it."""


@dataclass(frozen=True, slots=True)
class ChangeStream:
    """What a query emitted, the messages that could not be used at its level, and what that has cost."""

    changes: ChangeLog
    dead_letters: tuple[Diagnostic, ...] = ()
    measures: Measures | None = None
    """What the level has cost; None where nothing was run."""
    warnings: tuple[Diagnostic, ...] = ()
    summary: tuple[Diagnostic, ...] | None = None
    """One line for each reason, of rows of data that could not be used; None where each has its own."""


def untracked(items: Sequence[T], what: str) -> Iterable[T]:  # noqa: ARG001 - nobody looks on
    """Passes items on and shows nothing."""
    return items


class Result(Exports):
    """The rows of a query: its latest belief, or with ``@`` its bitemporal table.  Readings: R10, R24.

    ``dead_letters`` are the messages or rows of data that could not be used, each with its place and reason;
    ``warnings`` is what else should be known; ``primitive`` are the names of the event types that the query is made of.
    """

    def __init__(  # noqa: PLR0913 - one for each part
        self,
        shape: Shape,
        level: ConsistencyLevel,
        *,
        rows: Sequence[Event] | None = None,
        raw: pa.Table | None = None,
        bitemporal: bool = False,
        dead_letters: tuple[Diagnostic, ...] = (),
        summary: tuple[Diagnostic, ...] | None = None,
        warnings: tuple[Diagnostic, ...] = (),
        stream: Callable[[Track[object]], ChangeStream] | None = None,
        messages: Callable[[Sequence[Event]], Sequence[tuple[Time, Message]]] | None = None,
    ) -> None:
        """Either the rows or the raw table is given; ``summary`` has a line for each reason of dead letters."""
        self.name, self.type, self.primitive = shape.name, shape.type, shape.primitive
        self.level, self.bitemporal = level, bitemporal
        self.dead_letters, self.warnings = dead_letters, warnings
        self.summary = summary
        self._shape, self._rows, self._raw = shape, None if rows is None else tuple(rows), raw
        self._source, self._messages = stream, messages

    @property
    def rows(self) -> tuple[Event, ...]:
        """The rows as events, in the order of Os, Vs and ID."""
        if self._rows is None:
            assert self._raw is not None
            self._rows = events(self._raw, self._shape)
        return self._rows

    def changes(self) -> ChangeLog:
        """The change stream at the level, step by step: CEDR times 1, 2, 3 and so on."""
        return self._stream.changes

    def change_stream(self, track: Track[object]) -> ChangeStream:
        """The same with its dead letters, and with someone looking on."""
        return ChangeStream(ChangeLog(self._shape, ())) if self._source is None else self._source(track)

    def measures(self) -> Measures | None:
        """What the level has cost when all messages were taken: what waited, what was emitted, what is kept."""
        return self._stream.measures

    @cached_property
    def _stream(self) -> ChangeStream:
        return self.change_stream(untracked)

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows as an Arrow table: ``id``, the clocks, ``contributors``, then the payload; or the columns named."""
        raw = raw_rows(self.rows, self._shape) if self._raw is None else self._raw
        return exported(raw, self._shape, TABLE, columns)

    def to_dicts(self) -> list[Data]:
        """The rows as plain data, as ``cedr eval --json`` prints them."""
        return [row_as_data(row, self.primitive) for row in self.rows]

    def changes_to_dicts(self) -> list[Data]:
        """The change stream as plain data, as ``cedr eval --json --changes`` prints it."""
        return [change_as_data(change, self.primitive) for change in self.changes()]

    def draw(self, *, limit: int = 300) -> Drawing:
        """A picture of the first rows: lifelines, contributors, what came late, what was retracted."""
        from cedr.drawing.picture import draw  # few results are drawn: the others need not load it

        arrived = () if self._messages is None else self._messages(self.first(limit))
        title = f"{self.name} at {self.level}"
        return draw(self.rows, changes=self.changes(), messages=arrived, title=title, limit=limit)

    def first(self, limit: int | None) -> tuple[Event, ...]:
        """The first rows; of a large result only these become objects."""
        if limit is None or self._rows is not None:
            return self.rows[:limit]
        assert self._raw is not None
        return events(self._raw.slice(0, limit), self._shape)

    def __len__(self) -> int:
        return len(self._rows) if self._rows is not None else self._raw.num_rows if self._raw is not None else 0

    def __iter__(self) -> Iterator[Event]:
        return iter(self.rows)

    @property
    def title(self) -> str:
        """What the table shows."""
        count = f"{len(self):,} row{'' if len(self) == 1 else 's'}"
        return f"{self.name}: {count}, {'all beliefs' if self.bitemporal else 'latest belief'}"

    def as_table(self, limit: int | None = SHOWN, *, clocks: bool = False) -> tuple[str, Table]:
        """A title, and the first rows as text; all clocks where they are asked for, or the query is about them."""
        shown = self.first(limit)
        all_clocks = clocks or self.bitemporal
        return self.title, rows_table(shown, self.type, self.primitive, clocks=all_clocks, left=len(self) - len(shown))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known beside the rows: warnings, and what was not used for which reason."""
        told = [*self.warnings, *(self.dead_letters if self.summary is None else self.summary)]
        return tuple(f"{each.severity}: {each.primary}" for each in told[:_REMARKS])

    def __repr__(self) -> str:
        counts = ((len(self.warnings), "warning"), (len(self.dead_letters), "dead letter"))
        more = "".join(f"; {count:,} {name}{'' if count == 1 else 's'}" for count, name in counts if count)
        return f"<{self.title}{more}>"

    def __str__(self) -> str:
        title, table = self.as_table()
        return "\n".join([title, table.as_text(), *self.remarks])


def believed(rows: Sequence[Event], *, bitemporal: bool) -> tuple[Event, ...]:
    """The rows that a result shows: the latest belief or all of them, in the order of Os, Vs and ID.  Reading: R10."""
    chosen = rows if bitemporal else latest(rows)
    return tuple(sorted(chosen, key=lambda row: (row.occurrence_start, row.valid_start, row.id)))


def timestamps_in(rows: Iterable[Event]) -> bool:
    """Whether the times of some events are timestamps, by their size."""
    return Clock.of(rows).timestamps
