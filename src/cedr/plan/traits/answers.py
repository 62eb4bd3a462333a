"""Answers that operators of several families give.

Each is one answer to one question of the record, under a name that says it.  A class that gives it names it: there are
no answers by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cedr.expression.tree import Expression
from cedr.model.schema import DataType
from cedr.model.time import FOREVER, plus
from cedr.plan.logical import Node, inputs
from cedr.plan.traits.record import End, Further, Groups, Inputs, Keys, Sight, Times, Undecided


class Scoped(Protocol):
    """A node with a scope w."""

    @property
    def scope(self) -> int:
        """The scope."""


# -- shape ------------------------------------------------------------------------------------------------------------


def nothing_negated(node: Node) -> None:
    """Every input contributes."""
    return


def none_against(node: Node) -> tuple[int, ...]:
    """No further event takes a row away."""
    return ()


def nothing_bound(node: Node, below: Inputs) -> frozenset[str]:
    """No variable is bound for certain."""
    return frozenset()


def bound_by_first(node: Node, below: Inputs) -> frozenset[str]:
    """The variables of the only, or the first, input."""
    return below[0].certain


def bound_by_all(node: Node, below: Inputs) -> frozenset[str]:
    """The variables of all inputs."""
    return frozenset[str]().union(*(part.certain for part in below))


def no_payload(node: Node) -> dict[str, DataType]:
    """A composite has no payload of its own: its variables reach those of its contributors."""
    return {}


def no_expressions(node: Node) -> tuple[Expression, ...]:
    """Nothing of it is an expression over its events."""
    return ()


# -- keys -------------------------------------------------------------------------------------------------------------


def one_meets(node: Node) -> int:
    """Rows of the inputs do not meet."""
    return 1


def two_meet(node: Node) -> int:
    """A row of the one input meets one of the other."""
    return 2


def yes(node: Node) -> bool:
    """Always."""
    return True


def no(node: Node) -> bool:
    """Never."""
    return False


def ungrouped(node: Node) -> Groups | None:
    """Rows are not put together by values."""
    return None


def all_nulls_matter(node: Node) -> tuple[bool, ...]:
    """A row bears on something whatever its key is."""
    return (True,) * len(inputs(node))


EACH_BY_ITSELF: Keys[Node] = Keys(
    meeting=one_meets,
    by_itself=yes,
    groups=ungrouped,
    compares_rows=False,
    ordered=yes,
    nulls_matter=all_nulls_matter,
)
"""Each row depends on one row of an input."""


# -- times ------------------------------------------------------------------------------------------------------------


def no_scope(node: Node, below: Inputs) -> None:
    """It brings no events together."""
    return


def given_scope(node: Scoped, below: Inputs) -> int:
    """The scope that it is given."""
    return node.scope


def while_inputs_live(node: Node, below: Inputs) -> int:
    """Rows meet while they are alive."""
    return max(part.lifetime for part in below)


def nested_scopes(node: Node, own: int | None, below: Inputs) -> int | None:
    """Its own scope and the longest below."""
    scopes = [part.scope for part in below if part.scope is not None]
    return max(scopes, default=None) if own is None else plus(own, max(scopes, default=0))


def no_further(node: Node) -> Further:
    """It looks as far as its rows reach."""
    return Further()


def no_longer(node: Node, own: int) -> int:
    """Its input is asked for as long as its rows are."""
    return 0


def decided(node: Node) -> Undecided | None:
    """Its rows are decided as soon as its inputs are."""
    return None


def starts_as_event(node: Node) -> Expression | None:
    """The Vs of a row is that of an event, or a fixed length after it."""
    return None


def lives_as_first(node: Node, below: Inputs) -> int:
    """A row lives as long as the one of the only, or the left, input."""
    return below[0].lifetime


def lives_for_scope(node: Scoped, below: Inputs) -> int:
    """A row lives for a scope."""
    return node.scope


def lives_forever(node: Node, below: Inputs) -> int:
    """Nothing bounds how long a row lives."""
    return FOREVER


def end_of_first(node: Node, below: Inputs) -> bool:
    """The end of a row is open while that of its input's row is."""
    return below[0].open_end


def end_is_open(node: Node, below: Inputs) -> bool:
    """A row may be shortened."""
    return True


def end_is_fixed(node: Node, below: Inputs) -> bool:
    """A row has its end from the beginning."""
    return False


def own_end(node: Node) -> End:
    """The operator makes Ve."""
    return End.OWN


def end_of_inputs(node: Node) -> End:
    """Ve is that of a row of the input."""
    return End.INPUTS


def end_of_events(node: Node) -> End:
    """Any event below may give a row its Ve."""
    return End.EVENTS


def same_reach(node: Node, below: Inputs, reach: int, shown: bool) -> Sequence[int]:
    """A row bears on the one that is made of it."""
    return [reach]


def endless_reach(node: Node, below: Inputs, reach: int, shown: bool) -> Sequence[int]:
    """Memory forgets nothing of the inputs."""
    return [FOREVER] * len(below)


def sees_as_input(node: Node, below: Sequence[Sight]) -> Sight:
    """A row sees what those of the inputs do."""
    return widest(below)


def sees_unknown(node: Node, below: Sequence[Sight]) -> None:
    """How far a row sees is not bounded."""
    return


TIMES_OF_INPUT: Times[Node] = Times(
    own_scope=no_scope,
    scope=nested_scopes,
    while_alive=False,
    tells_need=False,
    further=no_further,
    outlives=no_longer,
    undecided=decided,
    start=starts_as_event,
    lifetime=lives_as_first,
    open_end=end_of_first,
    end=end_of_inputs,
    reach_below=same_reach,
    sees=sees_as_input,
)
"""A row has the times of the input's row that it is made of."""


def widest(below: Sequence[Sight]) -> Sight:
    """As far as any of them."""
    return Sight(max((s.back for s in below), default=0), max((s.ahead for s in below), default=0))


def less(duration: int) -> int:
    """One tick less, where there is an end."""
    return duration if duration == FOREVER else duration - 1


# -- composition ------------------------------------------------------------------------------------------------------


def in_stages(node: Node) -> str:
    """A plan with it may be cut."""
    return ""


def not_in_stages(node: Node) -> str:
    """A plan with it is run in one piece."""
    return f"{type(node).__name__} is not run in stages"


def no_order_of_time(node: Node, below: Inputs) -> bool:
    """The order of its contributors is not certain to be that of their times."""
    return False


def ordered_as_first(node: Node, below: Inputs) -> bool:
    """Its contributors are those of its input's row."""
    return below[0].by_time


def unknown_last(node: Node, below: Inputs) -> int | None:
    """Which contributor gives Vs is not known from the operator itself."""
    return None
