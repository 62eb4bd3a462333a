"""What a sink is told of the output of a query: its columns, and when its rows are final.  Readings: R33, R36, R37."""

from __future__ import annotations

from cedr.data.change_rows import change_schema
from cedr.data.results import Shape
from cedr.model.time import plus
from cedr.plan.analyses.bounds import revisable
from cedr.plan.analyses.facts import Facts
from cedr.plan.logical import Node
from cedr.sinks.contract import Output

_SCOPES = 3
"""An event is known for at most so many scopes of its query behind a row that it bears on.  Reading: R37."""


def output_of(plan: Node, shape: Shape) -> Output:
    """The output of a plan, whose rows have a shape."""
    facts, after = Facts(plan), revisable(plan)
    if after:
        for _ in range(_SCOPES):
            after = plus(after, facts.scope or 0)
    return Output(shape.name, change_schema(shape), open_ends=facts.open_end, revisable=after)
