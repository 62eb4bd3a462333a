"""Windows as AlterLifetime.

Paper: Section 6, after Definition 12: ``W_wl(S) = Π_Vs,min(Ve-Vs,wl)(S)``, "hopping windows using integer division",
``Inserts(S) = Π_Vs,∞(S)``, ``Deletes(S) = Π_Ve,∞(S)``.  Reading: R31.
"""

from __future__ import annotations

from collections.abc import Callable

from cedr.diagnostics.span import Span
from cedr.expression.tree import Binary, Call, Expression, Header, HeaderField, Literal
from cedr.model.schema import DataType
from cedr.model.time import FOREVER
from cedr.plan.logical import AlterLifetime, Node

VS = Header("", HeaderField.VS)
VE = Header("", HeaderField.VE)


def _ticks(duration: int) -> Literal:
    return Literal(duration, DataType.DURATION)


def altered(node: Node, window: str, *lengths: int, span: Span | None = None) -> AlterLifetime:
    """The AlterLifetime that a window's name stands for."""
    start, duration = _DEFINITIONS[window](*lengths)
    return AlterLifetime(node, start, duration, window, span=span)


def _moving(length: int) -> tuple[Expression, Expression]:
    """``Π(Vs, min(Ve - Vs, wl))``."""
    return VS, Call("LEAST", (Binary("-", VE, VS), _ticks(length)))


def _hopping(size: int, hop: int) -> tuple[Expression, Expression]:
    """An event counts in each window ``[k·h, k·h + s)`` that holds its Vs; window k is valid for one hop from its end.

    So it lives from the end of the first such window to one hop after the end of the last.
    """
    first = Binary("+", Binary("DIV", Binary("-", VS, _ticks(size)), _ticks(hop)), Literal(1, DataType.INTEGER))
    last = Binary("DIV", VS, _ticks(hop))
    start = Binary("+", Binary("*", first, _ticks(hop)), _ticks(size))
    count = Binary("+", Binary("-", last, first), Literal(1, DataType.INTEGER))
    return start, Binary("*", count, _ticks(hop))


def _inserts() -> tuple[Expression, Expression]:
    return VS, _ticks(FOREVER)


def _deletes() -> tuple[Expression, Expression]:
    return VE, _ticks(FOREVER)


_DEFINITIONS: dict[str, Callable[..., tuple[Expression, Expression]]] = {
    "MOVING": _moving,
    "HOPPING": _hopping,
    "TUMBLING": _hopping,
    "INSERTS": _inserts,
    "DELETES": _deletes,
}
