"""Operators in words: the name, the arguments and the one line by which a plan shows them.

``plan_text`` is the short form of a plan, for golden files and for the eye; ``explain`` adds the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cedr.expression.render import quote_name
from cedr.expression.render import render as render_exactly
from cedr.expression.tree import Expression, Literal, transform
from cedr.model.modes import Selection
from cedr.model.schema import DataType
from cedr.model.time import FOREVER, MILLISECOND, Time, format_duration, format_time
from cedr.plan import logical
from cedr.plan.logical import Node, Parameter

WORDS: dict[type[Node], str] = {
    logical.Source: "TYPE",
    logical.Made: "TYPE",
    logical.Query: "EVENT",
    logical.Rename: "AS",
    logical.Sequence: "SEQUENCE",
    logical.AtLeast: "ATLEAST",
    logical.All: "ALL",
    logical.Any: "ANY",
    logical.AtMost: "ATMOST",
    logical.SlidingCount: "SLIDING COUNT",
    logical.Unless: "UNLESS",
    logical.UnlessNth: "UNLESS'",
    logical.Not: "NOT",
    logical.CancelWhen: "CANCEL-WHEN",
    logical.SetValid: "VALID",
    logical.Project: "OUTPUT",
    logical.Select: "WHERE",
    logical.Join: "JOIN",
    logical.Union: "UNION",
    logical.Difference: "EXCEPT",
    logical.Distinct: "DISTINCT",
    logical.GroupBy: "GROUP BY",
    logical.AlterLifetime: "LIFETIME",
    logical.Session: "SESSION",
    logical.Coalesce: "COALESCED",
    logical.Slice: "SLICE",
}
"""What the language calls each operator."""


def word(node: Node) -> str:
    """What the language calls the operator."""
    return node.kind.value if isinstance(node, logical.Join) else WORDS[type(node)]


def render(expression: Expression) -> str:
    """An expression as text, with durations as one would write them: in units, as ticks, or FOREVER."""
    return render_exactly(transform(expression, _plain_duration))


def _plain_duration(expression: Expression) -> Expression | None:
    if not isinstance(expression, Literal) or not isinstance(expression.value, int):
        return None
    if expression.type is not DataType.DURATION or expression.value % MILLISECOND == 0 != expression.value:
        return None
    return Literal(expression.value, DataType.TIMESTAMP if expression.value == FOREVER else DataType.INTEGER)


Argument = str | int | list[str]


def arguments(node: Node) -> dict[str, Argument]:
    """The operator's arguments by name, expressions as text, durations in ticks."""
    return {name: value for name, value in _arguments(node) if value not in ("", [])}


def _arguments(node: Node) -> Iterator[tuple[str, Argument]]:
    match node:
        case logical.Source():
            yield "type", node.type.name
        case logical.Query():
            yield "name", node.name
        case logical.Rename():
            yield "variable", node.variable
        case logical.Pattern():
            yield from _of_pattern(node)
        case logical.SetValid():
            yield "valid", node.valid.value
        case logical.Project():
            yield "columns", [f"{render(c.expression)} AS {quote_name(c.name)}" for c in node.columns]
        case logical.Select() | logical.Join():
            yield "predicate", render(node.predicate)
        case logical.GroupBy():
            yield "keys", [f"{render(c.expression)} AS {quote_name(c.name)}" for c in node.keys]
            yield "aggregates", [f"{render(c.aggregate)} AS {quote_name(c.name)}" for c in node.aggregates]
        case logical.AlterLifetime():
            yield from (("window", node.window), ("start", render(node.start)), ("duration", render(node.duration)))
        case logical.Session():
            yield from (("gap", node.gap), ("keys", _texts(node.keys)))
        case logical.Slice():
            yield from (("occurrence", _slice(node.occurrence)), ("valid", _slice(node.valid)))
            yield "as_of", "" if node.as_of is None else format_time(node.as_of)


def _of_pattern(node: logical.Pattern) -> Iterator[tuple[str, Argument]]:
    for name in ("count", "contributor", "scope"):
        if hasattr(node, name):
            yield name, getattr(node, name)
    if isinstance(node, logical.TYING) and node.ties:
        yield "with", "TIES"
    if isinstance(node, logical.CancelWhen) and node.from_root:
        yield "from", "ROOT"
    yield "parameters", [mode for p in logical.parameters(node) if (mode := modes(p)) is not None]
    if isinstance(node, logical.AtMost | logical.SlidingCount):
        yield "keys", [", ".join(_texts(keys)) for keys in node.keys]
    yield "predicates", _texts(node.predicates)
    if node.disjoint is not None:
        yield "disjoint", ", ".join(_texts(node.disjoint.keys)) or "over the whole stream"


def _texts(expressions: Iterable[Expression]) -> list[str]:
    return [render(expression) for expression in expressions]


def _slice(bounds: tuple[Time, Time] | None) -> str:
    return "" if bounds is None else f"[{format_time(bounds[0])}, {format_time(bounds[1])}]"


