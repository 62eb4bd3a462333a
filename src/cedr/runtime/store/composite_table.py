"""Tables of composites: rows that refer to a row of each operand, with IDs that follow from these.

Paper: Section 3.3.1 (contributors are references).  Readings: R8 (IDs), R12 (the order of contributors).  IDs are made
when somebody asks for them, maybe long after the step; so what makes them is part of the table, not of the operator.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.model.time import FOREVER
from cedr.runtime.ids.text_ids import Digests, MadeIds, Making, Recipe, TextIds, made_in_order
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Rows, Table, picked


class Composites(Table):
    """Rows that refer to one row of each operand, -1 where one is left out.

    ``ordered``: all operands are there, and their order is that of time.
    """

    def __init__(self, place: str, relations: Sequence[Relation], *, ordered: bool) -> None:
        make = self._in_pattern_order if ordered else self._in_order_of_time
        super().__init__(MadeIds(make, _recipe(place, relations)), [relation.table for relation in relations])
        self._place, self._relations = place, tuple(relations)

    def _in_pattern_order(self, rows: Rows) -> Digests:
        """IDs over the contributors in parameter order.  Reading: R8."""
        making = Making(self._place, len(rows))
        for relation, column in zip(self._relations, self.references, strict=True):
            making.take_in(relation.stream_digest, *relation.ids(column.view[rows]))
        return making.finish()

    def _in_order_of_time(self, rows: Rows) -> Digests:
        """IDs over the contributors in the order of (Vs, parameter).  Readings: R8, R12."""
        references = [column.view[rows] for column in self.references]
        digests = [
            relation.digests(np.maximum(at, 0)) if len(relation.table) else (np.zeros(len(at), np.uint64),) * 2
            for relation, at in zip(self._relations, references, strict=True)
        ]
        highs, lows = (np.stack([halves[half] for halves in digests]) for half in (0, 1))
        order = order_of_time(self._relations, references)
        return made_in_order(self._place, [relation.stream for relation in self._relations], highs, lows, order)


def order_of_time(relations: Sequence[Relation], references: Sequence[Rows]) -> Rows:
    """For each composite its operands in the order of (Vs, parameter), then -1 for each that is absent."""
    pairs = zip(relations, references, strict=True)
    times = np.stack([np.where(at >= 0, picked(relation.table.vs, at), FOREVER) for relation, at in pairs], axis=1)
    order: Rows = np.argsort(times, axis=1, kind="stable")
    absent = np.take_along_axis(np.stack([at < 0 for at in references], axis=1), order, axis=1)
    order[absent] = -1
    return order


def _recipe(place: str, relations: Sequence[Relation]) -> Recipe | None:
    """What IDs are made of, where that are events themselves, each by its own ID."""
    ids = [relation.id_holder for relation in relations if not relation.identity]
    texts = [each for each in ids if isinstance(each, TextIds)]
    if len(texts) < len(relations):
        return None
    return Recipe(place, [relation.stream_digest for relation in relations], texts)
