"""The value of an expression under SQL's three-valued logic.

Reading: R20, R23.  An environment says which event each variable stands for; a variable that is not bound, like an
attribute that an event does not have, is NULL.  ``compile_expression`` turns a tree into nested closures once; types
are inferred then, so that ticks of time and plain integers are told apart.  Nothing raises on data: what has no answer
is NULL.

Chains of AND, of OR and of arithmetic run in a loop, so that their length has no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from cedr.expression import arithmetic, tree
from cedr.expression.aggregate import AGGREGATES, aggregate_of
from cedr.expression.cast import caster
from cedr.expression.chain import logical_operands, spine
from cedr.expression.functions import FUNCTIONS
from cedr.expression.lattice import DECIMAL, DURATION, FLOAT
from cedr.expression.own import OwnFailure
from cedr.expression.owned import Owned
from cedr.expression.signature import common
from cedr.expression.text import like
from cedr.expression.tree import Expression, HeaderField
from cedr.expression.typing import infer_all
from cedr.expression.values import COMPARISONS, KINDS, equal, kind, negation, plain
from cedr.model.event import Event, Payload, Value
from cedr.model.schema import DataType

Environment = Mapping[str, Event]
Evaluator = Callable[[Environment], Value]

HEADER_NAMES: Final[Mapping[HeaderField, str]] = {
    HeaderField.ID: "id",
    HeaderField.VS: "valid_start",
    HeaderField.VE: "valid_end",
    HeaderField.OS: "occurrence_start",
    HeaderField.OE: "occurrence_end",
    HeaderField.RT: "root_time",
}
"""The attribute of ``Event`` for each header field."""

_CACHED: dict[int, tuple[Expression, Evaluator]] = {}
_CACHE_SIZE: Final = 1024


def evaluate(expression: Expression, environment: Environment) -> Value:
    """The value of an expression for the events that its variables stand for.  Reading: R20."""
    known = _CACHED.get(id(expression))
    if known is None:
        if len(_CACHED) >= _CACHE_SIZE:
            _CACHED.clear()
        known = _CACHED[id(expression)] = (expression, compile_expression(expression))  # held, so the id stays its own
    return known[1](environment)


def holds(predicate: Expression, environment: Environment) -> bool:
    """Whether a predicate is true; neither false nor unknown passes.  Reading: R20."""
    return evaluate(predicate, environment) is True


def compile_expression(expression: Expression) -> Evaluator:
    """The expression as a function of the environment, for evaluating it many times."""
    types = infer_all(expression, lambda _: None)
    ready: dict[int, Evaluator] = {}
    todo: list[tuple[Expression, bool]] = [(expression, False)]
    while todo:
        node, visited = todo.pop()
        if visited:
            ready[id(node)] = _BUILDERS[type(node)](node, ready, types)
        elif id(node) not in ready:
            todo.append((node, True))
            todo.extend((part, False) for part in _operands(node))
    return ready[id(expression)]


def _operands(node: Expression) -> Iterator[Expression]:
    if isinstance(node, tree.Binary):
        yield from logical_operands(node) if node.operator in ("AND", "OR") else spine(node).operands
    else:
        yield from tree.children(node)


Ready = Mapping[int, Evaluator]
Types = Mapping[int, DataType]


def _literal(node: tree.Literal, _ready: Ready, _types: Types) -> Evaluator:
    value = plain(node.value)
    return lambda _: value


def _name(_node: tree.Name, _ready: Ready, _types: Types) -> Evaluator:
    return lambda _: None


def _attribute(node: tree.Attribute, _ready: Ready, _types: Types) -> Evaluator:
    variable, name = node.variable, node.name

    def read(environment: Environment) -> Value:
        event = environment.get(variable)
        return None if event is None else plain(event.payload.get(name))

    return read


def _field(node: tree.Field, ready: Ready, _types: Types) -> Evaluator:
    operand, name = ready[id(node.operand)], node.name

    def read(environment: Environment) -> Value:
        value = operand(environment)
        return plain(value.get(name)) if isinstance(value, Payload) else None

    return read


def _item(node: tree.Item, ready: Ready, _types: Types) -> Evaluator:
    operand, index = ready[id(node.operand)], ready[id(node.index)]

    def read(environment: Environment) -> Value:
        values, number = operand(environment), index(environment)
        if not isinstance(values, tuple) or type(number) is not int or not number:
            return None
        place = number - 1 if number > 0 else len(values) + number
        return plain(values[place]) if 0 <= place < len(values) else None

    return read


def _header(node: tree.Header, _ready: Ready, _types: Types) -> Evaluator:
    variable, name = node.variable, HEADER_NAMES[node.field]

    def read(environment: Environment) -> Value:
        event = environment.get(variable)
        return None if event is None else getattr(event, name)

    return read


def _unary(node: tree.Unary, ready: Ready, types: Types) -> Evaluator:
    operand = ready[id(node.operand)]
    if node.operator == "NOT":
        return lambda environment: negation(operand(environment))
    timed = types[id(node.operand)] is DURATION
    change = arithmetic.negative_time if timed else arithmetic.negative
    return lambda environment: change(operand(environment))


def _binary(node: tree.Binary, ready: Ready, types: Types) -> Evaluator:
    if node.operator in ("AND", "OR"):
        return _logical([ready[id(part)] for part in logical_operands(node)], decisive=node.operator == "OR")
    chain = spine(node)
    steps = [(_step(link, types), ready[id(link.right)]) for link in chain.links]
    first = ready[id(chain.first)]
    return _single(first, *steps[0]) if len(steps) == 1 else _loop(first, steps)


def _step(node: tree.Binary, types: Types) -> arithmetic.Operation:
    return arithmetic.binary_operation(node.operator, types[id(node.left)], types[id(node.right)])


def _single(left: Evaluator, operation: arithmetic.Operation, right: Evaluator) -> Evaluator:
    return lambda environment: operation(left(environment), right(environment))


def _loop(first: Evaluator, steps: Sequence[tuple[arithmetic.Operation, Evaluator]]) -> Evaluator:
    def run(environment: Environment) -> Value:
        value = first(environment)
        for operation, right in steps:
            value = operation(value, right(environment))
        return value

    return run


def _logical(operands: Sequence[Evaluator], *, decisive: bool) -> Evaluator:
    """AND (decided by a false) or OR (decided by a true): the rest is not looked at."""

    def run(environment: Environment) -> Value:
        result: Value = not decisive
        for operand in operands:
            value = operand(environment)
            if value is decisive:
                return decisive
            if not isinstance(value, bool):
                result = None
        return result

    return run


def _between(node: tree.Between, ready: Ready, _types: Types) -> Evaluator:
    operand, low, high = (ready[id(part)] for part in (node.operand, node.low, node.high))
    not_below, not_above, negated = COMPARISONS[">="], COMPARISONS["<="], node.negated

    def run(environment: Environment) -> Value:
        value = operand(environment)
        both = (not_below(value, low(environment)), not_above(value, high(environment)))
        inside = False if False in both else None if None in both else True
        return negation(inside) if negated else inside

    return run


def _in(node: tree.In, ready: Ready, _types: Types) -> Evaluator:
    if node.items and all(isinstance(item, tree.Literal) and kind(item.value) in _HASHED for item in node.items):
        return _in_constants(node, ready)
    operand, items, negated = ready[id(node.operand)], [ready[id(item)] for item in node.items], node.negated

    def run(environment: Environment) -> Value:
        value = operand(environment)
        found: Value = False
        for item in items:
            same = equal(value, item(environment))
            if same:
                return not negated
            found = None if same is None else found
        return negation(found) if negated else found

    return run


_HASHED: Final = frozenset(KINDS.values()) - {"list", "struct"}


def _in_constants(node: tree.In, ready: Ready) -> Evaluator:
    """IN over constants that are not NULL: by looking up instead of searching."""
    operand, negated = ready[id(node.operand)], node.negated
    values: list[Any] = [plain(item.value) for item in node.items if isinstance(item, tree.Literal)]
    known = frozenset((kind(value), value) for value in values)
    kinds = frozenset(kind(value) for value in values)

    def run(environment: Environment) -> Value:
        value = operand(environment)
        if value is None or kind(value) not in kinds:
            return None
        if (kind(value), value) in known:
            return not negated
        return negated if len(kinds) == 1 else None

    return run


def _like(node: tree.Like, ready: Ready, _types: Types) -> Evaluator:
    operand, pattern, negated = ready[id(node.operand)], ready[id(node.pattern)], node.negated

    def run(environment: Environment) -> Value:
        found = like(operand(environment), pattern(environment))
        return negation(found) if negated else found

    return run


def _is_null(node: tree.IsNull, ready: Ready, _types: Types) -> Evaluator:
    operand, negated = ready[id(node.operand)], node.negated
    return lambda environment: (operand(environment) is None) is not negated


def _promoted(node: Expression, to: DataType, ready: Ready, types: Types) -> Evaluator:
    """An operand whose value takes on the wider number type of the whole."""
    operand = ready[id(node)]
    if to not in (FLOAT, DECIMAL) or types[id(node)] is to:
        return operand
    wider = float if to is FLOAT else Decimal

    def run(environment: Environment) -> Value:
        value = operand(environment)
        return wider(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value

    return run


def _case(node: tree.Case, ready: Ready, types: Types) -> Evaluator:
    to = types[id(node)]
    branches = [(ready[id(when)], _promoted(then, to, ready, types)) for when, then in node.branches]
    default = None if node.default is None else _promoted(node.default, to, ready, types)

    def run(environment: Environment) -> Value:
        for condition, result in branches:
            if condition(environment) is True:
                return result(environment)
        return None if default is None else default(environment)

    return run


def _cast(node: tree.Cast, ready: Ready, types: Types) -> Evaluator:
    operand, change = ready[id(node.operand)], caster(types[id(node.operand)], node.type)
    return lambda environment: change(operand(environment))


def _own_call(own: Owned, node: tree.Call, ready: Ready) -> Evaluator:
    """A function that a user defined: what it does wrong is an error that names function, query and event."""
    arguments, definition = [ready[id(argument)] for argument in node.arguments], own.definition
    parameters = definition.signature.parameters
    names = sorted(tree.variables(node))

    def run(environment: Environment) -> Value:
        values = [plain(argument(environment)) for argument in arguments]
        if any(v is None or not p.takes(v) for v, p in zip(values, parameters, strict=True)):
            return None
        try:
            found: Value = definition.apply([[value] for value in values])[0]
        except OwnFailure as failure:
            raise failure.error(own.query, event_among(environment, names)) from failure.__cause__
        return found

    return run


def event_among(environment: Environment, names: Iterable[str]) -> str:
    """The first of some variables that stands for an event, as an error names it."""
    for name in names:
        found = getattr(environment.get(name), "id", None)
        if found is not None:
            return f"the event {found}" + (f" ({name})" if name else "")
    return ""


def _call(node: tree.Call, ready: Ready, types: Types) -> Evaluator:
    if node.own is not None:
        return _own_call(node.own, node, ready)
    function = FUNCTIONS.get(node.function.upper())
    if function is None or not function.takes(len(node.arguments)):
        return lambda _: None
    to = types[id(node)] if function.result is common else DataType.ANY
    arguments = [_promoted(argument, to, ready, types) for argument in node.arguments]
    call = function.call
    return lambda environment: call([argument(environment) for argument in arguments])


def _aggregate(node: tree.Aggregate, ready: Ready, _types: Types) -> Evaluator:
    found = AGGREGATES.get(node.function.upper()) if node.own is None else node.own.definition.signature
    if found is None:
        return lambda _: None
    arguments, starts = ([ready[id(part)] for part in parts] for parts in (node.arguments, node.starts))
    names = sorted(tree.variables(node))

    def run(environment: Environment) -> Value:
        values = [argument(environment) for argument in arguments]
        begun = [start(environment) for start in starts]
        return aggregated(node, values, begun, lambda: event_among(environment, names))

    return run


def aggregated(
    node: tree.Aggregate, values: Iterable[Value], starts: Iterable[Value], event: Callable[[], str]
) -> Value:
    """The value of a call for the values of its rows; ``event`` says where, should a user's definition fail."""
    own = node.own
    known = AGGREGATES[node.function.upper()] if own is None else own.definition.signature
    try:
        return aggregate_of(known, values, node.distinct, parameter=parameter_of(node), starts=starts)
    except OwnFailure as failure:
        raise failure.error("" if own is None else own.query, event()) from failure.__cause__


def parameter_of(node: tree.Aggregate) -> Value:
    """The value of the constant that an aggregate takes."""
    return node.parameter.value if isinstance(node.parameter, tree.Literal) else None


_BUILDERS: Final[Mapping[type[Expression], Callable[[Any, Ready, Types], Evaluator]]] = {
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
