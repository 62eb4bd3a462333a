"""How long rows can live and how far AlterLifetime can move their start: bounds read off a plan.

Paper: Section 6, Definition 12.  Readings: R19, R31, R33.  Expressions over Vs and Ve are bounded as ``Vs + constant``
where they have that shape: windows are made of sums, LEAST, GREATEST and floor division, and no more is tried.
"""

from __future__ import annotations

from collections.abc import Callable

from cedr.expression.tree import Binary, Call, Expression, Header, HeaderField, Literal, walk
from cedr.model.modes import JoinKind, Valid
from cedr.model.time import FOREVER
from cedr.plan.logical import (
    All,
    AlterLifetime,
    Any,
    AtLeast,
    AtMost,
    Coalesce,
    Difference,
    Distinct,
    GroupBy,
    Join,
    Made,
    Node,
    Rename,
    Sequence,
    Session,
    SetValid,
    SlidingCount,
    Source,
    Union,
    Unless,
    UnlessNth,
)
from cedr.plan.shape import ROW, own_variables, positive_inputs

SCOPED = (Sequence, All, AtLeast, AtMost, SlidingCount, Unless, UnlessNth)
"""The operators with a scope w, which is also the length of their outputs' lifetime."""


def lifetime(node: Node) -> int:
    """The longest lifetime that a row of the node can have; FOREVER where there is no bound."""
    match node:
        case Sequence() | All() | AtLeast() | AtMost() | SlidingCount() | Unless() | UnlessNth():
            return node.scope
        case Any():
            return 1
        case Made():
            return node.lifetime
        case Source() | SetValid() | GroupBy() | Distinct() | Coalesce() | Session():
            return FOREVER
        case AlterLifetime():
            return max(0, _longest(node.duration, node))
        case Join(kind=JoinKind.INNER):
            return min(lifetime(node.left), lifetime(node.right))
        case Union():
            return max(lifetime(node.left), lifetime(node.right))
        case _:
            return lifetime(positive_inputs(node)[0])


def _longest(duration: Expression, node: AlterLifetime) -> int:
    match duration:
        case Literal(value=int() as value):
            return value
        case Call(function="LEAST", arguments=arguments):
            return min((_longest(argument, node) for argument in arguments), default=FOREVER)
        case Binary(operator="*", left=Binary(operator="+", left=Binary(operator="-") as span, right=Literal() as one)):
            return _longest_hopping(duration, span, one, own_variables(node.input))
        case Binary(operator="-", left=left, right=right):
            own = own_variables(node.input)
            if isinstance(left, Header) and left.field is HeaderField.VE and left.variable in own:
                return lifetime(node.input) if lowest(right, own) == 0 else FOREVER
            latest, earliest = highest(left, own), lowest(right, own)
            return FOREVER if latest is None or earliest is None else latest - earliest
        case _:
            return FOREVER


def _longest_hopping(duration: Expression, span: Binary, one: Literal, own: frozenset[str]) -> int:
    """``(last DIV hop - first DIV hop + k) * hop``, as the hopping window has it."""
    hop = duration.right.value if isinstance(duration, Binary) and isinstance(duration.right, Literal) else None
    if not isinstance(hop, int) or not isinstance(one.value, int):
        return FOREVER
    latest, earliest = _floored(span.left, hop, own, upper=True), _floored(span.right, hop, own, upper=False)
    if latest is None or earliest is None:
        return FOREVER
    return (latest - earliest) // hop * hop + one.value * hop  # a whole number of hops


def open_end(node: Node) -> bool:
    """Whether the Ve of a row may still be shortened after the row was said.  Readings: R3, R33."""
    match node:
        case Made():
            return False
        case Source() | GroupBy() | Distinct() | Difference() | Coalesce() | Session() | Join(kind=JoinKind.ANTI):
            return True
        case Sequence() | All() | AtLeast() | Any() | AtMost() | SlidingCount() | Unless() | UnlessNth():
            return False
        case SetValid():
            return node.valid is Valid.WITH_LAST
        case AlterLifetime():
            return reads_open_end(node.duration, node.input) or reads_open_end(node.start, node.input)
        case _:
            return any(open_end(part) for part in positive_inputs(node))


