"""What every node of the language's tree has: its span, and how its durations were written.  Reading: R50."""

from __future__ import annotations

from dataclasses import dataclass, field

from cedr.diagnostics.span import Span


@dataclass(frozen=True, slots=True)
class Written:
    """A duration as it was written: its text, its length in ticks, and whether it has a unit.  Reading: R50."""

    text: str
    value: int
    unit: bool
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """Base of all nodes of the tree.

    ``durations`` are those written in the node itself, in the order of the text: a scope, a window's lengths, B and M.
    Two trees that differ only in how durations were written are equal.
    """

    span: Span | None = field(default=None, compare=False, repr=False)
    durations: tuple[Written, ...] = field(default=(), compare=False, repr=False)
