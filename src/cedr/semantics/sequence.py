"""SEQUENCE and ATLEAST.

Paper: Section 3.3.2, "Event Sequencing".  Readings: R11, R12, R13, R49 (WITH TIES), and R25 to R28 for their SC modes.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Several

from cedr.model.event import Event
from cedr.model.time import Time
from cedr.plan.logical import All, AtLeast, Sequence
from cedr.semantics.instances import at_least_instances, composite, sequence_instances
from cedr.semantics.predicates import conjuncts
from cedr.semantics.selection import select
from cedr.semantics.undecided import Rows, undecided, undecided_last


def sequence(node: Sequence, inputs: Several[Several[Event]]) -> list[Event]:
    """``SEQUENCE(E1, …, Ek, w)``.

    Paper: Section 3.3.2.  Readings: R11, R49: WITH TIES Vs need only not decrease.
    ``{(id, ek.Vs, e1.Vs + w, rt, [e1, …, ek]; e1.p, …, ek.p) | e1.Vs < … < ek.Vs ∧ ek.Vs - e1.Vs <= w}``
    """
    instances = sequence_instances(inputs, node.scope, conjuncts(node.predicates), ties=node.ties)
    chosen = select(instances, node.parameters, node.disjoint)
    return [composite(node.place, instance, node.scope) for instance in chosen]


@undecided.register
def _(node: Sequence, guarantee: Time, rows: Rows) -> Iterable[Time]:
    """LAST on the last parameter.  Readings: R25, R36."""
    return undecided_last(node.parameters[-1:], node.scope, guarantee, rows)


def at_least(node: AtLeast, inputs: Several[Several[Event]]) -> list[Event]:
    """``ATLEAST(n, E1, …, Ek, w)``.

    Paper: Section 3.3.2.  Readings: R12, R49: WITH TIES Vs need only not decrease.
    ``{(id, ein.Vs, ei1.Vs + w, rt, [ei1, …, ein]; …) | ei1.Vs < … < ein.Vs
    ∧ ein.Vs - ei1.Vs <= w ∧ {i1, …, in} ⊆ {1, …, k}}``
    """
    instances = at_least_instances(inputs, node.count, node.scope, conjuncts(node.predicates), ties=node.ties)
    chosen = select(instances, node.parameters, node.disjoint)
    return [composite(node.place, instance, node.scope) for instance in chosen]


@undecided.register
def _(node: AtLeast | All, guarantee: Time, rows: Rows) -> Iterable[Time]:
    """LAST on any parameter.  Readings: R25, R36."""
    return undecided_last(node.parameters, node.scope, guarantee, rows)
