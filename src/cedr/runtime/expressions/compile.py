"""Expressions on many instances at once.

Reading: R20, R21, R23.  Every value is the one that ``cedr.expression.evaluate.compile_expression`` gives for the
instance: a tree becomes nested closures over whole columns, with the types inferred there, and a part for which no
exact way in columns is known is computed row by row.  Chains of AND, of OR and of arithmetic run in a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from cedr.expression import tree
from cedr.expression.chain import logical_operands, spine
from cedr.expression.lattice import DECIMAL, DURATION, FLOAT
from cedr.expression.tree import Expression
from cedr.expression.typing import infer_all
from cedr.expression.values import plain
from cedr.model.schema import DataType
from cedr.runtime.expressions import logic, number
from cedr.runtime.expressions.extremes import EXTREMES, extreme
from cedr.runtime.expressions.frame import Frame, Leaves, row_by_row
from cedr.runtime.expressions.logic import truth
from cedr.runtime.expressions.nested import field_of, item_of
from cedr.runtime.expressions.own import own_call
from cedr.runtime.expressions.vector import INTEGERS, NULLS, Mask, kind_of, not_null, of_values, spread
from cedr.runtime.expressions.vector import to_arrow as to_arrow
from cedr.runtime.expressions.vector import to_values as to_values
from cedr.runtime.values.vector import Vector

__all__ = ["Conjuncts", "Frame", "columns_of", "compile_vector", "to_arrow", "to_values", "truth"]

Quick = Callable[[Leaves], Vector | None]
"""A part in columns; None where that is not possible for these columns."""
Sure = Callable[[Leaves], Vector]

_CACHED: dict[int, tuple[Expression, Sure]] = {}
_CACHE_SIZE: Final = 1024


def compile_vector(expression: Expression) -> Callable[[Frame], Vector]:
    """The expression as a function of a frame, for evaluating it many times."""
    run = _known(expression)
    return lambda frame: run(Leaves(frame))


def columns_of(expressions: Mapping[str, Expression], frame: Frame) -> dict[str, Vector]:
    """The values of several named expressions on one frame."""
    leaves = Leaves(frame)
    return {name: _known(expression)(leaves) for name, expression in expressions.items()}


class Conjuncts:
    """The predicates injected into one operator.  Reading: R21."""

    def __init__(self, predicates: tuple[Expression, ...]) -> None:
        self.predicates = predicates
        self.names = tuple(tree.variables(predicate) for predicate in predicates)
        """The variables that each predicate names."""

    def passes(self, frame: Frame, added: frozenset[str] | None = None, known: frozenset[str] | None = None) -> Mask:
        """The instances for which every predicate that applies is true.

        A predicate constrains only instances in which every variable that it names is bound; one that a LEFT join
        left without a partner is NULL to it.  With ``known`` those that name another variable are left for later; with
        ``added`` those that name none of these were asked before.
        A predicate that names no variable is always asked.
        """
        leaves = Leaves(frame)
        result = np.ones(leaves.size, np.bool_)
        for predicate, names in zip(self.predicates, self.names, strict=True):
            if names and ((known is not None and not names <= known) or (added is not None and not names & added)):
                continue
            free = _somewhere_unbound(leaves, names)
            if free is None:
                result &= truth(_known(predicate)(leaves))
            elif not free.all():
                result &= truth(_known(predicate)(leaves)) | free
            if not result.any():
                break
        return result

    def without(self, skipped: Iterable[Expression]) -> Conjuncts:
        """The predicates but for some."""
        left_out = tuple(skipped)
        return Conjuncts(tuple(predicate for predicate in self.predicates if predicate not in left_out))


def _somewhere_unbound(leaves: Leaves, names: frozenset[str]) -> Mask | None:
    """The instances in which some variable is not bound, nor NULL for that; None where there is none."""
    free: Mask | None = None
    for name in names:
        bound = leaves.bound(name)
        if bound is not None and not leaves.frame.nullable(name):
            free = ~bound if free is None else free | ~bound
    return free


def _known(expression: Expression) -> Sure:
    known = _CACHED.get(id(expression))
    if known is None:
        if len(_CACHED) >= _CACHE_SIZE:
            _CACHED.clear()
        known = _CACHED[id(expression)] = (expression, _compiled(expression))  # held, so the id stays its own
    return known[1]


def _compiled(expression: Expression) -> Sure:
    types = infer_all(expression, lambda _: None)
    ready: dict[int, Quick] = {}
    todo: list[tuple[Expression, bool]] = [(expression, False)]
    while todo:
        node, visited = todo.pop()
        if visited:
            build: _Builder = _BUILDERS.get(type(node), _never)
            ready[id(node)] = build(node, ready, types)
        elif id(node) not in ready:
            todo.append((node, True))
            todo.extend((part, False) for part in _operands(node))
    run = _sure(expression, ready)

    def spread_out(leaves: Leaves) -> Vector:
        with np.errstate(all="ignore"):
            return spread(run(leaves), leaves.size)

    return spread_out


Ready = Mapping[int, Quick]
Types = Mapping[int, DataType]
_Builder = Callable[[Any, Ready, Types], Quick]


def _operands(node: Expression) -> Iterator[Expression]:
    if isinstance(node, tree.Binary):
        yield from logical_operands(node) if node.operator in ("AND", "OR") else spine(node).operands
    elif type(node) in _BUILDERS:
        yield from tree.children(node)


def _sure(node: Expression, ready: Ready) -> Sure:
    """A part in columns where that is possible, else row by row."""
    quick, slow = ready[id(node)], row_by_row(node)

    def run(leaves: Leaves) -> Vector:
        found = quick(leaves)
        return slow(leaves) if found is None else found

    return run


def _never(_node: Expression, _ready: Ready, _types: Types) -> Quick:
    return lambda _: None


def _literal(node: tree.Literal, _ready: Ready, _types: Types) -> Quick:
    vector = of_values([plain(node.value)])
    return lambda _: vector


def _leaf(node: tree.Attribute | tree.Header, _ready: Ready, _types: Types) -> Quick:
    return lambda leaves: leaves.vector(node)


def _field(node: tree.Field, ready: Ready, _types: Types) -> Quick:
    operand, name = ready[id(node.operand)], node.name
    return lambda leaves: None if (found := operand(leaves)) is None else field_of(found, name)


def _item(node: tree.Item, ready: Ready, _types: Types) -> Quick:
    operand, index = ready[id(node.operand)], ready[id(node.index)]

    def run(leaves: Leaves) -> Vector | None:
        found, number = operand(leaves), index(leaves)
        return None if found is None or number is None else item_of(found, number)

    return run


def _unary(node: tree.Unary, ready: Ready, types: Types) -> Quick:
    if node.operator == "NOT":
        sure = _sure(node.operand, ready)
        return lambda leaves: logic.negation(sure(leaves))
    operand = ready[id(node.operand)]
    change = number.negative_time if types[id(node.operand)] is DURATION else number.negative
    return lambda leaves: None if (found := operand(leaves)) is None else change(found)


def _binary(node: tree.Binary, ready: Ready, types: Types) -> Quick:
    if node.operator in ("AND", "OR"):
        parts = [_sure(part, ready) for part in logical_operands(node)]
        decisive = node.operator == "OR"
        return lambda leaves: logic.logical([part(leaves) for part in parts], decisive=decisive)
    chain = spine(node)
    first, steps = ready[id(chain.first)], [(_step(link, types), ready[id(link.right)]) for link in chain.links]

    def run(leaves: Leaves) -> Vector | None:
        found = first(leaves)
        for operation, right in steps:
            if found is None or (other := right(leaves)) is None:
                return None
            found = operation(found, other)
        return found

    return run


def _step(link: tree.Binary, types: Types) -> number.Operation:
    return number.binary_operation(link.operator, types[id(link.left)], types[id(link.right)])


def _between(node: tree.Between, ready: Ready, _types: Types) -> Quick:
    operand, low, high = (ready[id(part)] for part in (node.operand, node.low, node.high))
    not_below, not_above, negated = number.comparison(">="), number.comparison("<="), node.negated

    def run(leaves: Leaves) -> Vector | None:
        value, least, most = operand(leaves), low(leaves), high(leaves)
        if value is None or least is None or most is None:
            return None
        above, below = not_below(value, least), not_above(value, most)
        if above is None or below is None:
            return None
        inside = logic.logical([above, below], decisive=False)
        return logic.negation(inside) if negated else inside

    return run


def _in(node: tree.In, ready: Ready, _types: Types) -> Quick:
    operand, negated = ready[id(node.operand)], node.negated
    constants = [plain(item.value) for item in node.items if isinstance(item, tree.Literal)]
    if len(constants) == len(node.items) > 0:
        known = logic.Constants(constants, negated=negated)
        return lambda leaves: None if (found := operand(leaves)) is None else known.hold(found)
    items, equal = [ready[id(item)] for item in node.items], number.comparison("=")

    def run(leaves: Leaves) -> Vector | None:
        value, same = operand(leaves), []
        for item in items:
            if value is None or (other := item(leaves)) is None or (found := equal(value, other)) is None:
                return None
            same.append(found)
        inside = logic.logical(same, decisive=True)
        return logic.negation(inside) if negated else inside

    return run


def _is_null(node: tree.IsNull, ready: Ready, _types: Types) -> Quick:
    operand, negated = ready[id(node.operand)], node.negated
    return lambda leaves: None if (found := operand(leaves)) is None else logic.is_null(found, negated=negated)


def _promoted(node: Expression, to: DataType, ready: Ready, types: Types) -> Quick:
    """An operand whose values take on the wider number type of the whole."""
    operand = ready[id(node)]
    if to not in (FLOAT, DECIMAL) or types[id(node)] is to:
        return operand

    def run(leaves: Leaves) -> Vector | None:
        found = operand(leaves)
        if found is None or kind_of(found) != INTEGERS:
            return found
        return Vector(found.values.astype(np.float64), found.valid) if to is FLOAT else None

    return run


def _case(node: tree.Case, ready: Ready, types: Types) -> Quick:
    to = types[id(node)]
    conditions = [_sure(when, ready) for when, _ in node.branches]
    results = [_promoted(then, to, ready, types) for _, then in node.branches]
    default: Quick = (lambda _: NULLS) if node.default is None else _promoted(node.default, to, ready, types)

    def run(leaves: Leaves) -> Vector | None:
        parts = [found for result in (*results, default) if (found := result(leaves)) is not None]
        if len(parts) <= len(results):
            return None
        return logic.choice(leaves.size, [truth(when(leaves)) for when in conditions], parts[:-1], parts[-1])

    return run


def _call(node: tree.Call, ready: Ready, types: Types) -> Quick:
    """Functions of users, LEAST, GREATEST, COALESCE and some functions of one argument; the others go row by row."""
    if node.own is not None:
        return own_call(node, node.own, [_sure(argument, ready) for argument in node.arguments])
    call = number.function(node.function.upper())
    if call is not None and len(node.arguments) == 1:
        argument = ready[id(node.arguments[0])]
        return lambda leaves: None if (found := argument(leaves)) is None else call(found)
    if node.function.upper() in EXTREMES and node.arguments:
        return _extreme(node.function.upper(), [ready[id(argument)] for argument in node.arguments])
    if node.function.upper() != "COALESCE" or not node.arguments:
        return lambda _: None
    arguments = [_promoted(argument, types[id(node)], ready, types) for argument in node.arguments]

    def run(leaves: Leaves) -> Vector | None:
        parts = [found for argument in arguments if (found := argument(leaves)) is not None]
        if len(parts) < len(arguments):
            return None
        return logic.choice(leaves.size, [not_null(part) for part in parts], parts, NULLS)

    return run


def _extreme(name: str, arguments: Sequence[Quick]) -> Quick:
    def run(leaves: Leaves) -> Vector | None:
        parts = [found for argument in arguments if (found := argument(leaves)) is not None]
        return extreme(name, parts, leaves.size) if len(parts) == len(arguments) else None

    return run


_BUILDERS: Final[Mapping[type[Expression], _Builder]] = {
    tree.Literal: _literal,
    tree.Attribute: _leaf,
    tree.Field: _field,
    tree.Item: _item,
    tree.Header: _leaf,
    tree.Unary: _unary,
    tree.Binary: _binary,
    tree.Between: _between,
    tree.In: _in,
    tree.IsNull: _is_null,
    tree.Case: _case,
    tree.Call: _call,
}
