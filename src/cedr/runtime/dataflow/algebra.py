"""Which operator runs a node of the algebra.

Paper: Section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cedr.plan import logical
from cedr.plan.logical import Node
from cedr.runtime.operators.algebra.alter_lifetime import AlterLifetime
from cedr.runtime.operators.algebra.coalesce import Coalesce
from cedr.runtime.operators.algebra.difference import Difference
from cedr.runtime.operators.algebra.distinct import Distinct
from cedr.runtime.operators.algebra.group_by import GroupBy
from cedr.runtime.operators.algebra.join import Join
from cedr.runtime.operators.algebra.running_group_by import RunningGroupBy
from cedr.runtime.operators.algebra.session import Session
from cedr.runtime.operators.algebra.sums import in_sums
from cedr.runtime.operators.algebra.top import Top
from cedr.runtime.operators.algebra.union import Union
from cedr.runtime.operators.contract import Operator
from cedr.runtime.store.relation import Relation


def _group_by(node: logical.GroupBy, inputs: Sequence[Relation]) -> Operator:
    """By sums where that is enough."""
    return (RunningGroupBy if in_sums(node.aggregates) else GroupBy)(node, inputs)


MAKERS: dict[type[Node], Callable[[Any, Sequence[Relation]], Operator]] = {
    logical.GroupBy: _group_by,
    logical.Distinct: Distinct,
    logical.AlterLifetime: AlterLifetime,
    logical.Join: Join,
    logical.Union: Union,
    logical.Difference: Difference,
    logical.Coalesce: Coalesce,
    logical.Session: Session,
    logical.Top: Top,
}
"""For each class of nodes what makes its operator of the relations that it reads."""
