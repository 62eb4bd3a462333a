"""Rewriting a plan: the rules, and the loop that applies them until none fires.

A rule is a function ``rule(node) -> Node | None`` on one node: a node of the same meaning, or None where the law does
not apply.  Rules keep the places of operators that make IDs (R8), so a rewritten plan gives the same rows under the
same IDs; ``tests/plan/test_rules_preserve_meaning.py`` holds each of them against the denotation.

Every rule moves a plan towards a normal form and none undoes another: sugar disappears, selections only go down,
neighbours only merge.  So the loop ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import InternalError
from cedr.plan.logical import Node
from cedr.plan.rules.desugar_all import desugar_all
from cedr.plan.rules.desugar_any import desugar_any
from cedr.plan.rules.desugar_atmost import desugar_atmost
from cedr.plan.rules.merge_lifetimes import merge_lifetimes
from cedr.plan.rules.merge_projections import merge_projections
from cedr.plan.rules.merge_selections import merge_selections
from cedr.plan.rules.push_selection import push_selection
from cedr.plan.walk import map_inputs

Rule = Callable[[Node], Node | None]

RULES: Final[tuple[Rule, ...]] = (
    desugar_all,
    desugar_any,
    desugar_atmost,
    push_selection,
    merge_selections,
    merge_projections,
    merge_lifetimes,
)

_MOST_PASSES = 1_000


@dataclass(frozen=True, slots=True)
class Firing:
    """A rule that fired, and the place of the operator on which it did ("" where that has none)."""

    rule: str
    place: str

    def __str__(self) -> str:
        return f"{self.rule} at {self.place}" if self.place else self.rule


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A plan after rewriting, and what was done to it, in order."""

    plan: Node
    firings: tuple[Firing, ...] = ()


def rewrite(plan: Node, rules: Sequence[Rule] = RULES) -> Rewritten:
    """The plan on which no rule fires any more."""
    firings: list[Firing] = []
    for _ in range(_MOST_PASSES):
        before = len(firings)
        plan = _Pass(rules, firings).over(plan)
        if len(firings) == before:
            return Rewritten(plan, tuple(firings))
    raise InternalError(_endless(firings))


class _Pass:
    """Each node once, from the bottom up; a part that occurs twice, as a named query may, stays one part."""

    def __init__(self, rules: Sequence[Rule], firings: list[Firing]) -> None:
        self._rules = rules
        self._firings = firings
        self._done: dict[int, tuple[Node, Node]] = {}

    def over(self, node: Node) -> Node:
        if id(node) not in self._done:
            self._done[id(node)] = (node, self._applied(map_inputs(node, self.over)))
        return self._done[id(node)][1]

    def _applied(self, node: Node) -> Node:
        for rule in self._rules:
            changed = rule(node)
            if changed is not None:
                self._firings.append(Firing(rule.__name__, node.place))
                node = changed
        return node


def _endless(firings: list[Firing]) -> Diagnostic:
    last = ", ".join(dict.fromkeys(str(firing) for firing in firings[-20:]))
    return Diagnostic(
        "endless-rewrite",
        f"rewriting a plan did not end after {_MOST_PASSES} passes",
        detail=f"the last rules that fired: {last}",
        hint="this is a defect of CEDR; please report it with the text of the query",
    )