def reads_open_end(expression: Expression, *below: Node) -> bool:
    """Whether an expression over rows of some nodes reads a Ve that may still be shortened.  Reading: R36."""
    read = {e.variable for e in walk(expression) if isinstance(e, Header) and e.field is HeaderField.VE}
    if not read:
        return False
    named = [n.input for part in below for n in _renamings(part) if n.variable in read]
    return any(open_end(n) for n in (*named, *(below if ROW in read else ())))


def _renamings(node: Node) -> list[Rename]:
    here = [node] if isinstance(node, Rename) else []
    return here + [found for part in positive_inputs(node) for found in _renamings(part)]


def starts_no_earlier(node: AlterLifetime) -> bool:
    """Whether no start can lie before the Vs of its event."""
    offset = lowest(node.start, own_variables(node.input))
    return offset is not None and offset >= 0


def earliest_start(node: AlterLifetime) -> int | None:
    """The c for which every start is at least Vs + c, as far as the expression shows one."""
    return lowest(node.start, own_variables(node.input))


def latest_start(node: AlterLifetime) -> int | None:
    """The c for which every start is at most Vs + c, as far as the expression shows one."""
    return highest(node.start, own_variables(node.input))


def lowest(expression: Expression, own: frozenset[str]) -> int | None:
    """The largest known c with ``expression >= Vs + c``."""
    return _offset(expression, own, upper=False)


def highest(expression: Expression, own: frozenset[str]) -> int | None:
    """The smallest known c with ``expression <= Vs + c``."""
    return _offset(expression, own, upper=True)


def _offset(expression: Expression, own: frozenset[str], *, upper: bool) -> int | None:
    match expression:
        case Header(variable=variable, field=field) if variable in own:
            return 0 if field is HeaderField.VS or (field is HeaderField.VE and not upper) else None
        case Binary(operator="+", left=left, right=Literal(value=int() as value)):
            return _plus(_offset(left, own, upper=upper), value)
        case Binary(operator="+", left=Literal(value=int() as value), right=right):
            return _plus(_offset(right, own, upper=upper), value)
        case Binary(operator="-", left=left, right=Literal(value=int() as value)):
            return _plus(_offset(left, own, upper=upper), -value)
        case Binary(operator="*", left=left, right=Literal(value=int() as hop)):
            return _floored(left, hop, own, upper=upper)
        case Binary(operator="*", left=Literal(value=int() as hop), right=right):
            return _floored(right, hop, own, upper=upper)
        case Call(function="LEAST" | "GREATEST" as function, arguments=arguments):
            return _chosen(function, [_offset(a, own, upper=upper) for a in arguments], upper=upper)
        case _:
            return None


def _plus(offset: int | None, value: int) -> int | None:
    return None if offset is None else offset + value


def _floored(expression: Expression, hop: int, own: frozenset[str], *, upper: bool) -> int | None:
    """``(x DIV hop + k) * hop`` lies between ``x - (hop - 1) + k * hop`` and ``x + k * hop``."""
    match expression:
        case Binary(operator="+", left=left, right=Literal(value=int() as count)):
            return _plus(_floored(left, hop, own, upper=upper), count * hop)
        case Binary(operator="-", left=left, right=Literal(value=int() as count)):
            return _plus(_floored(left, hop, own, upper=upper), -count * hop)
        case Binary(operator="DIV", left=left, right=Literal(value=value)) if value == hop and hop > 0:
            return _plus(_offset(left, own, upper=upper), 0 if upper else 1 - hop)
        case _:
            return None


def _chosen(function: str, offsets: list[int | None], *, upper: bool) -> int | None:
    choose: Callable[[list[int]], int] = min if function == "LEAST" else max
    known = [offset for offset in offsets if offset is not None]
    one_is_enough = (function == "LEAST") == upper
    if not known or (len(known) < len(offsets) and not one_is_enough):
        return None
    return choose(known)
