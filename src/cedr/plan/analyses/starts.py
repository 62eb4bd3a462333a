"""What AlterLifetime does to lifetimes, as far as its expressions show it: how early a start can be, which ends show.

Paper: Section 6, Definition 12.  Readings: R31, R36.
"""

from __future__ import annotations

from typing import Final

from cedr.expression.evaluate import evaluate
from cedr.expression.tree import Attribute, Binary, Call, Expression, Header, HeaderField, Literal, transform, walk
from cedr.model.event import primitive
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.analyses.bounds import revisable
from cedr.plan.analyses.facts import Facts
from cedr.plan.logical import AlterLifetime, Node, inputs
from cedr.plan.logical import walk as every
from cedr.plan.offsets import highest

_LATE: Final = FOREVER // 2
"""A start that an event after this has no value for has left the range of times at its end."""


def guaranteed_start(node: AlterLifetime, guarantee: Time) -> Time:
    """The guarantee that leaves AlterLifetime: just before the smallest start of an event with Vs after it.

    Reading: R36.  At most the guarantee itself where a revision or a shortening after it may change what begins then.
    """
    before = last_before(node, guarantee)
    if guarantee == FOREVER or not (reads_end(node.start, node.duration) or revisable(node.input)):
        return before
    return min(guarantee, before)


def guaranteed_at_most(plan: Node, guarantee: Time) -> Time:
    """The largest guarantee that can leave a plan for one that comes in: nothing that waits holds it back.

    Reading: R36.  It is larger than the one that comes in where all rows begin later than their events.
    """
    least = min((guaranteed_at_most(part, guarantee) for part in inputs(plan)), default=guarantee)
    return guaranteed_start(plan, least) if isinstance(plan, AlterLifetime) else least


def may_begin_later(plan: Node) -> bool:
    """Whether a guarantee that leaves a plan can be larger than the one that comes in."""
    return any(isinstance(node, AlterLifetime) and not isinstance(node.start, Header) for node in every(plan))


def last_before(node: AlterLifetime, known: Time) -> Time:
    """The last instant before every start that an event with Vs after ``known`` can get; BEGINNING: who knows."""
    if known in (BEGINNING, FOREVER):
        return known
    if not grows(node.start):
        return BEGINNING
    earliest = primitive("", "", known + 1, known + 1)
    names = {part.variable for part in walk(node.start) if isinstance(part, Header)}
    start = evaluate(node.start, dict.fromkeys(names, earliest))
    if isinstance(start, int):
        return plus(start, -1)
    return FOREVER - 1 if known >= _LATE else BEGINNING  # what grows has left the range of times, and stays outside


def grows(start: Expression) -> bool:
    """Whether a start never falls when Vs and Ve rise: sums, and what constants do to it."""
    match start:
        case Header(field=field):
            return field in (HeaderField.VS, HeaderField.VE)
        case Literal():
            return True
        case Binary(operator="+", left=left, right=right):
            return grows(left) and grows(right)
        case Binary(operator="-", left=left, right=right):
            return grows(left) and isinstance(right, Literal)
        case Binary(operator="*" | "DIV" | "/", left=left, right=Literal(value=int() as factor)):
            return grows(left) and factor > 0
        case Call(function="GREATEST" | "LEAST", arguments=arguments):
            return all(map(grows, arguments))
        case _:
            return False


def reads_end(*expressions: Expression) -> bool:
    """Whether some expression reads a Ve."""
    return any(isinstance(p, Header) and p.field is HeaderField.VE for e in expressions for p in walk(e))


def of_own_times(node: AlterLifetime) -> bool:
    """Whether the start is made of the row's own Vs and Ve alone, and grows with them."""
    own = Facts(node).inputs[0].own_variables
    read = (part for part in walk(node.start) if isinstance(part, Header | Attribute))
    return grows(node.start) and all(isinstance(part, Header) and part.variable in own for part in read)


def latest_start(node: AlterLifetime) -> int | None:
    """The c for which no start is after t + c where Vs and Ve are not after t; None: no such c shows."""
    own = Facts(node).inputs[0].own_variables
    if reads_end(node.start) and not of_own_times(node):
        return None

    def as_start(part: Expression) -> Expression | None:
        if isinstance(part, Header) and part.field is HeaderField.VE:
            return Header(part.variable, HeaderField.VS)
        return None

    return highest(transform(node.start, as_start), own)


def keeps_ends(node: AlterLifetime) -> bool:
    """Whether rows keep their Vs, and their Ve where that is not too late: MOVING.

    What is after an instant comes out after it, then, or as if it had any other end after it.
    """
    own = Facts(node).inputs[0].own_variables
    return _is_header(node.start, HeaderField.VS, own) and _is_lifetime(node.duration, own)


def _is_header(expression: Expression, field: HeaderField, own: frozenset[str]) -> bool:
    return isinstance(expression, Header) and expression.field is field and expression.variable in own


def _is_lifetime(duration: Expression, own: frozenset[str]) -> bool:
    match duration:
        case Binary(operator="-", left=left, right=right):
            return _is_header(left, HeaderField.VE, own) and _is_header(right, HeaderField.VS, own)
        case Call(function="LEAST", arguments=arguments):
            shorter = [part for part in arguments if not isinstance(part, Literal)]
            limits = [part.value for part in arguments if isinstance(part, Literal)]
            return bool(shorter) and all(_is_lifetime(p, own) for p in shorter) and all(map(_is_positive, limits))
        case _:
            return False


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and value > 0


def hangs_on_end(node: AlterLifetime) -> bool:
    """Whether a row that begins without regard to its event's Ve may, by that Ve, end or be there at all otherwise."""
    return reads_end(node.duration) and not reads_end(node.start) and not keeps_ends(node)


def pins_ends(node: AlterLifetime) -> bool:
    """Whether a row with an open end is not final, because what becomes of it then hangs on that end in its own way."""
    if not reads_end(node.start, node.duration):
        return False
    own = Facts(node).inputs[0].own_variables
    moved = isinstance(node.duration, Literal) and _is_header(node.start, HeaderField.VE, own)
    return not (moved or keeps_ends(node))
