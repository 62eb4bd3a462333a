"""The type of an expression, and what is wrong with it.

Reading: R20, R23.  Works on resolved trees, from the leaves up and without recursion.  Every mistake is reported once,
with its place, what was expected and what came; what is wrong has the type ANY from there on, so that one mistake is
one message.

Codes: ``type-mismatch``, ``unknown-attribute``, ``unknown-function``, ``wrong-arguments``, ``bad-pattern``,
``nested-aggregate``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.expression import lattice, tree
from cedr.expression.aggregate import AGGREGATES
from cedr.expression.cast import SOURCES, castable
from cedr.expression.elsewhere import ELSEWHERE
from cedr.expression.functions import FUNCTIONS
from cedr.expression.lattice import ANY, BOOLEAN, DATE, DURATION, INTEGER, LIST, NULL, STRING, STRUCT, TIMESTAMP
from cedr.expression.render import render
from cedr.expression.signature import Function, common
from cedr.expression.text import like_pattern
from cedr.expression.tree import Expression, HeaderField
from cedr.model.schema import DataType

Report = Callable[[Diagnostic], None]

_WIDEST: Final = 40


def infer(expression: Expression, report: Report) -> DataType:
    """The type of a resolved expression; mistakes go to ``report``.

    >>> from cedr.expression.signature import literal
    >>> infer(tree.Binary("/", literal(1), literal(2)), print)
    <DataType.FLOAT: 'FLOAT'>
    """
    return infer_all(expression, report)[id(expression)]


def infer_predicate(expression: Expression, report: Report) -> DataType:
    """The same for an expression that must be true or false."""
    inference = _Inference(report)
    inference.run(expression)
    return inference.expect(expression, (BOOLEAN,), "a predicate")


def infer_all(expression: Expression, report: Report) -> dict[int, DataType]:
    """The types of an expression and of everything below it, by the identity of the node."""
    inference = _Inference(report)
    inference.run(expression)
    return inference.types


def _shown(expression: Expression, of: DataType) -> str:
    text = render(expression)
    return f'"{text}" is {of}' if len(text) <= _WIDEST else f"it is {of}"


def _listed(types: Sequence[DataType]) -> str:
    names = [str(item) for item in types]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _hint(left: DataType, right: DataType, wanted: DataType | None = None) -> str:
    """What helps when two types do not go together; ``wanted`` is the one that has to be, if either."""
    pair = {left, right}
    if pair == {DATE, TIMESTAMP}:
        return "a date is no instant: use CAST(… AS TIMESTAMP) or CAST(… AS DATE)"
    if pair == {DATE, DURATION}:
        return "add a number of days to a date, or use CAST(… AS TIMESTAMP)"
    for of in (TIMESTAMP, DATE):
        if pair == {STRING, of}:
            return f"write {of} '…' for a constant, or use CAST(… AS {of})"
    ways = {to: castable(of, to) for of, to in ((left, right), (right, left)) if of is not to}
    fitting = [to for to, possible in ways.items() if possible and wanted in (to, None)]
    return f"use CAST(… AS {min(fitting, key=lambda to: to is STRING)})" if fitting else ""


class _Inference:
    """One pass over one tree: the types found so far, by identity of the node."""

    def __init__(self, report: Report) -> None:
        self.types: dict[int, DataType] = {}
        self.report = report

    def run(self, expression: Expression) -> None:
        todo: list[tuple[Expression, bool]] = [(expression, False)]
        while todo:
            node, visited = todo.pop()
            if visited:
                self.types[id(node)] = _RULES[type(node)](self, node)
            elif id(node) not in self.types:
                todo.append((node, True))
                todo.extend((part, False) for part in reversed(list(tree.children(node))))

    def of(self, node: Expression) -> DataType:
        return self.types[id(node)]

    def fault(self, node: Expression, code: str, primary: str, detail: str = "", hint: str = "") -> DataType:
        self.report(Diagnostic(code, primary, node.span, detail=detail, hint=hint))
        return ANY

    def expect(self, node: Expression, wanted: Sequence[DataType], where: str) -> DataType:
        """The type of a part that must be one of some types."""
        found = self.of(node)
        if found in lattice.UNKNOWN or found in wanted:
            return found
        hint = "compare it with something" if wanted == (BOOLEAN,) else _hint(found, wanted[0], wanted[0])
        primary = f"{where} must be {_listed(wanted)}, this is {found}"
        return self.fault(node, "type-mismatch", primary, _shown(node, found), hint)

    def compared(self, node: Expression, left: Expression, right: Expression, sign: str) -> None:
        """Two parts that are compared; order is asked unless the sign is = or <>."""
        first, second = self.of(left), self.of(right)
        detail = f"{_shown(left, first)}, {_shown(right, second)}"
        if not lattice.comparable(first, second):
            primary = f"{first} cannot be compared with {second}"
            self.fault(node, "type-mismatch", primary, detail, _hint(first, second))
        elif sign not in ("=", "<>") and {first, second} & lattice.OPAQUE:
            opaque = first if first in lattice.OPAQUE else second
            self.fault(node, "type-mismatch", f'{opaque} has no order for "{sign}"', detail, "use = or <>")

    def unified(self, node: Expression, parts: Sequence[Expression], what: str) -> DataType:
        """The common type of some parts."""
        types = [self.of(part) for part in parts]
        result = lattice.unify(types)
        if result is not None:
            return result
        seen = list(dict.fromkeys(types))
        return self.fault(
            node,
            "type-mismatch",
            f"{what} have no type in common",
            f"they are {', '.join(map(str, seen))}",
            _hint(seen[0], seen[1]),
        )


def _literal(_: _Inference, node: tree.Literal) -> DataType:
    return NULL if node.value is None else node.type


def _name(_inference: _Inference, _node: tree.Name) -> DataType:
    return ANY


def _attribute(_: _Inference, node: tree.Attribute) -> DataType:
    return node.type


def _field(self: _Inference, node: tree.Field) -> DataType:
    found = self.of(node.operand)
    if found in lattice.UNKNOWN or (found is STRUCT and tree.shape_of(node.operand).field(node.name) is not None):
        return node.type
    if found is STRUCT:
        return _no_field(self, node)
    hint = "an element of a LIST is x[1], x[2] …" if found is LIST else "only a STRUCT has fields"
    primary = f'{found} has no field "{node.name}"'
    return self.fault(node, "type-mismatch", primary, _shown(node.operand, found), hint)


def _no_field(self: _Inference, node: tree.Field) -> DataType:
    fields = tree.shape_of(node.operand).fields or {}
    close = difflib.get_close_matches(node.name, fields, n=1)
    return self.fault(
        node,
        "unknown-attribute",
        f'the STRUCT "{render(node.operand)}" has no field "{node.name}"',
        f"it has: {', '.join(fields) or 'no fields'}",
        f"did you mean {close[0]}?" if close else "declare the field in its TYPE, or use one that exists",
    )


def _item(self: _Inference, node: tree.Item) -> DataType:
    found = self.of(node.operand)
    if found not in lattice.UNKNOWN and found is not LIST:
        hint = "a field of a STRUCT is x.name or x['name']" if found is STRUCT else "only a LIST has elements"
        return self.fault(node, "type-mismatch", f"{found} has no elements", _shown(node.operand, found), hint)
    self.expect(node.index, (INTEGER,), "the number of an element")
    if isinstance(node.index, tree.Literal) and node.index.value == 0 and node.index.type is INTEGER:
        hint = "the first element is [1], the last one is [-1]"
        return self.fault(node.index, "wrong-arguments", "a LIST has no element 0", "elements count from 1", hint)
    return node.type


def _header(_: _Inference, node: tree.Header) -> DataType:
    return STRING if node.field is HeaderField.ID else TIMESTAMP


def _unary(self: _Inference, node: tree.Unary) -> DataType:
    if node.operator == "NOT":
        self.expect(node.operand, (BOOLEAN,), "what NOT negates")
        return BOOLEAN
    found = self.expect(node.operand, (*lattice.NUMBERS, DURATION), "what a minus sign negates")
    return ANY if found is NULL else found


def _binary(self: _Inference, node: tree.Binary) -> DataType:
    sign = node.operator
    if sign in ("AND", "OR"):
        for part in (node.left, node.right):
            self.expect(part, (BOOLEAN,), f"an operand of {sign}")
        return BOOLEAN
    if sign in _COMPARISONS:
        self.compared(node, node.left, node.right, sign)
        return BOOLEAN
    return _arithmetic(self, node, self.of(node.left), self.of(node.right))


_COMPARISONS: Final = ("=", "<>", "<", "<=", ">", ">=")


def _arithmetic(self: _Inference, node: tree.Binary, left: DataType, right: DataType) -> DataType:
    sign = node.operator
    result = lattice.arithmetic(sign, left, right)
    if result is not None:
        return result
    detail = f"{_shown(node.left, left)}, {_shown(node.right, right)}"
    fitting = lattice.partners(sign, left)
    if fitting:
        detail += f"; {left} {sign} takes {_listed(fitting)}"
    textual = STRING in (left, right) and sign == "+"
    hint = "texts are joined with ||" if textual else _hint(left, right)
    return self.fault(node, "type-mismatch", f'operator "{sign}" does not take {left} and {right}', detail, hint)


def _between(self: _Inference, node: tree.Between) -> DataType:
    self.compared(node.low, node.operand, node.low, ">=")
    self.compared(node.high, node.operand, node.high, "<=")
    return BOOLEAN


def _in(self: _Inference, node: tree.In) -> DataType:
    for item in node.items:
        self.compared(item, node.operand, item, "=")
    return BOOLEAN


def _like(self: _Inference, node: tree.Like) -> DataType:
    self.expect(node.operand, (STRING,), "what LIKE looks at")
    self.expect(node.pattern, (STRING,), "the pattern of LIKE")
    pattern = node.pattern.value if isinstance(node.pattern, tree.Literal) else None
    if isinstance(pattern, str) and like_pattern(pattern) is None:
        hint = r"write \\ for a backslash itself"
        self.fault(node.pattern, "bad-pattern", "the pattern ends in the middle of an escape", "", hint)
    return BOOLEAN


def _is_null(_self: _Inference, _node: tree.IsNull) -> DataType:
    return BOOLEAN


def _case(self: _Inference, node: tree.Case) -> DataType:
    for condition, _ in node.branches:
        self.expect(condition, (BOOLEAN,), "a condition of CASE")
    results = [result for _, result in node.branches]
    results += [] if node.default is None else [node.default]
    return self.unified(node, results, "the branches of CASE")


def _cast(self: _Inference, node: tree.Cast) -> DataType:
    source = self.of(node.operand)
    if not castable(source, node.type):
        allowed = sorted(str(item) for item in SOURCES[node.type] - lattice.UNKNOWN)
        detail = f"{_shown(node.operand, source)}; to {node.type} can be cast: {', '.join(allowed)}"
        self.fault(node, "type-mismatch", f"{source} cannot be cast to {node.type}", detail)
    return node.type


def _call(self: _Inference, node: tree.Call) -> DataType:
    function = FUNCTIONS.get(node.function.upper()) if node.own is None else node.own.definition.signature
    if function is None:
        return _unknown(self, node, node.function)
    if not function.takes(len(node.arguments)):
        given = f"{len(node.arguments)} argument{'' if len(node.arguments) == 1 else 's'}"
        return self.fault(node, "wrong-arguments", f"{function.name} does not take {given}", f"it is {function.form}")
    return _checked(self, node, function)


def _checked(self: _Inference, node: tree.Call, function: Function) -> DataType:
    types = []
    for place, argument in enumerate(node.arguments):
        parameter = function.parameter(place)
        where = f'argument "{parameter.name}" of {function.name}'
        types.append(self.expect(argument, parameter.types, where) if parameter.types else self.of(argument))
    if function.check is not None and (fault := function.check(node)) is not None:
        self.fault(node, fault[0], fault[1], fault[2])
    if function.result is common:
        return _chosen(self, node)
    if function.name == "NULLIF":
        self.compared(node, node.arguments[0], node.arguments[1], "=")
    return function.result(node, types) or ANY


def _chosen(self: _Inference, node: tree.Call) -> DataType:
    """COALESCE, LEAST, GREATEST: one type for all; the last two ask for an order."""
    result = self.unified(node, node.arguments, f"the arguments of {node.function}")
    if result in lattice.OPAQUE and node.function != "COALESCE":
        return self.fault(node, "type-mismatch", f"{result} has no order for {node.function}")
    return result


def _unknown(self: _Inference, node: Expression, name: str) -> DataType:
    instead = ELSEWHERE.get(name.upper())
    if instead:
        return self.fault(node, "unknown-function", f'there is no function "{name}"', "", instead)
    known = [*FUNCTIONS, *AGGREGATES]
    close = difflib.get_close_matches(name.upper(), known, n=3)
    detail = f"close: {', '.join(close)}" if close else f"functions are: {', '.join(sorted(FUNCTIONS))}"
    hint = f"did you mean {close[0]}?" if close else ""
    return self.fault(node, "unknown-function", f'there is no function "{name}"', detail, hint)


def _is_share(parameter: Expression | None) -> bool:
    """Whether a parameter is a constant share, as QUANTILE wants one.  Reading: R45."""
    if not isinstance(parameter, tree.Literal) or parameter.type not in lattice.NUMBERS:
        return False
    return isinstance(parameter.value, int | float | Decimal) and 0 <= parameter.value <= 1


def _aggregate(self: _Inference, node: tree.Aggregate) -> DataType:
    function = AGGREGATES.get(node.function.upper()) if node.own is None else node.own.definition.signature
    if function is None:
        return _unknown(self, node, node.function)
    for argument in node.arguments:
        for inner in tree.aggregates(argument):
            return self.fault(inner, "nested-aggregate", f"{inner.function} cannot stand inside {node.function}")
    if node.star:
        wrong = function.name != "COUNT" or node.distinct
        return self.fault(node, "wrong-arguments", "only COUNT(*) takes a star") if wrong else INTEGER
    if not node.arguments:
        takes = f"{function.parameter} and at least one argument" if function.parameter else "at least one argument"
        return self.fault(node, "wrong-arguments", f"{function.name} takes {takes}")
    if function.parameter and not _is_share(node.parameter):
        primary = f"the first argument of {function.name} must be a number from 0 to 1"
        return self.fault(node.parameter or node, "wrong-arguments", primary, "", f"write {function.name}(0.9, price)")
    of = self.unified(node, node.arguments, f"the arguments of {function.name}") if function.name != "COUNT" else ANY
    result = function.result(of)
    if result is None:
        primary = f"{function.name} does not take {of}"
        return self.fault(node, "type-mismatch", primary, f"it takes {function.expects}")
    return result


_RULES: Final[Mapping[type[Expression], Callable[[_Inference, Any], DataType]]] = {
    tree.Literal: _literal,
    tree.Name: _name,
    tree.Attribute: _attribute,
    tree.Field: _field,
    tree.Item: _item,
    tree.Header: _header,
    tree.Unary: _unary,
    tree.Binary: _binary,
    tree.Between: _between,
    tree.In: _in,
    tree.Like: _like,
    tree.IsNull: _is_null,
    tree.Case: _case,
    tree.Cast: _cast,
    tree.Call: _call,
    tree.Aggregate: _aggregate,
}
