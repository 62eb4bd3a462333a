"""Predicates and expressions over an open Ve: undecided until g reaches it.  Reading: R36."""

from __future__ import annotations

import numpy as np

from cedr.expression.tree import Header, HeaderField, walk
from cedr.model.modes import Valid
from cedr.model.time import Time
from cedr.plan import logical
from cedr.plan.reads import expressions_of
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import NONE, Delta, Rows


class OpenEnds:
    """The rows of an input of which some expression reads a Ve that may still be shortened."""

    def __init__(self, relation: Relation, names: frozenset[str]) -> None:
        self._relation, self._names = relation, names
        self.rows: Rows = NONE

    def update(self, delta: Delta) -> None:
        """Take in a change of the input."""
        if delta:
            self.rows = np.concatenate([np.setdiff1d(self.rows, delta.removed), delta.added])

    def let_go(self, line: Time) -> None:
        """Rows with Vs up to a line bear on nothing that is not frozen.  Reading: R34."""
        self.rows = self.rows[self._relation.table.vs.view[self.rows] > line]

    def undecided(self, known: Time) -> Time | None:
        """The smallest Sync of a row with an open end; rows whose ends g has reached are not looked at again."""
        open_ = np.zeros(len(self.rows), dtype=np.bool_)
        for name in self._names:
            open_ |= self._ends(name) > known
        self.rows = self.rows[open_]
        return int(self._relation.table.os.view[self.rows].min()) if len(self.rows) else None

    def _ends(self, name: str) -> Rows:
        if name == "":
            own: Rows = self._relation.table.ve.view[self.rows]
            return own
        reach = self._relation.variables.get(name)
        if reach is None or not len(reach.target.table):
            return np.full(len(self.rows), np.iinfo(np.int64).min)
        at = reach.rows(self.rows)
        return np.where(at >= 0, reach.target.table.ve.view[at], np.iinfo(np.int64).min)


def shown_ends(plan: logical.Node) -> frozenset[str]:
    """The event types whose Ve shows in the output: a later shortening of it changes rows long said.  Reading: R37."""
    read = [_sources(node) for node in logical.walk(plan) if reading_ends(node)]
    return frozenset[str]().union(_lifetimes(plan), *read)


def _lifetimes(node: logical.Node) -> frozenset[str]:
    """The event types from which rows of the node take their Ve."""
    match node:
        case logical.Source():
            return frozenset({node.type.name})
        case logical.SetValid(valid=Valid.WITH_LAST):
            return _sources(node)
        case logical.CancelWhen():
            return _lifetimes(node.first)
        case logical.Rename() | logical.Select() | logical.Slice() | logical.Query() | logical.Project():
            return _lifetimes(node.input)
        case _:
            return frozenset()


def _sources(node: logical.Node) -> frozenset[str]:
    return frozenset(part.type.name for part in logical.walk(node) if isinstance(part, logical.Source))


def reading_ends(node: logical.Node) -> frozenset[str]:
    """The variables of which the node's expressions read Ve."""
    return frozenset(
        part.variable
        for expression in expressions_of(node)
        for part in walk(expression)
        if isinstance(part, Header) and part.field is HeaderField.VE
    )
