"""CANCEL-WHEN: stops a partial detection.

Paper: Section 3.3.2, "Negation".  Reading: R18.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cedr.model.event import Event
from cedr.plan.logical import CancelWhen
from cedr.semantics.instances import Timeline
from cedr.semantics.predicates import conjuncts
from cedr.semantics.selection import disjoint_outputs
from cedr.semantics.unless import exists


def cancel_when(node: CancelWhen, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """``CANCEL-WHEN(E1, E2)``.

    Paper: Section 3.3.2.  Reading: R18; ``FROM ROOT`` also wants ``e1.Rt < e2.Rt``.
    ``{e1 | there does not exist e2, such that e1.rt < e2.Vs < e1.Vs}``
    """
    first, second = inputs[0], Timeline.of(inputs[1])
    predicates = conjuncts(node.predicates)
    outputs = []
    for e1 in first:
        cancels = _from_root(e1) if node.from_root else None
        if not exists(e1, second, e1.root_time, e1.valid_start, predicates, cancels):
            outputs.append((replace(e1, stream=node.place), e1))
    return disjoint_outputs(outputs, node.disjoint)


def _from_root(e1: Event) -> Callable[[Event], bool]:
    return lambda e2: e1.root_time < e2.root_time
