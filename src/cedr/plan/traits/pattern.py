"""Answers that several pattern operators give.  Paper: Section 3.3.2.  Readings: R21, R25, R27."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cedr.expression.tree import Expression
from cedr.model.modes import Selection
from cedr.model.time import format_duration
from cedr.plan.logical import Node, Pattern, inputs, parameters
from cedr.plan.traits.record import Argument, Text
from cedr.plan.traits.text import modes, prefixed, texts


def chooses(node: Node) -> bool:
    """Whether a parameter has FIRST or LAST.  Reading: R25."""
    return any(p.selection is not Selection.EACH for p in parameters(node))


def chooses_last(node: Node) -> bool:
    """Whether a parameter has LAST."""
    return any(p.selection is Selection.LAST for p in parameters(node))


def injected(node: Pattern) -> tuple[Expression, ...]:
    """The predicates that were injected.  Reading: R21."""
    return node.predicates


def own_scope_longer(node: Pattern, own: int) -> int:
    """A row lives for a scope, and so long its contributors are asked for beyond M."""
    return own


def no_nulls_matter(node: Pattern) -> tuple[bool, ...]:
    """Every input has to agree on the key."""
    return (False,) * len(inputs(node))


WITH_TIES = (("ties", "with", "TIES"),)
"""How an operator shows that events of equal Vs may follow each other.  Reading: R49."""


def pattern_text(
    word: str, *, own: Iterable[str] = (), keys: bool = False, flags: Iterable[tuple[str, str, str]] = ()
) -> Text[Any]:
    """A pattern operator: its word, its own arguments, then SC modes, predicates and DISJOINT.

    ``own`` are fields by name; ``flags`` are fields that are true or false, each with the name and the value by which
    it is shown; ``keys`` says whether it counts by keys.
    """

    def arguments(node: Any) -> Iterator[tuple[str, Argument]]:
        yield from ((name, getattr(node, name)) for name in own)
        yield from ((name, value) for field, name, value in flags if getattr(node, field))
        yield "parameters", [mode for p in parameters(node) if (mode := modes(p)) is not None]
        if keys:
            yield "keys", [", ".join(texts(each)) for each in node.keys]
        yield "predicates", texts(node.predicates)
        if node.disjoint is not None:
            yield "disjoint", ", ".join(texts(node.disjoint.keys)) or "over the whole stream"

    def line(node: Any) -> str:
        parts = [word]
        for name in own:
            value = getattr(node, name)
            parts.append(f"WITHIN {format_duration(value)}" if name == "scope" else str(value))
        parts += [f"{name.upper()} {value}" for field, name, value in flags if getattr(node, field)]
        if keys and any(node.keys):
            parts.append(f"BY {'; '.join(', '.join(texts(each)) for each in node.keys)}")
        if node.predicates:
            parts.append(f"WHERE {' AND '.join(f'{{{text}}}' for text in texts(node.predicates))}")
        if node.disjoint is not None:
            parts += ["DISJOINT", *prefixed("BY", texts(node.disjoint.keys))]
        return " ".join(parts)

    return Text(word=lambda _: word, arguments=arguments, line=line)
