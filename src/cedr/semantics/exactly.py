"""EXACTLY.

Paper: Section 3.3.2, "Event Sequencing" and "Negation".  Readings: R21, R36, R46.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cedr.model.event import Event
from cedr.model.time import Time, plus
from cedr.plan.logical import Exactly
from cedr.semantics.instances import Instance, Timeline, at_least_instances, composite, contributors
from cedr.semantics.predicates import Conjuncts, conjuncts
from cedr.semantics.selection import select
from cedr.semantics.undecided import Rows, undecided, undecided_last


def exactly(node: Exactly, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """``EXACTLY(n, E1, …, Ek, w)``.

    Paper: Section 3.3.2.  Reading: R46.
    ``{e | e is in ATLEAST(n, E1, …, Ek, w), made of ei1, …, ein, and there does not exist e' in Ej, j not in
    {i1, …, in}, e' not in {ei1, …, ein}, such that ei1.Vs <= e'.Vs <= ei1.Vs + w}``
    """
    predicates, timelines = conjuncts(node.predicates), [Timeline.of(events) for events in inputs]
    instances = at_least_instances(inputs, node.count, node.scope, predicates, ties=node.ties)
    alone = [instance for instance in instances if not _beside(instance, timelines, node.scope, predicates)]
    chosen = select(alone, node.parameters, node.disjoint)
    return [composite(node.place, instance, node.scope) for instance in chosen]


def _beside(instance: Instance, timelines: Sequence[Timeline], scope: int, predicates: Conjuncts) -> bool:
    """Whether there is an event of a parameter that the instance leaves out.

    Reading: R21: a conjunct that names a variable of that event says which events count, where all else that it names
    is bound.
    """
    parts = contributors(instance)
    first, bound = parts[0].valid_start, dict(binding for part in parts for binding in part.bindings)
    own = {part.reference for part in parts}
    return any(
        predicates.hold(bound | dict(event.bindings), (name for name, _ in event.bindings))
        for timeline, filled in zip(timelines, instance, strict=True)
        if filled is None
        for event in timeline.after(first - 1, plus(first, scope))
        if event.reference not in own
    )


@undecided.register
def _(node: Exactly, guarantee: Time, rows: Rows) -> Iterable[Time]:
    """Until g reaches first.Vs + w, where a parameter is left out; and as ATLEAST.  Readings: R36, R46."""
    found = [*undecided_last(node.parameters, node.scope, guarantee, rows)]
    if node.count < len(node.parameters):
        waiting = (row for row in rows() if plus(row.contributors[0].valid_start, node.scope) > guarantee)
        found += [row.occurrence_start for row in waiting]
    return found
