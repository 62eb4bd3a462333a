"""How long rows can live and how far AlterLifetime can move their start: bounds read off a plan.

Paper: Section 6, Definition 12.  Readings: R19, R31, R33.
"""

from __future__ import annotations

from cedr.expression.tree import Expression
from cedr.plan.analyses.facts import Facts
from cedr.plan.logical import Node
from cedr.plan.offsets import highest, lowest


def lifetime(node: Node) -> int:
    """The longest lifetime that a row of the node can have; FOREVER where there is no bound."""
    return Facts(node).lifetime


def open_end(node: Node) -> bool:
    """Whether the Ve of a row may still be shortened after the row was emitted.  Readings: R3, R33."""
    return Facts(node).open_end


def reads_open_end(expression: Expression, *below: Node) -> bool:
    """Whether an expression over rows of some nodes reads a Ve that may still be shortened.  Reading: R36."""
    return any(Facts(part).reads_open_end(expression) for part in below)


def starts_no_earlier(node: Node) -> bool:
    """Whether no start can lie before the Vs of its event."""
    offset = earliest_start(node)
    return offset is not None and offset >= 0


def earliest_start(node: Node) -> int | None:
    """The c for which every start is at least Vs + c, as far as the expression shows one."""
    facts = Facts(node)
    start = facts.traits.times.start(node)
    return 0 if start is None else lowest(start, facts.inputs[0].own_variables)


def latest_start(node: Node) -> int | None:
    """The c for which every start is at most Vs + c, as far as the expression shows one."""
    facts = Facts(node)
    start = facts.traits.times.start(node)
    return 0 if start is None else highest(start, facts.inputs[0].own_variables)
