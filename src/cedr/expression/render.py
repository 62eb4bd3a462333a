"""Expressions as text that parses back to the same tree, with no more parentheses than it takes.

Reading: R20.  Names are quoted where they are no plain identifiers or are reserved words.  A minus sign in front of a
number or duration belongs to that literal; in front of anything else it is an operator, so the negation of a literal is
``-(5)``.
Some literals have no form of their own and come as something that has the same value: a DECIMAL and a TIMESTAMP outside
of the years 1 to 9999 as a cast; a LIST or STRUCT, which the language cannot write, as Python shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Final

from cedr.expression import tree
from cedr.expression.calendar import moment
from cedr.expression.chain import spine
from cedr.expression.tree import Expression
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, FOREVER, MILLISECOND, format_duration, format_timestamp

RESERVED: Final = frozenset(
    "EVENT WHEN WHERE OUTPUT FROM WINDOW GROUP BY HAVING CONSISTENCY AND OR NOT IN LIKE BETWEEN IS NULL TRUE FALSE "  # noqa: SIM905 - a list of words reads best as words
    "CASE THEN ELSE END CAST AS ON JOIN LEFT ANTI UNION EXCEPT DISTINCT DIV EACH FIRST LAST REUSE CONSUME WEIGHT "
    "DISJOINT VALID SEQUENCE ALL ANY ATLEAST ATMOST UNLESS CANCEL FOREVER TIMESTAMP DATE EXTRACT".split()
)
"""Words that are no names unless quoted, in upper case."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*")

_OR, _AND, _NOT, _COMPARISON, _CONCAT, _SUM, _PRODUCT, _UNARY, _ATOM = range(9)
_LEVELS: Final[Mapping[str, int]] = {
    "OR": _OR,
    "AND": _AND,
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _COMPARISON),
    "||": _CONCAT,
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "%", "DIV"), _PRODUCT),
}
_SAME: Final[Mapping[int, frozenset[str]]] = {
    level: frozenset(sign for sign, its in _LEVELS.items() if its == level and level != _COMPARISON)
    for level in set(_LEVELS.values())
}

Ready = Mapping[int, tuple[str, int]]


def quote_name(name: str) -> str:
    """A name as the language reads it: in double quotes where it must be.

    >>> quote_name("Machine_Id"), quote_name("größe"), quote_name("first"), quote_name('a "b" c')
    ('Machine_Id', 'größe', '"first"', '"a ""b"" c"')
    """
    if _IDENTIFIER.fullmatch(name) and name.upper() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text in single quotes.

    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def render(expression: Expression) -> str:
    """The expression as text.

    >>> total = tree.Binary("+", tree.Name(("x", "a")), tree.Literal(1, DataType.INTEGER))
    >>> render(tree.Binary("*", total, tree.Literal(2, DataType.INTEGER)))
    '(x.a + 1) * 2'
    """
    ready: dict[int, tuple[str, int]] = {}
    todo: list[tuple[Expression, bool]] = [(expression, False)]
    while todo:
        node, visited = todo.pop()
        if visited:
            ready[id(node)] = _WRITERS[type(node)](node, ready)
        elif id(node) not in ready:
            todo.append((node, True))
            todo.extend((part, False) for part in _parts(node))
    return ready[id(expression)][0]


def _parts(node: Expression) -> Iterator[Expression]:
    if isinstance(node, tree.Binary):
        yield from spine(node, _SAME[_LEVELS[node.operator]]).operands
    else:
        yield from tree.children(node)


def _at(level: int, node: Expression, ready: Ready) -> str:
    """A part that must bind at least as tightly as a level."""
    text, its = ready[id(node)]
    return text if its >= level else f"({text})"


def _listed(nodes: tuple[Expression, ...], ready: Ready) -> str:
    return ", ".join(ready[id(node)][0] for node in nodes)


def _literal(node: tree.Literal, _ready: Ready) -> tuple[str, int]:
    if node.value is None:
        return "NULL", _ATOM
    write = _LITERALS.get(node.type, _by_value)
    text = write(node.value)
    return text, _UNARY if text.startswith("-") else _ATOM


def _by_value(value: Any) -> str:
    """A literal of a type that has no form of its own."""
    if isinstance(value, bool):
        return str(value).upper()
    for base, of in ((int, DataType.INTEGER), (str, DataType.STRING), (bytes, DataType.BINARY), (date, DataType.DATE)):
        if isinstance(value, base):
            return _LITERALS[of](value)
    return repr(value)


def _timestamp(ticks: int) -> str:
    if ticks == FOREVER:
        return "FOREVER"
    if moment(ticks) is None:
        return f"CAST({ticks} AS TIMESTAMP)"
    return f"TIMESTAMP '{format_timestamp(ticks)}'"


def _duration(ticks: int) -> str:
    """With a unit always: a bare number would be an INTEGER."""
    if ticks == BEGINNING:  # its opposite, which stands behind the minus, is no duration
        return f"CAST({ticks} AS DURATION)"
    text = format_duration(ticks)
    if " " in text:
        return text
    whole, part = divmod(abs(ticks), MILLISECOND)
    fraction = f".{part:03}".rstrip("0") if part else ""
    return f"{'-' if ticks < 0 else ''}{whole}{fraction} ms"


