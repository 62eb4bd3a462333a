"""The contract of every operator of the dataflow: changes of its inputs in, changes of its output out.

Paper: Section 5, Figure 7 (the operational module), and Section 6.  An operator works on columns; it knows neither its
host nor a consistency level.  The dataflow calls it through this contract alone.

Clauses; ``tests/conformance`` takes every operator through each of them:

1. **Meaning.**  The sum of the deltas that ``update`` returns is the denotation of the sum of the deltas that it took
   in, whatever the batches and their order.  Rows never change: a row that gets another end is removed, and another one
   is added.
2. **Frontier.**  What ``frontier`` has said stays true: after ``Frontier(final, guarantee, ended)`` no row with Vs up
   to ``final`` is added or removed, but that one with a Ve after ``ended`` may be replaced by one with the same Vs and
   another Ve after ``ended``; and no change has a Sync up to ``guarantee``, as long as the inputs keep theirs.  A
   frontier never moves back.
3. **Demand.**  What ``demand`` says that nobody needs can be withheld, and nothing that is emitted later changes: rows
   after the line come out as if everything were known.
4. **Snapshot.**  A new operator that is restored from ``snapshot``, and takes in the rows that were demanded, goes on
   as if nothing had happened.
5. **Readers.**  ``frontier`` changes nothing: two readers with different memories each get what they would get alone.
   ``decide`` and ``demand`` are called for the reader that remembers most.
6. **Cost.**  A step takes time that follows the rows that change and those that they affect, not the rows held.
7. **Horizon.**  After ``ask(until)`` rows with Vs after ``until`` may be withheld, and a Ve after it may be told as any
   other one after it; the first update after an ``ask`` that reaches them brings them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows

Snapshot = list[list[object]]
"""What cannot be computed again from the rows still known, as plain values."""


class Size(NamedTuple):
    """What an operator holds."""

    rows: int
    bytes: int


class Frontier(NamedTuple):
    """What is certain about the rows of a relation.  Readings: R36, R37.

    Rows with Vs up to ``final`` stay as they are; one whose Ve is after ``ended`` may still get another Ve after it.
    Nothing with a Sync up to ``guarantee`` comes or goes any more, and nothing of it is undecided.
    """

    final: Time = BEGINNING
    guarantee: Time = BEGINNING
    ended: Time = FOREVER


def before(known: Time, syncs: Rows) -> Time:
    """The guarantee where rows with some Syncs are undecided: just before the smallest, and at most ``known``."""
    return min(known, plus(int(syncs.min()), -1)) if len(syncs) else known


class Line(NamedTuple):
    """Which rows of a relation nobody needs: Vs up to ``vs`` and Ve up to ``ended``, and all with Ve before ``ve``.

    A pattern needs a row by its Vs; where rows matter while they are alive, one is needed until its Ve.
    """

    vs: Time
    ve: Time = BEGINNING
    ended: Time = FOREVER

    def __and__(self, other: Line) -> Line:
        """The rows that two readers do not need."""
        return Line(*map(min, self, other))


class Operator(Protocol):
    """A node of the dataflow."""

    relation: Relation
    """What others see of its output."""

    def ask(self, until: Time) -> list[Time]:
        """From now on no row with Vs after ``until`` is asked for; up to which Vs each input is.  Clause 7."""

    @property
    def withholds(self) -> bool:
        """Whether rows or ends wait for a later ``ask``.  Clause 7."""

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:
        """Take in the changes of all inputs; the change of the output.  Clause 1.

        ``frontiers``: what is certain about each input once these changes are taken in.
        """

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:
        """Stop waiting for what is decided by the frontiers of the inputs.  Clause 5; readings R34, R36.

        ``frozen``: rows of the output with Vs up to here bear on nothing that may still be emitted.
        """

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:
        """What is certain about the output, given what is certain about the inputs.  Clause 2."""

    def demand(self, line: Line, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:
        """Forget what bears on no change to come; which rows of each input nobody needs here.  Clause 3.

        ``line``: the rows of the output that nobody needs.
        """

    def snapshot(self) -> Snapshot | None:
        """What a restart cannot compute from the rows still known; None where that is nothing.  Clause 4."""

    def restore(self, snapshot: Snapshot) -> None:
        """Begin with a snapshot; the rows still known follow with the next update.  Clause 4."""

    @property
    def size(self) -> Size:
        """What it holds."""

    @property
    def ties(self) -> int:
        """How many events share Vs and key with another event of its inputs.  Reading: R49."""
