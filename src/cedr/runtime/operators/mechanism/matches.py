"""Which rows of two inputs go together: alive at the same time, equal keys, and the rest of a predicate.

Paper: Section 6, Definition 9.  Readings: R20, R22: only *true* passes; NULL agrees with nothing, and a variable
that is not bound is NULL.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.expression.tree import Expression, conjuncts
from cedr.plan.analyses.bands import band_of
from cedr.plan.analyses.pattern_key import Side, equality
from cedr.runtime.expressions.compile import compile_vector, truth
from cedr.runtime.operators.mechanism.arranged_input import ArrangedInput
from cedr.runtime.operators.mechanism.arrangement import Pairs, Probes
from cedr.runtime.operators.mechanism.grouping import coded
from cedr.runtime.operators.mechanism.inputs import Grouping
from cedr.runtime.operators.mechanism.value_index import ValueIndex
from cedr.runtime.store.key_codes import Codes
from cedr.runtime.store.relation import Frame, Relation
from cedr.runtime.store.segments import Places
from cedr.runtime.store.table import Rows


class Matches:
    """The pairs of rows of two inputs for which a predicate is true, found from either side."""

    def __init__(self, predicate: Expression, relations: Sequence[Relation]) -> None:
        self._relations = tuple(relations)
        self.codes = Codes()
        parts = conjuncts(predicate)
        sides = next((found for part in parts if (found := _sides(part, relations)) is not None), None)
        groupings: Sequence[Grouping | None] = (None, None)
        if sides is not None:
            groupings = coded(self.codes, relations, sides)
            parts = tuple(part for part in parts if _sides(part, relations) != sides)
        self._keyed = sides is not None
        self._rest = [compile_vector(part) for part in parts]
        self.inputs = [ArrangedInput(*of_one) for of_one in zip(relations, groupings, strict=True)]
        if not self._keyed:
            for source, other in (self.inputs, self.inputs[::-1]):
                own = source.relation
                band = band_of(parts, own.variables, other.relation.variables)
                source.index = None if band is None else ValueIndex(band, own, other.relation)

    def of(self, which: int, rows: Rows) -> Pairs:
        """The rows of the other input that go with some rows of one: pairs of these and those."""
        source, relation, other = self.inputs[which], self._relations[which], self.inputs[1 - which]
        groups = source.groups(rows)
        if self._keyed:
            groups = np.where(groups > 0, groups, -1)
        probes = Probes(rows, groups, relation.table.vs.view[rows], relation.table.ve.view[rows])
        probes.groups[probes.ve <= probes.vs] = -1  # never alive
        found = []
        if other.index is not None:
            places = other.index.ranges(rows)
            fewer = (places.counts < other.arrangement.count(probes)) & (groups >= 0)
            probes.groups[fewer] = -1
            chosen = np.flatnonzero(fewer)
            places = Places(places.begin[chosen], places.end[chosen], int(places.counts[chosen].sum()))
            parts = other.index.alive(probes.take(chosen), places)
            found = [self._passing(which, pairs) for pairs in parts]
        found += [self._passing(which, pairs) for pairs in other.arrangement.alive(probes)]
        return Pairs.together(found)

    def _passing(self, which: int, pairs: Pairs) -> Pairs:
        for part in self._rest:
            if not len(pairs.rows):
                break
            frame = Frame([(self._relations[side], pairs[side ^ which]) for side in (0, 1)])
            passes = truth(part(frame))
            if not passes.all():
                pairs = pairs.take(passes)
        return pairs


def _sides(part: Expression, relations: Sequence[Relation]) -> tuple[Side, Side] | None:
    """The attribute of each input that an equality compares; None: it is none between the two."""
    sides = equality(part)
    if sides is None:
        return None
    for one, other in (sides, sides[::-1]):
        if one[0] in relations[0].variables and other[0] in relations[1].variables:
            return one, other
    return None
