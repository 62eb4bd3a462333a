"""UNLESS and UNLESS'.

Paper: Section 3.3.2, "Negation".  Readings: R15, R16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from cedr.model.event import Event
from cedr.model.time import Time, plus
from cedr.plan.logical import Unless, UnlessNth
from cedr.semantics.instances import Timeline
from cedr.semantics.predicates import Conjuncts, conjuncts, environment_of
from cedr.semantics.selection import disjoint_outputs
from cedr.semantics.undecided import Rows, undecided


def unless(node: Unless, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """``UNLESS(E1, E2, w)``.

    Paper: Section 3.3.2.  Reading: R15.
    ``{(e1.ID, e1.Vs, e1.Vs + w, e1.rt, [e1]; e1.p) | there does not exist e2, such that e1.Vs < e2.Vs < e1.Vs + w}``
    """
    first, second = inputs[0], Timeline.of(inputs[1])
    predicates = conjuncts(node.predicates)
    outputs = [
        (_output(e1, node.place, e1.valid_start, plus(e1.valid_start, node.scope)), e1)
        for e1 in first
        if not exists(e1, second, e1.valid_start, plus(e1.valid_start, node.scope), predicates)
    ]
    return disjoint_outputs(outputs, node.disjoint)


@undecided.register
def _(node: Unless, guarantee: Time, rows: Rows) -> Iterable[Time]:
    """Decided once no e2 with ``e1.Vs < e2.Vs < e1.Vs + w`` can come any more.  Reading: R36."""
    waiting = (row for row in rows() if plus(row.valid_start, node.scope) > guarantee + 1)
    return [row.contributors[0].occurrence_start for row in waiting]


def unless_nth(node: UnlessNth, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """``UNLESS(E1, E2, n, w)``, the paper's UNLESS'.

    Paper: Section 3.3.2.  Reading: R16: the scope starts at the n-th contributor; Vs = max(e1.cbt[n].Vs + w, e1.Vs),
    Ve = Vs + w.
    ``there does not exist e2, such that e1.cbt[n].Vs < e2.Vs < e1.cbt[n].Vs + w``
    """
    first, second = inputs[0], Timeline.of(inputs[1])
    predicates = conjuncts(node.predicates)
    outputs = []
    for e1 in first:
        start = nth_contributor(e1, node.contributor).valid_start
        end = plus(start, node.scope)
        if not exists(e1, second, start, end, predicates):
            valid_start = max(end, e1.valid_start)
            outputs.append((_output(e1, node.place, valid_start, plus(valid_start, node.scope)), e1))
    return disjoint_outputs(outputs, node.disjoint)


def nth_contributor(event: Event, number: int) -> Event:
    """``cbt[n]``, from 1; n = 1 of a primitive event is the event itself.  Reading: R16."""
    return event.contributors[number - 1] if event.contributors else event


def exists(
    e1: Event,
    second: Timeline,
    after: Time,
    before: Time,
    predicates: Conjuncts,
    condition: Callable[[Event], bool] | None = None,
) -> bool:
    """Whether some e2 with ``after < e2.Vs < before`` satisfies the injected predicates together with e1 (R21)."""
    bound = environment_of(e1)
    return any(
        predicates.hold(bound | dict(e2.bindings))
        for e2 in second.between(after, before)
        if condition is None or condition(e2)
    )


def _output(e1: Event, place: str, valid_start: Time, valid_end: Time) -> Event:
    return replace(e1, stream=place, valid_start=valid_start, valid_end=valid_end, contributors=(e1,))