def modes(parameter: Parameter) -> str | None:
    """The SC mode and weight of a parameter, where they are not the default; … stands for the parameter itself."""
    selection = "" if parameter.selection is Selection.EACH else f"{parameter.selection.value} "
    consume = " CONSUME" if parameter.consume else ""
    weight = f" WEIGHT {parameter.weight}" if parameter.weight != 1 else ""
    return f"{selection}…{consume}{weight}" if selection or consume or weight else None


_NAMED = (logical.Source, logical.Query)
"""What is shown on one line with its variable."""


# -- one line ---------------------------------------------------------------------------------------------------------


def line(node: Node) -> str:
    """The operator with its arguments, close to what the language writes."""
    match node:
        case logical.Source():
            return quote_name(node.type.name)
        case logical.Rename() if isinstance(node.input, _NAMED):
            return f"{line(node.input)} AS {quote_name(node.variable)}"
        case logical.Rename():
            return f"AS {quote_name(node.variable)}"
        case logical.Query():
            return f"EVENT {quote_name(node.name)}"
        case logical.Pattern():
            return _pattern_line(node)
        case logical.Select():
            return f"WHERE {render(node.predicate)}"
        case logical.Join():
            return f"{node.kind.value} ON {render(node.predicate)}"
        case logical.AlterLifetime():
            name = f" ({node.window})" if node.window and node.window != "LIFETIME" else ""
            return f"LIFETIME {render(node.start)}, {render(node.duration)}{name}"
        case _:
            return " ".join([word(node), *_values(node)])


def _values(node: Node) -> list[str]:
    match node:
        case logical.GroupBy():
            given = arguments(node)
            return [", ".join(_listed(given, "keys")) or "()", *_prefixed("OUTPUT", _listed(given, "aggregates"))]
        case logical.Session():
            return [format_duration(node.gap), *_prefixed("BY", _texts(node.keys))]
        case logical.Slice():
            signs = (("@", _slice(node.occurrence)), ("#", _slice(node.valid)))
            slices = [f"{sign} {text}" for sign, text in signs if text]
            return slices if node.as_of is None else [*slices, f"AS OF {format_time(node.as_of)}"]
        case _:
            return [", ".join(v) if isinstance(v, list) else str(v) for v in arguments(node).values()]


def _listed(given: dict[str, Argument], name: str) -> list[str]:
    found = given.get(name, [])
    return found if isinstance(found, list) else [str(found)]


def _prefixed(prefix: str, texts: list[str]) -> list[str]:
    return [f"{prefix} {', '.join(texts)}"] if texts else []


def _pattern_line(node: logical.Pattern) -> str:
    parts = [word(node)]
    parts += [str(getattr(node, name)) for name in ("count", "contributor") if hasattr(node, name)]
    if hasattr(node, "scope"):
        parts.append(f"WITHIN {format_duration(node.scope)}")
    if isinstance(node, logical.TYING) and node.ties:
        parts.append("WITH TIES")
    if isinstance(node, logical.CancelWhen) and node.from_root:
        parts.append("FROM ROOT")
    if isinstance(node, logical.AtMost | logical.SlidingCount) and any(node.keys):
        parts.append(f"BY {'; '.join(', '.join(_texts(keys)) for keys in node.keys)}")
    parts += [f"WHERE {' AND '.join(f'{{{text}}}' for text in _texts(node.predicates))}"] if node.predicates else []
    if node.disjoint is not None:
        parts += ["DISJOINT", *_prefixed("BY", _texts(node.disjoint.keys))]
    return " ".join(parts)


# -- the short plan ---------------------------------------------------------------------------------------------------


def folded(node: Node) -> Node:
    """The node whose inputs are shown below a line: a variable is shown on the line of what it names."""
    return node.input if isinstance(node, logical.Rename) and isinstance(node.input, _NAMED) else node


def below(node: Node) -> list[tuple[Node, str]]:
    """The inputs that a plan shows below an operator, each with … in its mode standing for its line."""
    shown = folded(node)
    operands = logical.parameters(shown)
    modes_ = [modes(p) or "…" for p in operands] or ["…"] * len(logical.inputs(shown))
    return list(zip(logical.inputs(shown), modes_, strict=True))


def plan_text(node: Node) -> str:
    """The plan, one operator per line, inputs indented below.

    >>> from cedr.model.schema import EventType
    >>> a, b = (logical.Rename(logical.Source(EventType(n)), n.lower()) for n in "AB")
    >>> print(plan_text(logical.Unless(a, b, 5)))
    UNLESS WITHIN 5
      A AS a
      B AS b
    """
    return "\n".join(_lines(node, "…", 0))


def _lines(node: Node, mode: str, depth: int) -> Iterator[str]:
    yield "  " * depth + mode.replace("…", line(node))
    for part, its in below(node):
        yield from _lines(part, its, depth + 1)
