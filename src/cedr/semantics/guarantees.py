"""Guarantees out: how far the output of a query is final, given a guarantee on its input.

Paper: Section 5, "CEDR operators also annotate the output with a corresponding set of future output guarantees".
Reading: R36.  ``t`` promises that the canonical table *to* t is final.  The rules are evaluated on what is known up to
g; they are the same for every host.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from math import floor
from typing import NamedTuple

from cedr.expression.evaluate import evaluate as value
from cedr.expression.tree import (
    Attribute,
    Binary,
    Call,
    Expression,
    Header,
    HeaderField,
    Literal,
    walk,
)
from cedr.model.event import Event, primitive
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan import logical
from cedr.plan.analyses.bounds import revisable
from cedr.plan.analyses.memory import Memory, behind
from cedr.plan.analyses.reads import expressions_of
from cedr.plan.analyses.starts import hangs_on_end
from cedr.plan.logical import Node
from cedr.semantics.evaluate import Oracle
from cedr.semantics.undecided import undecided


class Unfrozen(NamedTuple):
    """What the freezing line m leaves open: rows that may bear on an output that is not frozen.  Reading: R34."""

    memory: Memory
    line: Time

    def of(self, node: Node, rows: Iterable[Event]) -> list[Event]:
        """Those of some rows of a node."""
        last = behind(self.line, self.memory.reach(node))
        return [row for row in rows if row.valid_start > last]


def guarantee_out(plan: Node, guarantee: Time, known: Oracle, frozen: Time = BEGINNING) -> Time:
    """The guarantee that leaves a plan.  Reading: R36.

    ``known`` evaluates plans on the messages with Sync up to the guarantee; ``frozen`` is m: what bears on nothing that
    is not frozen holds no guarantee back.
    """
    return _out(plan, guarantee, known, Unfrozen(Memory(plan), frozen))


def _out(node: Node, guarantee: Time, known: Oracle, unfrozen: Unfrozen) -> Time:
    incoming = [_out(part, guarantee, known, unfrozen) for part in logical.inputs(node)]
    least = min(incoming, default=guarantee)
    waiting = [*_undecided(node, least, known, unfrozen), *_open_ends(node, least, known, unfrozen)]
    if isinstance(node, logical.AlterLifetime):
        least = _altered(node, least)
    return min([least, *(plus(sync, -1) for sync in waiting)])


def _undecided(node: Node, guarantee: Time, known: Oracle, unfrozen: Unfrozen) -> Iterable[Time]:
    """The Syncs of rows that later events may still take back.

    Asked on what the inputs say up to their own guarantee: an e2 that may itself vanish has cancelled nothing yet.
    """
    match node:
        case logical.Session():
            rows = known.table_up_to(node, guarantee)
            return [row.occurrence_start for row in rows if row.valid_end > guarantee + 1]
        case logical.Slice():
            rows = unfrozen.of(node, known.table(node.input))
            return [row.occurrence_start for row in rows if _may_leave(node, row, guarantee)]
        case _:
            return undecided(node, guarantee, lambda: unfrozen.of(node, known.table_up_to(node, guarantee)))


def _may_leave(node: logical.Slice, row: Event, guarantee: Time) -> bool:
    """Whether a row may yet end before a slice begins.  Readings: R24, R36: a slice is a predicate over Oe and Ve.

    Decided once g has reached the start of the slice, or the row's own end.
    """
    occurrence, valid = (BEGINNING if s is None else s[0] for s in (node.occurrence, node.valid))
    if row.occurrence_start < occurrence and min(row.occurrence_end, occurrence) > guarantee:
        return True
    return row.valid_start < valid and min(row.valid_end, valid) > guarantee


def _open_ends(node: Node, guarantee: Time, known: Oracle, unfrozen: Unfrozen) -> Iterable[Time]:
    """A predicate or expression over an open Ve: undecided until g reaches it."""
    reading = {
        part.variable
        for expression in expressions_of(node)
        for part in walk(expression)
        if isinstance(part, Header) and part.field is HeaderField.VE
    }
    if not reading:
        return []
    if isinstance(node, logical.AlterLifetime):
        return _hanging(node, reading, guarantee, known, unfrozen)
    return [
        row.occurrence_start
        for part in logical.inputs(node)
        for row in unfrozen.of(part, known.table(part))
        for name, event in (("", row), *row.bindings)
        if name in reading and event.valid_end > guarantee
    ]


def _hanging(
    node: logical.AlterLifetime, reading: set[str], guarantee: Time, known: Oracle, unfrozen: Unfrozen
) -> Iterable[Time]:
    """The starts of lifetimes that hang on an open Ve: with another one the row ends otherwise, or is not there."""
    if not hangs_on_end(node):
        return
    for row in unfrozen.of(node.input, known.table(node.input)):
        environment = {"": row, **dict(row.bindings)}
        if any(event.valid_end > guarantee for name, event in environment.items() if name in reading):
            start = value(node.start, environment)
            if isinstance(start, int | float | Decimal):
                yield floor(start)


def _altered(node: logical.AlterLifetime, guarantee: Time) -> Time:
    """AlterLifetime: the smallest start that an event with Vs > g can get, minus 1; none if it depends on payload.

    Only starts that grow with Vs and Ve have such a smallest one: sums, differences from, products and quotients with
    constants.  At most g where the input is revisable, or where a lifetime reads Ve: what a revision or a shortening
    after g changes may begin right after g.
    """
    if guarantee in (BEGINNING, FOREVER) or not _grows(node.start):
        return BEGINNING if guarantee != FOREVER else guarantee
    earliest = primitive("", "", guarantee + 1, guarantee + 1)
    names = {part.variable for part in walk(node.start) if isinstance(part, Header)}
    start = value(node.start, dict.fromkeys(names, earliest))
    if not isinstance(start, int):
        return BEGINNING
    return min(guarantee, start - 1) if _may_end_earlier(node) else plus(start, -1)


def _may_end_earlier(node: logical.AlterLifetime) -> bool:
    reads_end = any(
        isinstance(part, Header) and part.field is HeaderField.VE
        for expression in (node.start, node.duration)
        for part in walk(expression)
    )
    return reads_end or revisable(node.input) > 0


def _grows(expression: Expression) -> bool:
    """Whether an expression never falls when Vs and Ve rise."""
    match expression:
        case Header():
            return expression.field in (HeaderField.VS, HeaderField.VE)
        case Literal():
            return True
        case Binary(operator="+"):
            return _grows(expression.left) and _grows(expression.right)
        case Binary(operator="-"):
            return _grows(expression.left) and isinstance(expression.right, Literal)
        case Binary(operator="*" | "DIV" | "/"):
            right = expression.right
            positive = isinstance(right, Literal) and isinstance(right.value, int) and right.value > 0
            return _grows(expression.left) and positive
        case Call(function="GREATEST" | "LEAST"):
            return all(_grows(argument) for argument in expression.arguments)
        case Attribute():
            return False
        case _:
            return False
