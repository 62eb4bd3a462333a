"""Instance selection and consumption: SC modes.

Paper: Section 3.2, "Instance Selection and Consumption".  Readings: R25 (FIRST, LAST), R26 (CONSUME), R27
(DISJOINT), R28: all of it is a function of the believed events, so late events and retractions repair it like
everything else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from cedr.model.event import Event, TieOrder, Value, tie_order
from cedr.model.modes import Selection
from cedr.model.time import BEGINNING, Time
from cedr.plan.logical import Disjoint, Parameter
from cedr.semantics.instances import Instance, contributors
from cedr.semantics.predicates import environment_of, value_of

Rank = tuple[Time, TieOrder]
Decider = tuple[Time, TieOrder, int]
Others = tuple[tuple[str, str] | None, ...]


class Choice:
    """For each FIRST and LAST parameter, the best event among instances that agree in all other parameters (R25)."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._modes = [(i, p.selection) for i, p in enumerate(parameters) if p.selection is not Selection.EACH]
        self._best: dict[tuple[int, Others], Rank] = {}

    def compare(self, instance: Instance) -> None:
        """Let an instance take part in the comparison."""
        for index, mode in self._modes:
            if instance[index] is not None:
                key = index, self._others(instance, index)
                rank = self._rank(instance[index], mode)
                self._best[key] = min(rank, self._best.get(key, rank))

    def selects(self, instance: Instance) -> bool:
        """Whether no compared instance beats this one at any FIRST or LAST parameter."""
        return all(
            self._best[index, self._others(instance, index)] == self._rank(instance[index], mode)
            for index, mode in self._modes
            if instance[index] is not None
        )

    @staticmethod
    def _others(instance: Instance, index: int) -> Others:
        return tuple(None if e is None or i == index else e.reference for i, e in enumerate(instance))

    @staticmethod
    def _rank(event: Event | None, mode: Selection) -> Rank:
        assert event is not None
        time = event.valid_start if mode is Selection.FIRST else -event.valid_start
        return time, tie_order(event)


def select(instances: Iterable[Instance], parameters: Sequence[Parameter], disjoint: Disjoint | None) -> list[Instance]:
    """The instances that an operator outputs.

    Reading: R25: c is selected iff for every FIRST (LAST) parameter no other instance that agrees in all other
    parameters has an earlier (later) event there; of equal Vs R42 decides.
    """
    found = list(instances)
    if disjoint is not None or any(p.consume for p in parameters):
        return consume(found, parameters, disjoint)
    choice = Choice(parameters)
    for instance in found:
        choice.compare(instance)
    return [instance for instance in found if choice.selects(instance)]


def consume(instances: list[Instance], parameters: Sequence[Parameter], disjoint: Disjoint | None) -> list[Instance]:
    """Selection with consumption, deciding event by deciding event.  Readings: R26, R27.

    For each deciding event in the order of (Vs, R42, parameter): among its instances without a consumed contributor R25
    selects, comparing also with the instances of earlier deciding events that were available when those were taken; the
    selected ones are output in order, each unless one of its events was consumed just before.
    """
    by_decider: dict[Decider, list[Instance]] = defaultdict(list)
    for instance in instances:
        by_decider[_decider(instance)].append(instance)
    choice, consumed, fence = Choice(parameters), _Consumed(parameters), Fence(disjoint)
    output: list[Instance] = []
    for decider in sorted(by_decider):
        available = [i for i in by_decider[decider] if consumed.spares(i) and fence.passes(contributors(i))]
        for instance in available:
            choice.compare(instance)
        for instance in sorted((i for i in available if choice.selects(i)), key=pattern_order):
            if consumed.spares(instance) and fence.passes(contributors(instance)):
                output.append(instance)
                consumed.take(instance)
                fence.close(contributors(instance), decider[0])
    return output


def _decider(instance: Instance) -> Decider:
    return max((e.valid_start, tie_order(e), i) for i, e in enumerate(instance) if e is not None)


def pattern_order(instance: Instance) -> list[Decider]:
    """Vs, order at equal Vs and parameter of each contributor: instances of one deciding event go by these (R26)."""
    return sorted((e.valid_start, tie_order(e), i) for i, e in enumerate(instance) if e is not None)


class _Consumed:
    """The events consumed at CONSUME parameters, whatever parameter they could serve (R26)."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._consuming = [i for i, p in enumerate(parameters) if p.consume]
        self._events: set[tuple[str, str]] = set()

    def spares(self, instance: Instance) -> bool:
        return not any(e is not None and e.reference in self._events for e in instance)

    def take(self, instance: Instance) -> None:
        taken = (instance[i] for i in self._consuming)
        self._events.update(e.reference for e in taken if e is not None)


class Fence:
    """DISJOINT: after an output, only what began after its detection may contribute, by key.  Reading: R27."""

    def __init__(self, disjoint: Disjoint | None) -> None:
        self._disjoint = disjoint
        self._detected: dict[tuple[Value, ...], Time] = {}

    def passes(self, parts: Sequence[Event]) -> bool:
        """Whether every instance has its Rt after the last detection."""
        if self._disjoint is None:
            return True
        last = self._detected.get(self._key(parts), BEGINNING)
        return all(part.root_time > last for part in parts)

    def close(self, parts: Sequence[Event], detection: Time) -> None:
        """Everything with Rt up to the detection is consumed."""
        if self._disjoint is not None:
            self._detected[self._key(parts)] = detection

    def _key(self, parts: Sequence[Event]) -> tuple[Value, ...]:
        assert self._disjoint is not None
        whole = environment_of(*parts)
        carrier = Event("", "", 0, 0, 0, 0, 0, bindings=tuple((n, e) for n, e in whole.items() if n))
        return tuple(value_of(key, carrier) for key in self._disjoint.keys)


def disjoint_outputs(candidates: Iterable[tuple[Event, Event]], disjoint: Disjoint | None) -> list[Event]:
    """DISJOINT after an operator with one positive operand: pairs of (output, operand), by detection.  Reading: R27."""
    if disjoint is None:
        return [output for output, _ in candidates]
    fence = Fence(disjoint)
    kept: list[Event] = []
    for output, operand in sorted(candidates, key=_detection_order):
        if fence.passes((operand,)):
            kept.append(output)
            fence.close((operand,), output.valid_start)
    return kept


def _detection_order(candidate: tuple[Event, Event]) -> tuple[Time, list[Rank]]:
    output, operand = candidate
    return output.valid_start, [(e.valid_start, tie_order(e)) for e in output.contributors or (operand,)]
