"""What an operator costs at a consistency level: scope, blocking, state, and the guarantee that leaves it.

Paper: Section 5 ("one can limit blocking and memory to specific lengths").  Readings: R33 (blocking B), R34 (memory M),
R36 (guarantees out), R37 (how guarantees shrink state).  All figures are lengths of time read off the plan; how many
events fall into them is a matter of the stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cedr.expression.tree import Attribute, Expression, walk
from cedr.model.level import ConsistencyLevel
from cedr.model.time import DAY, FOREVER, HOUR, MILLISECOND, MINUTE, SECOND, WEEK, format_duration, plus
from cedr.plan.analyses.facts import Facts
from cedr.plan.analyses.lifetimes import earliest_start, latest_start
from cedr.plan.logical import Node, Pattern, Session, Source, inputs, parameters
from cedr.plan.traits.registry import traits_of


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time and what it is measured from or by; FOREVER where there is no bound."""

    duration: int
    text: str
    cedr_time: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of one operator.  Paper: Section 5."""

    scope: int | None
    longest_blocking: Length
    state_held: Length
    guarantee: str


def bounds_of(node: Node, level: ConsistencyLevel) -> Bounds:
    """The bounds of one operator at a level."""
    return Bounds(scope(node), longest_blocking(node, level), state_held(node, level), guarantee(node))


def in_words(duration: int) -> str:
    """A length of time in its units, largest first; ticks that are no whole milliseconds as a bare number.

    >>> in_words(12 * HOUR + 5 * MINUTE), in_words(90 * SECOND), in_words(7)
    ('12 hours 5 minutes', '1 minute 30 seconds', '7')
    """
    if duration <= 0 or duration == FOREVER or duration % MILLISECOND:
        return format_duration(duration)
    parts = []
    for unit in (WEEK, DAY, HOUR, MINUTE, SECOND, MILLISECOND):
        count, duration = divmod(duration, unit)
        if count:
            parts.append(format_duration(count * unit))
    return " ".join(parts)


# -- scope ------------------------------------------------------------------------------------------------------------


def own_scope(node: Node) -> int | None:
    """How far apart in Vs the events may lie that an operator itself brings together; None where it brings none."""
    return Facts(node).own_scope


def scope(node: Node) -> int | None:
    """How far back in Vs an output can reach: the operator's own scope and the nested ones added up.  Reading: R37."""
    return Facts(node).scope


# -- blocking ---------------------------------------------------------------------------------------------------------


def undecided_for(node: Node) -> int:
    """How long after a row's Vs later events can still decide whether it holds.  Readings: R15, R36."""
    return Facts(node).undecided


def reads_open_ends(node: Node) -> bool:
    """Whether a predicate or expression of the node reads a Ve that may still be shortened.  Reading: R36."""
    return Facts(node).reads_open_ends


def expressions(node: Node) -> Iterable[Expression]:
    """The predicates and expressions by which a node decides about its rows; lifetimes are not among them."""
    return traits_of(node).shape.expressions(node)


def longest_blocking(node: Node, level: ConsistencyLevel) -> Length:
    """How long at most an output waits once its last event is there.  Reading: R33.

    B = FOREVER trusts guarantees alone; a smaller B says what h - B has passed; B = 0 never waits.  A window's result
    lies in the future of its events in any case.
    """
    ahead = _window_ahead(node)
    bound = level.effective_blocking
    if bound.duration == FOREVER:
        wait = undecided_for(node)
        return Length(max(wait, ahead), _until_guarantee(wait, ahead))
    if bound.duration == 0:
        text = f"none; results begin up to {in_words(ahead)} after their events" if ahead else "none"
        return Length(ahead, text)
    text = f"at most {bound}" + (f" after a result begins, {in_words(ahead)} after its events" if ahead else "")
    return Length(plus(bound.duration, 0 if bound.cedr_time else ahead), text, bound.cedr_time)


def _until_guarantee(wait: int, ahead: int) -> str:
    if ahead:
        return f"until the guarantee reaches the result's start, up to {in_words(ahead)} after its events"
    if wait == FOREVER:
        return "until the guarantee reaches its end"
    return f"until the guarantee is {in_words(wait)} past it" if wait else "until the guarantee reaches it"


def _window_ahead(node: Node) -> int:
    """How long after its Vs an event's result may begin; a start at Ve has no bound, but is no wait either."""
    return max(0, latest_start(node) or 0)


# -- state ------------------------------------------------------------------------------------------------------------


