"""How arguments of operators are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from cedr.expression.render import quote_name
from cedr.expression.render import render as render_exactly
from cedr.expression.tree import Expression, Literal, transform
from cedr.model.modes import Selection
from cedr.model.schema import DataType
from cedr.model.time import FOREVER, MILLISECOND, Time, format_time
from cedr.plan.logical import AggregateColumn, Column, Node, Parameter
from cedr.plan.traits.record import Argument, Text

Arguments = Iterable[tuple[str, Argument]]


def render(expression: Expression) -> str:
    """An expression as text, with durations as one would write them: in units, as ticks, or FOREVER."""
    return render_exactly(transform(expression, _plain_duration))


def _plain_duration(expression: Expression) -> Expression | None:
    if not isinstance(expression, Literal) or not isinstance(expression.value, int):
        return None
    if expression.type is not DataType.DURATION or expression.value % MILLISECOND == 0 != expression.value:
        return None
    return Literal(expression.value, DataType.TIMESTAMP if expression.value == FOREVER else DataType.INTEGER)


def texts(expressions: Iterable[Expression]) -> list[str]:
    """Expressions as texts."""
    return [render(expression) for expression in expressions]


def named(columns: Iterable[Column | AggregateColumn]) -> list[str]:
    """Columns as texts, with their names."""
    return [f"{render(_computed(column))} AS {quote_name(column.name)}" for column in columns]


def _computed(column: Column | AggregateColumn) -> Expression:
    return column.expression if isinstance(column, Column) else column.aggregate


def slice_text(bounds: tuple[Time, Time] | None) -> str:
    """A slice in brackets; nothing where there is none."""
    return "" if bounds is None else f"[{format_time(bounds[0])}, {format_time(bounds[1])}]"


def prefixed(prefix: str, listed: list[str]) -> list[str]:
    """A list behind a word; nothing where there is none."""
    return [f"{prefix} {', '.join(listed)}"] if listed else []


def modes(parameter: Parameter) -> str | None:
    """The SC mode and weight of a parameter, where they are not the default; … stands for the parameter itself."""
    selection = "" if parameter.selection is Selection.EACH else f"{parameter.selection.value} "
    consume = " CONSUME" if parameter.consume else ""
    weight = f" WEIGHT {parameter.weight}" if parameter.weight != 1 else ""
    return f"{selection}…{consume}{weight}" if selection or consume or weight else None


def no_arguments(node: Node) -> Iterator[tuple[str, Argument]]:
    """An operator with nothing but its inputs."""
    return iter(())


def plain_text(word: str, arguments: Callable[[Any], Arguments] = no_arguments) -> Text[Any]:
    """An operator that is shown as its word and the values of its arguments."""

    def line(node: Node) -> str:
        values = [value for _, value in arguments(node) if value not in ("", [])]
        return " ".join([word, *(", ".join(v) if isinstance(v, list) else str(v) for v in values)])

    return Text(word=lambda _: word, arguments=arguments, line=line)
