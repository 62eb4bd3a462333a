"""NOT: negation with a sequence as its scope.

Paper: Section 3.3.2, "Negation".  Reading: R17.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cedr.model.event import Event
from cedr.plan.logical import Not
from cedr.semantics.instances import Timeline
from cedr.semantics.predicates import conjuncts
from cedr.semantics.selection import disjoint_outputs
from cedr.semantics.unless import exists


def not_sequence(node: Not, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """``NOT(E, SEQUENCE(E1, …, Ek, w))``.

    Paper: Section 3.3.2.  Reading: R17.
    ``{es | es is in SEQUENCE(…) and there does not exist e, such that es.cbt[1].Vs < e.Vs < es.cbt[k].Vs}``
    """
    negated, sequences = Timeline.of(inputs[0]), inputs[1]
    predicates = conjuncts(node.predicates)
    outputs = [
        (replace(es, stream=node.place), es)
        for es in sequences
        if not exists(es, negated, es.contributors[0].valid_start, es.contributors[-1].valid_start, predicates)
    ]
    return disjoint_outputs(outputs, node.disjoint)
