"""Drives the operators of a plan with messages: admission feeds them, nothing else of a level is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cedr.consistency.admission.admitted import Feed
from cedr.consistency.admission.door import Arrivals
from cedr.model.event import Event
from cedr.model.schema import EventTypes
from cedr.model.stream import Message
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan.logical import Node
from cedr.runtime.dataflow.build import build
from cedr.runtime.operators.contract import Frontier, Line, Snapshot
from cedr.runtime.store.materialise import events_of
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows
from cedr.runtime.store.table import Table as StoredTable

Table = Counter[tuple[object, ...]]
"""Rows by what they look like."""


class Admission:
    """What arrives, as changes of the tables of the event types."""

    def __init__(self, catalog: EventTypes) -> None:
        self.arrivals = Arrivals(catalog, ())
        self.feed = Feed(self.arrivals)

    def take(self, batch: Sequence[Message], time: Time) -> dict[str, Delta]:
        """The rows that leave and enter."""
        self.arrivals.receive(batch, cedr_time=time)
        return self.feed.admit(FOREVER)

    @property
    def certain(self) -> Frontier:
        """What the providers guarantee."""
        return Frontier(self.arrivals.guarantee, self.arrivals.guarantee)

    def known(self) -> dict[str, Rows]:
        """The rows that stand, by event type."""
        return self.feed.live()

    def tables(self) -> dict[str, list[Event]]:
        """The rows that stand, as the oracle takes them."""
        sources = self.arrivals.ledger.sources
        return {
            stream: [_event(stream, sources[stream].table, row) for row in rows.tolist()]
            for stream, rows in self.known().items()
        }


def _event(stream: str, table: StoredTable, row: int) -> Event:
    (event,) = events_of(Relation(table, stream), np.array([row]))
    return event


class Driven:
    """The operators of a plan, and the rows that their deltas add up to."""

    def __init__(self, plan: Node, admission: Admission, memory: Time = BEGINNING) -> None:
        self.plan, self.admission, self.memory = plan, admission, memory
        self.dataflow = build(plan, admission.arrivals.table)
        (self.root,) = self.dataflow.roots
        self.rows: set[int] = set()
        self.withheld: Mapping[str, Line] = {}

    def step(self, changes: Mapping[str, Delta], until: Time = FOREVER) -> Delta:
        """Take in changes; those of rows that were not demanded are withheld.  ``until``: nobody asks for more."""
        changes = {stream: self._demanded(stream, delta) for stream, delta in changes.items()}
        self._certify()
        entries = {(stream, 0): delta for stream, delta in changes.items()}
        self.dataflow.update(entries, self.admission.certain.guarantee, until)
        delta = self.root.vertex.delta
        assert self.rows.issuperset(delta.removed.tolist()), "a row is removed that is not there"
        self.rows.difference_update(delta.removed.tolist())
        assert self.rows.isdisjoint(delta.added.tolist()), "a row is added that is there"
        self.rows.update(delta.added.tolist())
        return delta

    def _certify(self) -> None:
        self.root.memory, self.root.final = self.memory, self.admission.certain.final

    def _demanded(self, stream: str, delta: Delta) -> Delta:
        line = self.withheld.get(stream, Line(BEGINNING))
        table = self.admission.arrivals.table(stream)
        vs, ve = table.vs.view, table.ve.view
        return Delta(*(rows[(vs[rows] > line.vs) | (ve[rows] > line.ended)] for rows in delta))

    @property
    def frontier(self) -> Frontier:
        """What is certain about the output."""
        return self.root.vertex.frontier

    def release(self, line: Line) -> None:
        """Nobody needs the rows of the output up to a line; what is not demanded is withheld from now on."""
        self._certify()
        self.dataflow.settle()
        self.root.line = line
        self.withheld = self.dataflow.release()

    def restarted(self, line: Line) -> Driven:
        """A new dataflow that begins with the snapshots and the rows that were demanded."""
        fresh = Driven(self.plan, self.admission, self.memory)
        fresh.root.resume([vertex.frontier.guarantee for vertex in self.root.vertices], self._snapshots(), set())
        fresh.dataflow.expect({(stream, 0): rows for stream, rows in self.admission.known().items()})
        fresh.dataflow.guarantee = self.admission.certain.guarantee
        fresh._certify()
        fresh.dataflow.settle()
        fresh.root.line = line
        fresh.withheld = fresh.dataflow.release(loads=True)
        known = {stream: Delta(added=rows) for stream, rows in self.admission.known().items()}
        demanded = {stream: fresh._demanded(stream, delta).added for stream, delta in known.items()}
        fresh.dataflow.load({(stream, 0): rows for stream, rows in demanded.items()}, FOREVER, [fresh.root])
        fresh.rows = set(fresh.root.vertex.delta.added.tolist())
        return fresh

    def _snapshots(self) -> list[Snapshot | None]:
        return self.root.snapshots()

    # -- rows ---------------------------------------------------------------------------------------------------------

    def events(self) -> list[Event]:
        """The rows, as events."""
        return events_of(self.root.relation, np.array(sorted(self.rows), dtype=np.int64))

    def table(self, after: Line = Line(BEGINNING)) -> Table:  # noqa: B008 - a tuple
        """The rows after a line, by what they look like."""
        return Counter(look(row) for row in self.events() if _needed(row, after))

    def final(self, frontier: Frontier) -> Table:
        """What is final of the rows: ends that are not are left open."""
        rows = (row for row in self.events() if row.valid_start <= frontier.final)
        return Counter(look(replace(row, valid_end=_until(row.valid_end, frontier.ended))) for row in rows)

    def table_until(self, until: Time) -> Table:
        """The rows that begin by some time, without ends after it."""
        rows = (row for row in self.events() if row.valid_start <= until)
        return Counter(look(replace(row, valid_end=_until(row.valid_end, until))) for row in rows)

    def table_to(self, time: Time) -> Table:
        """The table *to* an occurrence time: what was stated by then, later ends not known.  Reading: R36."""
        rows = (row for row in self.events() if row.occurrence_start <= time)
        return Counter(look(replace(row, **_ends(row, time))) for row in rows)


def _needed(row: Event, line: Line) -> bool:
    return (row.valid_start > line.vs or row.valid_end > line.ended) and row.valid_end >= line.ve


def _until(end: Time, time: Time) -> Time:
    return end if end <= time else FOREVER


def _ends(row: Event, time: Time) -> dict[str, Time]:
    """Later ends are not known; neither is a Ve that may still be shortened to one after that time."""
    return {
        "occurrence_end": row.occurrence_end if row.occurrence_end <= time else FOREVER,
        "valid_end": row.valid_end if row.valid_end <= time else FOREVER,
    }


def look(row: Event) -> tuple[object, ...]:
    """What a row looks like: its ID, header and payload."""
    times = (row.valid_start, row.valid_end, row.occurrence_start, row.occurrence_end, row.root_time)
    return (row.id, *times, tuple(row.payload.items()))
