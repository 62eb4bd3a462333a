"""Rows that go and come again because an event got another Ve, which does not show in them.

Reading: R36.  Such a row may be final, so it stays as it is.  Who reads the Ve of a variable has it pinned instead.
"""

from __future__ import annotations

import numpy as np

from cedr.expression.tree import HeaderField
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Mask, Rows


def same_but_ends(relation: Relation, old: Rows, new: Rows) -> Mask:
    """Whether rows of the same events differ in ends alone: payload and variables are the same."""
    found = _same_payload(relation, old, new)
    for reach in relation.variables.values():
        was, now = reach.rows(old), reach.rows(new)
        for field in (HeaderField.VS, HeaderField.OS, HeaderField.RT):
            found &= (was < 0) | (reach.target.times(field, was) == reach.target.times(field, now))
        found &= ((was < 0) == (now < 0)) & _same_payload(reach.target, was, now)
    return found


def _same_payload(relation: Relation, old: Rows, new: Rows) -> Mask:
    found: Mask = old == new
    some = np.flatnonzero(~found & (old >= 0) & (new >= 0))
    payloads = zip(relation.payloads(old[some]), relation.payloads(new[some]), strict=True)
    found[some] = [was == now for was, now in payloads]
    return found