def state_held(node: Node, level: ConsistencyLevel) -> Length:
    """How long an event stays in the operator's state.  Readings: R34, R37.

    By guarantees: the largest Vs of its versions + scope + d, where d is how long its type is revisable; three times w
    where FIRST or LAST in ALL and ATLEAST look both ways.  With a finite M, input that no unfrozen row can depend on
    goes earlier: M + scope behind the newest Sync, twice w for ATMOST, UNLESS', CANCEL-WHEN and choices.  Consumption
    bears on later choices, and versions of an event on each other: there input is forgotten by guarantees only.
    """
    if own_scope(node) is None:
        return _of_single_events(node, level)
    held = plus(_reach(node, finite_memory=False), revisable(node))
    memory = level.memory
    if memory.duration == FOREVER or consumes(node) or revisable(node):
        return Length(held, _behind(held, "the guarantee", node))
    reach = _reach(node, finite_memory=True)
    remembered = plus(memory.duration, reach)
    if memory.cedr_time:
        text = f"at most {memory} + {in_words(reach)} behind the newest Sync"
        return Length(held if reach == FOREVER else reach, text, cedr_time=True)
    return Length(remembered, _behind(remembered, "the newest Sync", node))


def _of_single_events(node: Node, level: ConsistencyLevel) -> Length:
    """ANY brings no events together; it knows one while it may be revised, or with a finite M while its row may be."""
    if not isinstance(node, Pattern):
        return Length(0, "none")
    held, memory = revisable(node), level.memory
    if held or consumes(node) or memory.duration == FOREVER or memory.cedr_time:
        return Length(held, _behind(held, "the guarantee", node)) if held else Length(0, "none")
    return Length(plus(memory.duration, 1), _behind(max(1, memory.duration), "the newest Sync", node))


def _behind(duration: int, what: str, node: Node) -> str:
    if duration != FOREVER:
        return f"{in_words(duration)} behind {what}"
    if scope(node) == FOREVER:
        if isinstance(node, Session):
            return "for as long as its session lasts"
        alive = traits_of(node).times.while_alive
        return "for as long as its rows are alive" if alive else "for ever: the scope has no bound"
    return "for ever: an input is REVISABLE without FOR"


def _reach(node: Node, *, finite_memory: bool) -> int:
    facts = Facts(node)
    further = facts.traits.times.further(node)
    total, own = facts.scope or 0, facts.own_scope or 0
    for _ in range(further.by_memory if finite_memory else further.by_guarantee):
        total = plus(total, own)
    return total


def revisable(node: Node) -> int:
    """How long after Vs the events below may be revised: d of the types, the largest.  Reading: R37."""
    if isinstance(node, Source):
        return node.type.revisable
    return max((revisable(part) for part in inputs(node)), default=0)


def consumes(node: Node) -> bool:
    """Whether old choices bear on new ones: CONSUME or DISJOINT.  Readings: R26, R27."""
    disjoint = isinstance(node, Pattern) and node.disjoint is not None
    return disjoint or any(p.consume for p in parameters(node))


def level_below(node: Node, level: ConsistencyLevel) -> ConsistencyLevel:
    """The level as it acts on the inputs of a node.  Reading: R34: what no unfrozen row can depend on is forgotten.

    Rows without an end never freeze, so M forgets nothing for them; elsewhere a row lives for a scope, and so long its
    contributors are asked for beyond M.
    """
    if level.memory.duration == FOREVER:
        return level
    longer = traits_of(node).times.outlives(node, own_scope(node) or 0)
    duration = plus(level.memory.duration, longer)
    return replace(level, memory=replace(level.memory, duration=duration))


# -- guarantees -------------------------------------------------------------------------------------------------------


def guarantee(node: Node) -> str:
    """The guarantee that leaves an operator, by the smallest guarantee g of its inputs.  Reading: R36."""
    times = traits_of(node).times
    waits, start = times.undecided(node), times.start(node)
    if waits is not None:
        return f"min(g, smallest Sync of {waits.what} - 1)"
    if start is not None:
        return _moved(node, start)
    return "min(g, smallest Sync of a row whose open Ve is read - 1)" if reads_open_ends(node) else "g"


def _moved(node: Node, start: Expression) -> str:
    """The smallest start that an event with Vs > g can get, minus 1; at most g; none if it depends on payload."""
    if any(isinstance(part, Attribute) for part in walk(start)):
        return "none: the start depends on payload"
    offset = earliest_start(node)
    if offset is None:
        return "min(g, smallest start of an event with Vs > g - 1)"
    return "g" if offset >= 0 else f"g - {in_words(-offset)}"
