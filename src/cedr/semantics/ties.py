"""The measure *ties*, by its definition.

Reading: R49: events that share Vs and key with an event of another parameter, or of the same one, of the same operator.
"""

from __future__ import annotations

from collections import defaultdict

from cedr.model.event import Value
from cedr.model.time import Time
from cedr.plan import logical
from cedr.plan.analyses.ties import counted_parameters
from cedr.plan.logical import Node, Pattern
from cedr.semantics.evaluate import Oracle
from cedr.semantics.partition import pattern_key, reader_of


def tied(plan: Node, oracle: Oracle) -> int:
    """How many events are tied; an event counts once for each operator and each Vs.  Reading: R49."""
    different: list[Pattern] = []
    for node in logical.walk(plan):
        if isinstance(node, Pattern) and node not in different:
            different.append(node)
    return sum(_tied(node, oracle) for node in different)


def _tied(node: Pattern, oracle: Oracle) -> int:
    key = pattern_key(node)
    clusters: dict[tuple[Time, Value], set[tuple[str, str]]] = defaultdict(set)
    for index in counted_parameters(node):
        read = None if key is None else reader_of(key[index])
        for event in oracle.table(logical.parameters(node)[index].input):
            value = None if read is None else read(event)
            if read is None or value is not None:  # a NULL agrees with nothing (R22)
                clusters[event.valid_start, value].add(event.reference)
    return sum(len(events) for events in clusters.values() if len(events) > 1)