_LITERALS: Final[Mapping[DataType, Callable[[Any], str]]] = {
    DataType.INTEGER: str,
    DataType.FLOAT: lambda value: repr(float(value)),
    DataType.DECIMAL: lambda value: f"CAST('{value}' AS DECIMAL)",
    DataType.STRING: quote_text,
    DataType.BOOLEAN: lambda value: "TRUE" if value else "FALSE",
    DataType.TIMESTAMP: _timestamp,
    DataType.DURATION: _duration,
    DataType.DATE: lambda value: f"DATE '{value.isoformat()}'",
    DataType.BINARY: lambda value: f"X'{value.hex()}'",
}


def _name(node: tree.Name, _ready: Ready) -> tuple[str, int]:
    return ".".join(map(quote_name, node.parts)), _ATOM


def _attribute(node: tree.Attribute, _ready: Ready) -> tuple[str, int]:
    return _of_variable(node.variable, node.name), _ATOM


def _field(node: tree.Field, ready: Ready) -> tuple[str, int]:
    """With a dot; behind a bare name in brackets, where a dot would make one name of the two."""
    operand = _inside(node.operand, ready)
    dotted = not isinstance(node.operand, tree.Name)
    return f"{operand}.{quote_name(node.name)}" if dotted else f"{operand}[{quote_text(node.name)}]", _ATOM


def _item(node: tree.Item, ready: Ready) -> tuple[str, int]:
    index = ready[id(node.index)][0]
    texts = isinstance(node.index, tree.Literal) and node.index.type is DataType.STRING
    return f"{_inside(node.operand, ready)}[{f'({index})' if texts else index}]", _ATOM


def _inside(node: Expression, ready: Ready) -> str:
    """What a field or an element is taken from; the word in front of a dot is always a name."""
    return f"({ready[id(node)][0]})" if isinstance(node, tree.Literal | tree.Case) else _at(_ATOM, node, ready)


def _header(node: tree.Header, _ready: Ready) -> tuple[str, int]:
    return _of_variable(node.variable, node.field.value), _ATOM


def _of_variable(variable: str, name: str) -> str:
    return f"{quote_name(variable)}.{quote_name(name)}" if variable else quote_name(name)


def _unary(node: tree.Unary, ready: Ready) -> tuple[str, int]:
    if node.operator == "NOT":
        return f"NOT {_at(_NOT, node.operand, ready)}", _NOT
    text = _at(_UNARY, node.operand, ready)
    wrapped = f"({text})" if text.startswith("-") or _numeral(node.operand) else text
    return f"-{wrapped}", _UNARY


def _numeral(node: Expression) -> bool:
    """A literal that a minus sign would become part of; two minus signs would begin a comment."""
    of = (DataType.INTEGER, DataType.FLOAT, DataType.DURATION, DataType.ANY)
    return isinstance(node, tree.Literal) and node.type in of


def _binary(node: tree.Binary, ready: Ready) -> tuple[str, int]:
    level = _LEVELS[node.operator]
    chain = spine(node, _SAME[level])
    tight = _PRODUCT if level == _CONCAT else level + 1  # a || (b + c): nobody should have to know which goes first
    first = _at(tight if level in (_COMPARISON, _CONCAT) else level, chain.first, ready)
    rest = (f" {link.operator} {_at(tight, link.right, ready)}" for link in chain.links)
    return first + "".join(rest), level


def _between(node: tree.Between, ready: Ready) -> tuple[str, int]:
    operand, low, high = (_at(_CONCAT, part, ready) for part in (node.operand, node.low, node.high))
    return f"{operand}{_not(node.negated)} BETWEEN {low} AND {high}", _COMPARISON


def _in(node: tree.In, ready: Ready) -> tuple[str, int]:
    return f"{_at(_CONCAT, node.operand, ready)}{_not(node.negated)} IN ({_listed(node.items, ready)})", _COMPARISON


def _like(node: tree.Like, ready: Ready) -> tuple[str, int]:
    operand, pattern = _at(_CONCAT, node.operand, ready), _at(_CONCAT, node.pattern, ready)
    return f"{operand}{_not(node.negated)} LIKE {pattern}", _COMPARISON


def _is_null(node: tree.IsNull, ready: Ready) -> tuple[str, int]:
    return f"{_at(_CONCAT, node.operand, ready)} IS{_not(node.negated)} NULL", _COMPARISON


def _not(negated: bool) -> str:  # noqa: FBT001 - a word or none
    return " NOT" if negated else ""


def _case(node: tree.Case, ready: Ready) -> tuple[str, int]:
    branches = "".join(f" WHEN {ready[id(when)][0]} THEN {ready[id(then)][0]}" for when, then in node.branches)
    default = "" if node.default is None else f" ELSE {ready[id(node.default)][0]}"
    return f"CASE{branches}{default} END", _ATOM


def _cast(node: tree.Cast, ready: Ready) -> tuple[str, int]:
    return f"CAST({ready[id(node.operand)][0]} AS {node.type})", _ATOM


def _call(node: tree.Call, ready: Ready) -> tuple[str, int]:
    first = node.arguments[0] if node.arguments else None
    if node.function == "EXTRACT" and len(node.arguments) == 2 and isinstance(first, tree.Literal):
        return f"EXTRACT({quote_name(str(first.value))} FROM {ready[id(node.arguments[1])][0]})", _ATOM
    return f"{node.function}({_listed(node.arguments, ready)})", _ATOM


def _aggregate(node: tree.Aggregate, ready: Ready) -> tuple[str, int]:
    distinct = "DISTINCT " if node.distinct else ""
    given = node.arguments if node.parameter is None else (node.parameter, *node.arguments)
    return f"{node.function}({distinct}{'*' if node.star else _listed(given, ready)})", _ATOM


_WRITERS: Final[Mapping[type[Expression], Callable[[Any, Ready], tuple[str, int]]]] = {
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
