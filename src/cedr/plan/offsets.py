"""Expressions over Vs and Ve, bounded as ``Vs + constant`` where they have that shape.

Paper: Section 6, Definition 12.  Reading: R31.  Windows are made of sums, LEAST, GREATEST and floor division, and no
more is tried.  ``own`` are the variables that stand for the event itself.
"""

from __future__ import annotations

from collections.abc import Callable

from cedr.expression.tree import Binary, Call, Expression, Header, HeaderField, Literal
from cedr.model.time import FOREVER


def longest(duration: Expression, own: frozenset[str], lifetime: int) -> int:
    """The longest that a duration can be, over events that live no longer than ``lifetime``."""
    match duration:
        case Literal(value=int() as value):
            return value
        case Call(function="LEAST", arguments=arguments):
            return min((longest(argument, own, lifetime) for argument in arguments), default=FOREVER)
        case Binary(operator="*", left=Binary(operator="+", left=Binary(operator="-") as span, right=Literal() as one)):
            return _longest_hopping(duration, span, one, own)
        case Binary(operator="-", left=left, right=right):
            if isinstance(left, Header) and left.field is HeaderField.VE and left.variable in own:
                return lifetime if lowest(right, own) == 0 else FOREVER
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
