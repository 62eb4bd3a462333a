"""Tree to text: one stable, readable form that parses back to the same tree.

Paper: Section 3.  What fits on a line stays on it; an operator that does not has one operand on each line.  Lines are
never indented afterwards: a quoted name or a text may hold line ends of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cedr.expression.render import quote_name, quote_text
from cedr.expression.render import render as render_expression
from cedr.expression.tree import Binary, Expression
from cedr.language import syntax
from cedr.language.options import written
from cedr.language.patterns import operands, operator_name
from cedr.language.syntax import (
    AlgebraBody,
    AttributeDeclaration,
    AttributeEquals,
    Conjunct,
    CorrelationKey,
    File,
    GroupItem,
    Operator,
    Origin,
    OutputItem,
    Parameter,
    PatternBody,
    Query,
    RelationSource,
    Statement,
    StreamSource,
    Subquery,
    TypeDeclaration,
    TypeReference,
    Window,
)
from cedr.model.level import NAMED_LEVELS
from cedr.model.schema import Shape
from cedr.model.time import FOREVER, Time, format_duration, format_timestamp

_WIDTH = 100
_CLEARLY_A_TIMESTAMP = 10**14  # microseconds: 1973; smaller times are shown as ticks


def render(tree: File | Statement) -> str:
    """A file, or one statement, as text.

    >>> from cedr.language.parse import parse
    >>> print(render(parse("event P when any ( A a ) where a.x=1")))
    EVENT P
    WHEN ANY(A AS a)
    WHERE a.x = 1;
    <BLANKLINE>
    """
    if isinstance(tree, File):
        return "\n".join(render(statement) for statement in tree.statements)
    lines = [_type(tree)] if isinstance(tree, TypeDeclaration) else [*_query(tree)]
    return "\n".join(lines) + ";\n"


def _type(declaration: TypeDeclaration) -> str:
    attributes = [f"{quote_name(attribute.name)} {_shape(attribute)}" for attribute in declaration.attributes]
    text = f"TYPE {quote_name(declaration.name)}" + ("" if declaration.inferred else f" ({_listed(attributes, 2)})")
    if declaration.revisable:
        until = "" if declaration.revisable == FOREVER else f" FOR {_duration(declaration, declaration.revisable)}"
        text += f" REVISABLE{until}"
    return text if declaration.origin is None else _with_origin(text, declaration.origin)


def _with_origin(text: str, origin: Origin) -> str:
    """FROM and WITH behind the declaration if that fits on a line, else each on a line of its own."""
    options = [f"{option.name} = {written(option.name, option.value)}" for option in origin.options]
    parts = [] if origin.path is None else [f"FROM {quote_text(origin.path)}"]
    if options or origin.path is None:
        parts.append(f"WITH ({_listed(options, 8)})")
    line = " ".join([text, *parts])
    return line if len(line) <= _WIDTH else "\n  ".join([text, *parts])


def _duration(node: syntax.Syntax, duration: int, index: int = 0) -> str:
    """A duration as it was written in a node, in its largest unit where it was not written.  Reading: R50."""
    found = node.durations[index] if index < len(node.durations) else None
    return found.text if found is not None and found.value == duration else format_duration(duration)


def _level(query: Query) -> str:
    level = query.consistency
    if level is None or level in NAMED_LEVELS.values():
        return str(level)
    bounds = [
        _duration(query, bound.duration, index) + (" OF CEDR TIME" if bound.cedr_time else "")
        for index, bound in enumerate((level.blocking, level.memory))
    ]
    return f"BLOCKING {bounds[0]} MEMORY {bounds[1]}"


def _shape(declared: AttributeDeclaration | Shape) -> str:
    shape = declared if isinstance(declared, Shape) else declared.shape or Shape(declared.type)
    if shape.fields is not None:
        return f"{shape.type}({', '.join(f'{quote_name(n)} {_shape(s)}' for n, s in shape.fields.items())})"
    return f"{shape.type}" if shape.element is None else f"{shape.type}({_shape(shape.element)})"


def _query(query: Query) -> Iterator[str]:
    yield f"EVENT {quote_name(query.name)}"
    yield from _pattern_body(query.body) if isinstance(query.body, PatternBody) else _algebra_body(query.body, 0)
    if query.consistency is not None:
        yield f"CONSISTENCY {_level(query)}"
    if query.occurrence_slice is not None:
        yield f"@ [{', '.join(map(_time, query.occurrence_slice))}]"
    if query.valid_slice is not None:
        yield f"# [{', '.join(map(_time, query.valid_slice))}]"
    if query.as_of is not None:
        yield f"AS OF {_time(query.as_of)}"


def _time(time: Time) -> str:
    if time == FOREVER:
        return "FOREVER"
    stamp = format_timestamp(time)
    return f"TIMESTAMP '{stamp}'" if abs(time) >= _CLEARLY_A_TIMESTAMP and stamp.endswith("Z") else str(time)


# -- patterns ---------------------------------------------------------------------------------------------------------


def _pattern_body(body: PatternBody) -> Iterator[str]:
    yield f"WHEN {_parameter(body.pattern, 0)}"
    if body.valid is not None:
        yield f"VALID {body.valid.value}"
    if body.where:
        yield "WHERE " + "\n  AND ".join(render_conjunct(conjunct) for conjunct in body.where)
    if body.output:
        yield "OUTPUT " + _listed([_item(item) for item in body.output], 7)


def render_pattern(parameter: Parameter) -> str:
    """A pattern, or a parameter of one, on one line."""
    return _parameter(parameter, None)


def _parameter(parameter: Parameter, margin: int | None) -> str:
    words = [parameter.selection.value] if parameter.selection else []
    expression = parameter.expression
    words.append(
        quote_name(expression.name) if isinstance(expression, TypeReference) else _operator(expression, margin)
    )
    if parameter.variable is not None:
        words.append(f"AS {quote_name(parameter.variable)}")
    if parameter.consumption is not None:
        words.append(parameter.consumption.value)
    if parameter.weight is not None:
        words.append(f"WEIGHT {parameter.weight}")
    return " ".join(words)


def _operator(operator: Operator, margin: int | None) -> str:
    """On one line if that fits or there is no margin, else with the operands two further in."""
    line = f"{operator_name(operator)}({', '.join(_arguments(operator, None))})"
    if margin is not None and margin + len(line) > _WIDTH:
        pad = "\n" + " " * margin
        parts = f",{pad}  ".join(_arguments(operator, margin + 2))
        line = f"{operator_name(operator)}({pad}  {parts}{pad})"
    return line + (" DISJOINT" if operator.disjoint else "")


def _arguments(operator: Operator, margin: int | None) -> list[str]:
    parts = [_parameter(operand, margin) for operand, _ in operands(operator)]
    match operator:
        case syntax.AtLeast() | syntax.AtMost():
            parts.insert(0, str(operator.count))
        case syntax.CancelWhen(from_root=True):
            parts[-1] += " FROM ROOT"
        case syntax.Unless(contributor=int(number)):
            parts.append(str(number))
    scope = getattr(operator, "scope", None)
    if scope is not None:
        parts.append(_duration(operator, scope) + (" WITH TIES" if operator.ties else ""))
    return parts


def render_conjunct(conjunct: Conjunct) -> str:
    """A conjunct of WHERE as text.  An AND without braces would be two conjuncts, an OR needs parentheses."""
    match conjunct:
        case CorrelationKey():
            return f"CorrelationKey({'.'.join(map(quote_name, conjunct.way))}, {conjunct.mode.value})"
        case AttributeEquals():
            return f"[{'.'.join(map(quote_name, conjunct.way))} EQUAL {render_expression(conjunct.value)}]"
    text = render_expression(conjunct.expression)
    top = conjunct.expression.operator if isinstance(conjunct.expression, Binary) else ""
    if conjunct.braces or top == "AND":
        return f"{{{text}}}"
    return f"({text})" if top == "OR" else text


# -- algebra ----------------------------------------------------------------------------------------------------------


def _algebra_body(body: AlgebraBody, margin: int) -> Iterator[str]:
    yield f"FROM {_source(body.source, margin)}"
    if body.where is not None:
        yield f"WHERE {render_expression(body.where)}"
    if body.window is not None:
        yield f"WINDOW {_window(body.window)}"
    if body.group_by is not None:
        yield "GROUP BY " + _listed([_item(item) for item in body.group_by], margin + 9)
    if body.having is not None:
        yield f"HAVING {render_expression(body.having)}"
    if body.top is not None:
        down = " DESC" if body.top.descending else ""
        yield f"TOP {body.top.count} BY {render_expression(body.top.expression)}{down}"
    if body.output:
        items = _listed([_item(item) for item in body.output], margin + 7)
        yield f"OUTPUT {'DISTINCT ' if body.distinct else ''}{items}"


def _source(source: RelationSource, margin: int) -> str:
    pad = "\n" + " " * margin
    match source:
        case StreamSource():
            alias = "" if source.variable is None else f" AS {quote_name(source.variable)}"
            return quote_name(source.name) + alias
        case Subquery():
            body = f"{pad}  ".join(_algebra_body(source.body, margin + 2))
            return f"({pad}  {body}{pad}) AS {quote_name(source.variable)}"
        case syntax.JoinSource():
            word, on = source.kind.value, f" ON {render_expression(source.predicate)}"
        case _:
            word, on = ("UNION" if isinstance(source, syntax.UnionSource) else "EXCEPT"), ""
    return f"{_source(source.left, margin)}{pad}  {word} {_source(source.right, margin + 2)}{on}"


def _window(window: Window) -> str:
    match window:
        case syntax.MovingWindow():
            return f"MOVING {_duration(window, window.length)}"
        case syntax.HoppingWindow():
            return f"HOPPING {_duration(window, window.size)} EVERY {_duration(window, window.hop, 1)}"
        case syntax.TumblingWindow():
            return f"TUMBLING {_duration(window, window.size)}"
        case syntax.SessionWindow():
            return f"SESSION {_duration(window, window.gap)}"
        case syntax.LifetimeWindow():
            return f"LIFETIME {render_expression(window.start)}, {render_expression(window.duration)}"
    return type(window).__name__.removesuffix("Window").upper()


# -- lists ------------------------------------------------------------------------------------------------------------


def _item(item: OutputItem | GroupItem) -> str:
    expression: Expression = item.expression
    return render_expression(expression) + ("" if item.name is None else f" AS {quote_name(item.name)}")


def _listed(parts: Sequence[str], margin: int) -> str:
    line = ", ".join(parts)
    return line if margin + len(line) <= _WIDTH else (",\n" + " " * margin).join(parts)
