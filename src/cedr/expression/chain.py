"""Long chains of operators, taken apart without recursion.

A conjunction of thousands of terms is a tree thousands deep; evaluation and rendering walk it in a loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from cedr.expression.tree import Binary, Expression


@dataclass(frozen=True, slots=True)
class Chain:
    """``first ∘ right ∘ right …``, read from left to right: the left spine of a tree of binary operators."""

    first: Expression
    links: tuple[Binary, ...]

    @property
    def operands(self) -> tuple[Expression, ...]:
        """First and all the rights, in order."""
        return (self.first, *(link.right for link in self.links))


_LOGICAL = ("AND", "OR")


def spine(node: Binary, among: frozenset[str] | None = None) -> Chain:
    """The left spine of an operator: down to what is no operator, is AND or OR, or is not among some operators."""
    links = [node]
    while isinstance(below := links[-1].left, Binary) and (
        below.operator not in _LOGICAL if among is None else below.operator in among
    ):
        links.append(below)
    return Chain(links[-1].left, tuple(reversed(links)))


def logical_operands(node: Binary) -> tuple[Expression, ...]:
    """The operands of a chain of the same AND or OR, whichever way it is nested, from left to right."""
    found: list[Expression] = []
    todo: list[Expression] = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, Binary) and part.operator == node.operator:
            todo.extend((part.right, part.left))
        else:
            found.append(part)
    return tuple(found)
