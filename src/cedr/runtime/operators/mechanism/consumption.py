"""CONSUME and DISJOINT: choices that bear on all later ones.

Paper: Section 3.2, "Instance Selection and Consumption".  Readings: R26, R27, R28.  Deciding events are taken in the
order of Vs, R42 and parameter.  What was consumed before an interval is read off the outputs that were made before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from cedr.model.event import TieOrder, Value
from cedr.model.modes import Selection
from cedr.model.time import BEGINNING, Time
from cedr.plan.logical import Disjoint
from cedr.runtime.expressions.compile import compile_vector, to_values
from cedr.runtime.operators.mechanism.instances import Asked, Found
from cedr.runtime.operators.mechanism.parameters import Parameters
from cedr.runtime.store.relation import Frame, Relation
from cedr.runtime.store.table import Rows

Ranked = tuple[Time, TieOrder, int]
"""Vs, order at equal Vs, and parameter of an event: the order in which deciding events are taken."""
EventRef = tuple[int, int]
"""Table and row: one event, whatever parameter it serves."""
FenceKey = tuple[Value, ...]


class Instance:
    """One instance with what the choice asks of it."""

    __slots__ = ("events", "fence", "number", "order", "others", "owner", "roots")

    def __init__(self, number: int, owner: int, events: list[EventRef | None], order: list[Ranked]) -> None:
        self.number, self.owner = number, owner
        self.events = events
        self.order = sorted(order)
        self.fence: FenceKey = ()
        self.roots: Time = BEGINNING

    @property
    def decider(self) -> Ranked:
        """The contributor with the latest Vs.  Reading: R26."""
        return self.order[-1]


class Consumption:
    """Selection with consumption, deciding event by deciding event."""

    def __init__(self, parameters: Parameters, disjoint: Disjoint | None) -> None:
        self._parameters = parameters
        self._disjoint = disjoint
        self._keys = [] if disjoint is None else [compile_vector(key) for key in disjoint.keys]

    def chosen(self, asked: Asked, found: Found) -> Found:
        """The instances that are output."""
        before: dict[int, list[Instance]] = defaultdict(list)
        if asked.prior is not None:
            for instance in self._instances(asked.prior):
                before[instance.owner].append(instance)
        groups: dict[int, list[Instance]] = defaultdict(list)
        for instance in self._instances(found):
            groups[instance.owner].append(instance)
        low = asked.at.low.tolist()
        numbers = [
            instance.number
            for owner, instances in groups.items()
            for instance in self._group(instances, before[owner], low[owner])
        ]
        return found.take(np.array(sorted(numbers), dtype=np.int64))

    def _group(self, instances: list[Instance], before: list[Instance], low: Time) -> Iterator[Instance]:
        taken = _Taken(self._parameters.consuming, fenced=self._disjoint is not None)
        for instance in before:
            taken.take(instance)
        choice = _Choice(self._parameters)
        by_decider: dict[Ranked, list[Instance]] = defaultdict(list)
        for instance in instances:
            by_decider[instance.decider].append(instance)
        for decider in sorted(by_decider):
            available = [i for i in by_decider[decider] if taken.spares(i, decider)]
            for instance in available:
                choice.compare(instance)
            if decider[0] < low:
                continue
            for instance in sorted((i for i in available if choice.selects(i)), key=lambda i: i.order):
                if taken.spares(instance, None):
                    taken.take(instance)
                    yield instance

    def _instances(self, found: Found) -> list[Instance]:
        parameters, columns = self._parameters, found.references
        ties = [_ties(relation, rows) for relation, rows in zip(parameters.relations, columns, strict=True)]
        times = [_times(relation, rows) for relation, rows in zip(parameters.relations, columns, strict=True)]
        rows = [column.tolist() for column in columns]
        tables = [id(relation.table) for relation in parameters.relations]
        instances = []
        for number, owner in enumerate(found.owner.tolist()):
            events = [(tables[i], r[number]) if r[number] >= 0 else None for i, r in enumerate(rows)]
            order = [(times[i][number], ties[i][number], i) for i, event in enumerate(events) if event is not None]
            instances.append(Instance(number, owner, events, order))
        if self._disjoint is not None:
            self._fence(instances, columns)
        return instances

    def _fence(self, instances: list[Instance], columns: Sequence[Rows]) -> None:
        relations = self._parameters.relations
        frame = Frame(list(zip(relations, columns, strict=True)))
        keys = zip(*(to_values(key(frame)) for key in self._keys), strict=True) if self._keys else None
        roots = np.full(len(columns[0]), np.iinfo(np.int64).max)
        for relation, rows in zip(relations, columns, strict=True):
            some = rows >= 0
            roots[some] = np.minimum(roots[some], relation.table.rt.view[rows[some]])
        for instance, root in zip(instances, roots.tolist(), strict=True):
            instance.roots = root
            instance.fence = () if keys is None else next(keys)


def _ties(relation: Relation, rows: Rows) -> list[TieOrder]:
    found: list[TieOrder] = [((), "")] * len(rows)
    some = np.flatnonzero(rows >= 0)
    for at, order in zip(some.tolist(), relation.tie_orders(rows[some]), strict=True):
        found[at] = order
    return found


def _times(relation: Relation, rows: Rows) -> list[int]:
    return relation.table.vs.view[rows].tolist() if len(relation.table) else [0] * len(rows)


class _Taken:
    """What was consumed, and by which deciding event.  Readings: R26, R27."""

    def __init__(self, consuming: Sequence[int], *, fenced: bool) -> None:
        self._consuming, self._fenced = consuming, fenced
        self._events: dict[EventRef, Ranked] = {}
        self._detected: dict[FenceKey, list[Ranked]] = defaultdict(list)

    def spares(self, instance: Instance, decider: Ranked | None) -> bool:
        """Whether nothing of an instance was consumed, before a deciding event or at all."""
        for event in instance.events:
            if event is not None and event in self._events and (decider is None or self._events[event] < decider):
                return False
        if self._fenced:
            detections = self._detected.get(instance.fence, ())
            return all(instance.roots > d[0] for d in detections if decider is None or d < decider)
        return True

    def take(self, instance: Instance) -> None:
        """An instance is output: it consumes its events at CONSUME parameters; DISJOINT, all up to its detection."""
        decider = instance.decider
        for index in self._consuming:
            event = instance.events[index]
            if event is not None:
                self._events[event] = decider
        if self._fenced:
            self._detected[instance.fence].append(decider)


class _Choice:
    """For each FIRST and LAST parameter the best event among instances that agree in all others.  Reading: R25."""

    def __init__(self, parameters: Parameters) -> None:
        self._modes = [(i, parameters.selections[i]) for i in parameters.selects]
        self._best: dict[tuple[int, tuple[EventRef | None, ...]], tuple[Time, TieOrder]] = {}

    def compare(self, instance: Instance) -> None:
        """Let an instance take part."""
        for index, mode in self._modes:
            if instance.events[index] is not None:
                key, rank = self._key(instance, index), self._rank(instance, index, mode)
                self._best[key] = min(rank, self._best.get(key, rank))

    def selects(self, instance: Instance) -> bool:
        """Whether nothing compared beats an instance."""
        return all(
            self._best[self._key(instance, index)] == self._rank(instance, index, mode)
            for index, mode in self._modes
            if instance.events[index] is not None
        )

    @staticmethod
    def _key(instance: Instance, index: int) -> tuple[int, tuple[EventRef | None, ...]]:
        return index, tuple(None if i == index else event for i, event in enumerate(instance.events))

    @staticmethod
    def _rank(instance: Instance, index: int, mode: Selection) -> tuple[Time, TieOrder]:
        time, order, _ = next(ranked for ranked in instance.order if ranked[2] == index)
        return (time if mode is Selection.FIRST else -time), order
