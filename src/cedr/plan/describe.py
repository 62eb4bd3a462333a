"""Operators in words: the name, the arguments and the one line by which a plan shows them.

``plan_text`` is the short form of a plan, for golden files and for the eye; ``explain`` adds the facts.
"""

from __future__ import annotations

from collections.abc import Iterator

from cedr.expression.render import quote_name
from cedr.plan import logical
from cedr.plan.logical import Node
from cedr.plan.traits.record import Argument
from cedr.plan.traits.registry import traits_of
from cedr.plan.traits.text import modes


def word(node: Node) -> str:
    """What the language calls the operator."""
    return traits_of(node).text.word(node)


def arguments(node: Node) -> dict[str, Argument]:
    """The operator's arguments by name, expressions as text, durations in ticks."""
    return {name: value for name, value in traits_of(node).text.arguments(node) if value not in ("", [])}


# -- one line ---------------------------------------------------------------------------------------------------------


def line(node: Node) -> str:
    """The operator with its arguments, close to what the language writes."""
    if isinstance(node, logical.Rename) and isinstance(node.input, logical.Stream):
        return f"{line(node.input)} AS {quote_name(node.variable)}"
    return traits_of(node).text.line(node)


# -- the short plan ---------------------------------------------------------------------------------------------------


def folded(node: Node) -> Node:
    """The node whose inputs are shown below a line: a variable is shown on the line of what it names."""
    return node.input if isinstance(node, logical.Rename) and isinstance(node.input, logical.Stream) else node


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
