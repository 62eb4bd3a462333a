"""The algebra in Python: ``stream("TRADE").as_("t").window(moving("10 minutes")).group_by("t.symbol").agg(…)``.

Paper: Section 6.  Readings: R29 to R32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cedr.builder.columns import Column, Duration, duration
from cedr.builder.patterns import output_items, scalar
from cedr.builder.queries import Standing
from cedr.expression.tree import Expression, conjunction
from cedr.language.syntax import (
    AlgebraBody,
    CoalescedWindow,
    DeletesWindow,
    ExceptSource,
    GroupItem,
    HoppingWindow,
    InsertsWindow,
    JoinSource,
    LifetimeWindow,
    MovingWindow,
    RelationSource,
    SessionWindow,
    StreamSource,
    Subquery,
    TopClause,
    TumblingWindow,
    UnionSource,
    Window,
)
from cedr.model.modes import JoinKind


@dataclass(frozen=True, slots=True)
class Stream(Standing):
    """A relation that changes through time, and the query that makes it."""

    query: AlgebraBody
    variable: str | None = None

    def as_(self, variable: str) -> Stream:
        """Bind a variable to the events of the stream."""
        source = self.query.source
        if isinstance(source, StreamSource | Subquery) and self.query == AlgebraBody(source):
            return replace(self, query=AlgebraBody(replace(source, variable=variable)), variable=variable)
        return replace(self, variable=variable)

    def where(self, *conditions: str | Column) -> Stream:
        """WHERE: all conditions hold (Definition 8)."""
        if self.query.window or self.query.group_by or self.query.output:
            message = "WHERE comes before WINDOW, GROUP BY and OUTPUT; select from the result with cedr.stream(query)"
            raise TypeError(message)
        added = tuple(scalar(condition) for condition in conditions)
        before = () if self.query.where is None else (self.query.where,)
        return self._with(where=conjunction((*before, *added)))

    def window(self, window: Window) -> Stream:
        """WINDOW: ``moving``, ``hopping``, ``tumbling``, ``session``, ``lifetime``, ``inserts``, … (Definition 12)."""
        return self._with(window=window)

    def group_by(self, *keys: str | Column, **named: str | Column) -> Stream:
        """GROUP BY: expressions, named ones by keyword (R30)."""
        items = [GroupItem(scalar(key)) for key in keys]
        items += [GroupItem(scalar(key), name) for name, key in named.items()]
        return self._with(group_by=tuple(items))

    def having(self, condition: str | Column) -> Stream:
        """HAVING: a condition on each group."""
        return self._with(having=scalar(condition))

    def top(self, count: int, by: str | Column, *, descending: bool = False) -> Stream:
        """``TOP k BY e [DESC]``: the first rows at each instant, of each group after ``group_by`` (R45)."""
        return self._with(top=TopClause(count, scalar(by), descending))

    def output(self, **columns: str | Column) -> Stream:
        """OUTPUT: names and their expressions (Definition 7)."""
        return self._with(output=output_items(columns))

    agg = output
    """The same, as one says after ``group_by``."""

    def distinct(self) -> Stream:
        """``OUTPUT DISTINCT``: no duplicates at any instant (R29)."""
        return self._with(distinct=True)

    def join(self, other: Stream, on: str | Column) -> Stream:
        """``JOIN … ON``: pairs while both are alive (Definition 9)."""
        return self._joined(JoinKind.INNER, other, on)

    def left_join(self, other: Stream, on: str | Column) -> Stream:
        """``LEFT JOIN … ON``: also what has no partner."""
        return self._joined(JoinKind.LEFT, other, on)

    def anti_join(self, other: Stream, on: str | Column) -> Stream:
        """``ANTI JOIN … ON``: only what has no partner."""
        return self._joined(JoinKind.ANTI, other, on)

    def _joined(self, kind: JoinKind, other: Stream, on: str | Column) -> Stream:
        source = JoinSource(kind, self.source(), other.source(), scalar(on))
        return Stream(AlgebraBody(source), uses=(*self.uses, *other.uses))

    def union(self, other: Stream) -> Stream:
        """``UNION``: adds bags (R29)."""
        return Stream(AlgebraBody(UnionSource(self.source(), other.source())), uses=(*self.uses, *other.uses))

    def except_(self, other: Stream) -> Stream:
        """``EXCEPT``: a payload while no equal one is alive in the other (R29)."""
        return Stream(AlgebraBody(ExceptSource(self.source(), other.source())), uses=(*self.uses, *other.uses))

    def source(self) -> RelationSource:
        """This stream as a source of another: itself where it is only a source, else a subquery."""
        if self.query == AlgebraBody(self.query.source):
            return self.query.source
        if self.variable is None:
            message = "a stream with clauses of its own needs a variable here: .as_(name)"
            raise TypeError(message)
        return Subquery(self.query, self.variable)

    def body(self) -> AlgebraBody:
        """``FROM … [WHERE] [WINDOW] [GROUP BY] [HAVING] [OUTPUT]``."""
        return self.query

    def _with(self, **changes: Expression | Window | tuple[GroupItem, ...] | object) -> Stream:
        return replace(self, query=replace(self.query, **changes))  # type: ignore[arg-type]


def stream(source: str | Standing) -> Stream:
    """The events of a type by its name, or the output of another query (R32)."""
    if isinstance(source, str):
        return Stream(AlgebraBody(StreamSource(source)))
    return Stream(AlgebraBody(StreamSource(source.name)), uses=(source,))


def moving(length: Duration) -> MovingWindow:
    """``MOVING d``: each event lives at most d (R31)."""
    written = duration(length)
    return MovingWindow(written.value, durations=(written,))


def hopping(size: Duration, every: Duration) -> HoppingWindow:
    """``HOPPING d EVERY d`` (R31)."""
    lengths = duration(size), duration(every)
    return HoppingWindow(lengths[0].value, lengths[1].value, durations=lengths)


def tumbling(size: Duration) -> TumblingWindow:
    """``TUMBLING d`` (R31)."""
    written = duration(size)
    return TumblingWindow(written.value, durations=(written,))


def session(gap: Duration) -> SessionWindow:
    """``SESSION d``: each event lives as long as its session."""
    written = duration(gap)
    return SessionWindow(written.value, durations=(written,))


def lifetime(start: str | Column, length: str | Column) -> LifetimeWindow:
    """``LIFETIME start, duration`` (Definition 12)."""
    return LifetimeWindow(scalar(start), scalar(length))


def inserts() -> InsertsWindow:
    """``INSERTS``: each event from its start on (R31)."""
    return InsertsWindow()


def deletes() -> DeletesWindow:
    """``DELETES``: each event from its end on (R31)."""
    return DeletesWindow()


def coalesced() -> CoalescedWindow:
    """``COALESCED``: equal payloads that meet become one (Definition 10)."""
    return CoalescedWindow()
