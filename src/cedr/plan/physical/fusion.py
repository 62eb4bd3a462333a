"""UNLESS over a SEQUENCE of two as one operator: where that is possible, and how its inputs are grouped.

Paper: Section 3.3.2, "Event Sequencing" and "Negation".  Readings: R11, R15.
"""

from __future__ import annotations

from cedr.model.modes import Selection
from cedr.plan import logical
from cedr.plan.analyses.pattern_key import Side, key_of


def keys_of(node: logical.Node) -> tuple[Side, ...] | None:
    """How the three inputs of UNLESS over a SEQUENCE are grouped, () where they are not; None: it is not fused.

    It is where only keys and times relate the three: then what cancels a pair depends on its last contributor alone.
    """
    if not (isinstance(node, logical.Unless) and isinstance(node.first, logical.Sequence)):
        return None
    pair = node.first
    plain = all(p.selection is Selection.EACH and not p.consume for p in pair.parameters)
    if not plain or len(pair.parameters) != 2 or node.disjoint is not None or pair.disjoint is not None:
        return None
    own, of_pair = key_of(node), key_of(pair)
    if own is None or of_pair is None:
        return None if node.predicates or pair.predicates else ()
    left = [p for each, key in ((node, own), (pair, of_pair)) for p in each.predicates if p not in key.predicates]
    return None if left or own.sides[0] not in of_pair.sides else (*of_pair.sides, own.sides[1])
