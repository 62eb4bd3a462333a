"""Adjacent alterations of lifetimes become one.  Paper: Definition 12.  Reading: R31."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cedr.expression.tree import Binary, Call, Expression, Header, HeaderField, Literal
from cedr.model.schema import DataType
from cedr.model.time import FOREVER
from cedr.plan.logical import ROW, AlterLifetime, Node

_START = Header(ROW, HeaderField.VS)
_LIFETIME = Binary("-", Header(ROW, HeaderField.VE), _START)


@dataclass(frozen=True, slots=True)
class _Duration:
    """A duration of the form ``min(Ve - Vs, constant)``, either of which may be missing."""

    lifetime: bool
    constant: int = FOREVER

    @property
    def always_positive(self) -> bool:
        return not self.lifetime and self.constant > 0


def merge_lifetimes(node: Node) -> Node | None:
    """``Π_{Vs, min(Ve - Vs, b)}(Π_{f, d}(S)) = Π_{f, min(d, b)}(S)``, for d ``min(Ve - Vs, a)`` or constant.

    Paper: Definition 12.  With it: ``W_b(W_a(S)) = W_min(a, b)(S)``, ``W_b(Inserts(S)) = Π_{Vs, b}(S)``,
    ``W_b(Deletes(S)) = Π_{Ve, b}(S)``.  The outer one keeps the start, and the lifetime it sees is the inner duration.

    ``Π_{Vs, b}(Π_{f, a}(S)) = Π_{f, b}(S)`` for constants a > 0: with it ``Inserts(Inserts(S)) = Inserts(S)`` and
    ``Inserts(Deletes(S)) = Deletes(S)``.

    Reading: R31: a duration of zero or less drops the event.  ``min(d, b)`` is so exactly where d or b is; where the
    outer one forgets d, d must be positive for sure: ``Inserts(W_a(S))`` is not ``Inserts(S)``, because W drops what is
    detected at distance exactly w (R11), and stays as it is.
    """
    if not isinstance(node, AlterLifetime) or not isinstance(node.input, AlterLifetime) or node.start != _START:
        return None
    inner = node.input
    before, after = _duration(inner.duration), _duration(node.duration)
    if before is None or after is None:
        return None
    if after.lifetime:
        merged = _Duration(before.lifetime, min(before.constant, after.constant))
    elif before.always_positive:
        merged = after
    else:
        return None
    window = _window(inner, merged, node.window)
    return replace(node, input=inner.input, start=inner.start, duration=_expression(merged), window=window)


def _duration(expression: Expression) -> _Duration | None:
    if expression == _LIFETIME:
        return _Duration(lifetime=True)
    if isinstance(expression, Literal) and isinstance(expression.value, int):
        return _Duration(lifetime=False, constant=expression.value)
    if isinstance(expression, Call) and expression.function == "LEAST":
        terms = [_duration(argument) for argument in expression.arguments]
        known = [term for term in terms if term is not None]
        if known and len(known) == len(terms):
            return _Duration(any(t.lifetime for t in known), min(t.constant for t in known))
    return None


def _expression(duration: _Duration) -> Expression:
    constant = Literal(duration.constant, DataType.DURATION)
    if not duration.lifetime:
        return constant
    return _LIFETIME if duration.constant == FOREVER else Call("LEAST", (_LIFETIME, constant))


def _window(inner: AlterLifetime, merged: _Duration, outer: str) -> str:
    """What the merged window is called, where it still has a name."""
    if _duration(inner.duration) == merged:
        return inner.window
    if inner.start == _START and merged.lifetime:
        return "MOVING"
    return outer if inner.start == _START and merged.constant == FOREVER else ""
