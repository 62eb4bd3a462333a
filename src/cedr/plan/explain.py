"""Explain: what a query does at a consistency level, and what that costs.

Paper: Section 5.  For each operator: its scope, the partition key or the reason why there is none, the longest blocking
and how long state is held at the level (R33, R34, R37), the guarantee that leaves it (R36); and for the plan: which
rewrite rules fired and what to beware of.  ``as_text`` is for people, ``as_data`` for programs: its keys are stable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.time import FOREVER
from cedr.plan.analyses.bounds import (
    Bounds,
    Length,
    bounds_of,
    in_words,
    level_below,
    own_scope,
)
from cedr.plan.analyses.elements import Path
from cedr.plan.analyses.keys import NoPartitionKey, Partitioning, partition_keys
from cedr.plan.describe import arguments, below, folded, line, plan_text, word
from cedr.plan.logical import Node, Query, inputs
from cedr.plan.notes import unless_note
from cedr.plan.rewrite import Firing, rewrite
from cedr.plan.traits.record import Argument
from cedr.plan.traits.registry import traits_of
from cedr.plan.warnings import warnings_of

__all__ = ["Explanation", "OperatorRecord", "explain", "plan_text"]


@dataclass(frozen=True, slots=True)
class OperatorRecord:
    """What is known of one operator of a plan."""

    node: Node
    operator: str
    place: str
    arguments: dict[str, Argument]
    partitioning: Partitioning
    bounds: Bounds
    warnings: tuple[str, ...]
    inputs: tuple[OperatorRecord, ...]

    def as_data(self) -> dict[str, Any]:
        """The record as plain data; durations in ticks, "FOREVER" where there is no bound."""
        return {
            "operator": self.operator,
            "place": self.place,
            "arguments": self.arguments,
            "scope": _ticks(self.bounds.scope),
            **_partitioning(self.partitioning),
            "longest_blocking": _length(self.bounds.longest_blocking),
            "state_held": _length(self.bounds.state_held),
            "guarantee": self.bounds.guarantee,
            "warnings": list(self.warnings),
            "inputs": [part.as_data() for part in self.inputs],
        }

    def walk(self) -> Iterator[OperatorRecord]:
        """The record and those below it."""
        yield self
        for part in self.inputs:
            yield from part.walk()


@dataclass(frozen=True, slots=True)
class Explanation:
    """A plan, explained."""

    query: str
    level: ConsistencyLevel
    plan: OperatorRecord
    rules: tuple[Firing, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Everything to beware of, each once."""
        return tuple(dict.fromkeys(warning for record in self.plan.walk() for warning in record.warnings))

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """What surprises, and what to write instead: with its place in the text, once for the query."""
        found = unless_note(self.plan.node, self.level)
        return () if found is None else (found,)

    def as_text(self) -> str:
        """The plan as an indented tree, one operator per line, with its facts below it."""
        head = f"{self.query or 'plan'} at {self.level}"
        lines = [head, "", *_tree(self.plan, "…", 0)]
        if self.rules:
            fired = dict.fromkeys(firing.rule for firing in self.rules)
            lines += ["", f"rewritten by {', '.join(fired)}"]
        if self.warnings:
            lines += ["", *(f"warning: {warning}" for warning in self.warnings)]
        for note in self.notes:
            lines += ["", note.render()]
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        """The explanation as plain data: the record of the topmost operator, with what holds for the whole query."""
        fired = [{"rule": firing.rule, "place": firing.place} for firing in self.rules]
        notes = [note.as_data() for note in self.notes]
        return {"query": self.query, "level": str(self.level), "rules": fired, "notes": notes, **self.plan.as_data()}

    def __str__(self) -> str:
        return self.as_text()


def explain(plan: Node, level: ConsistencyLevel = MIDDLE) -> Explanation:
    """Rewrite a plan and say what each of its operators does and costs at a level."""
    rewritten = rewrite(plan)
    keys = partition_keys(rewritten.plan)
    name = plan.name if isinstance(plan, Query) else ""
    return Explanation(name, level, _record(rewritten.plan, (), keys, level), rewritten.firings)


def _record(node: Node, path: Path, keys: Any, level: ConsistencyLevel) -> OperatorRecord:
    inner = level_below(node, level)
    parts = tuple(_record(part, (*path, index), keys, inner) for index, part in enumerate(inputs(node)))
    return OperatorRecord(
        node,
        word(node),
        node.place,
        arguments(node),
        keys[path],
        bounds_of(node, level),
        warnings_of(node, level),
        parts,
    )


# -- data -------------------------------------------------------------------------------------------------------------


def _ticks(duration: int | None) -> int | str | None:
    return "FOREVER" if duration == FOREVER else duration


def _length(length: Length) -> dict[str, Any]:
    clock = "cedr" if length.cedr_time else "application"
    return {"duration": _ticks(length.duration), "clock": clock, "text": length.text}


def _partitioning(found: Partitioning) -> dict[str, Any]:
    if isinstance(found, NoPartitionKey):
        return {"no_partition_key_because": found.reason}
    return {
        "partition_key": [
            {"variable": a.variable, "type": a.type, "attribute": a.attribute, "negated": a.negated}
            for a in found.attributes
        ]
    }


# -- text -------------------------------------------------------------------------------------------------------------


def _tree(record: OperatorRecord, mode: str, depth: int) -> Iterator[str]:
    margin = "  " * depth
    yield margin + mode.replace("…", line(record.node))
    facts = list(_facts(record))
    width = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        yield f"{margin}  | {name:<{width}}  {value}"
    shown = record if folded(record.node) is record.node else record.inputs[0]
    for part, (_, its) in zip(shown.inputs, below(record.node), strict=True):
        yield from _tree(part, its, depth + 1)


def _facts(record: OperatorRecord) -> Iterator[tuple[str, str]]:
    """All facts of an operator that brings events together; of others what is out of the ordinary."""
    bounds = record.bounds
    together = own_scope(record.node) is not None
    if together and bounds.scope is not None:
        yield "scope", in_words(bounds.scope)
    if together:
        yield "key", str(record.partitioning)
    if together or traits_of(record.node).times.start(record.node) is not None:
        yield "blocking", bounds.longest_blocking.text
    if together:
        yield "state", bounds.state_held.text
    if together or bounds.guarantee != "g":
        yield "guarantee", bounds.guarantee
