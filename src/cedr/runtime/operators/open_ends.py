"""Predicates and expressions over an open Ve: undecided until g reaches it.  Reading: R36."""

from __future__ import annotations

import numpy as np

from cedr.expression.tree import Header, HeaderField, walk
from cedr.model.modes import Valid
from cedr.model.time import Time
from cedr.plan import logical
from cedr.plan.reads import expressions_of
from cedr.runtime.operators.contract import before
from cedr.runtime.store.holders import HeldRows
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows


class OpenEnds:
    """The rows of an input of which some expression reads a Ve that may still be shortened."""

    def __init__(self, relation: Relation, names: frozenset[str]) -> None:
        self._relation, self._names = relation, names
        self._rows = HeldRows()
        relation.table.hold(self._rows)

    def update(self, delta: Delta) -> None:
        """Take in a change of the input."""
        if len(delta.removed):
            self._rows.rows = np.setdiff1d(self._rows.rows, delta.removed)
        self._rows.add(delta.added)

    def decide(self, known: Time, frozen: Time) -> None:
        """Stop waiting for rows whose ends g has reached, and for those that bear on nothing."""
        self._rows.rows = self._open(known, frozen)

    def guarantee(self, known: Time, frozen: Time) -> Time:
        """Just before the smallest Sync of a row with an open end, and at most g.

        ``frozen``: rows with Vs up to here bear on nothing that may still be emitted.  Reading: R34.
        """
        return before(known, self._relation.table.os.view[self._open(known, frozen)])

    def _open(self, known: Time, frozen: Time) -> Rows:
        rows = self._rows.rows
        open_ = np.zeros(len(rows), dtype=np.bool_)
        for name in self._names:
            open_ |= self._ends(name, rows) > known
        found: Rows = rows[open_ & (self._relation.table.vs.view[rows] > frozen)]
        return found

    def _ends(self, name: str, rows: Rows) -> Rows:
        if name == "":
            own: Rows = self._relation.table.ve.view[rows]
            return own
        reach = self._relation.variables.get(name)
        if reach is None or not len(reach.target.table):
            return np.full(len(rows), np.iinfo(np.int64).min)
        at = reach.rows(rows)
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
