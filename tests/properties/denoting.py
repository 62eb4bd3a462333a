"""The paper's table once more, as naively as Python can: all combinations, then the condition.

For plain histories only (R9: there the meaning is unitemporal).  No keys, no search, no sharing with the oracle but the
evaluation of expressions.  Here is what the denotations have in common; they stand in ``brute_patterns`` and
``brute_relations``, and ``brute_force`` puts them together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch
from typing import Any

from cedr.expression.evaluate import evaluate as value
from cedr.expression.tree import Expression, variables
from cedr.model.event import Event
from cedr.model.time import FOREVER, Time
from cedr.plan import logical
from cedr.plan.logical import Node

__all__ = ["Tables", "denoted", "environment", "hold", "made", "meaning", "of", "value"]

Tables = dict[str, list[Event]]


def meaning(node: Node, tables: Tables) -> list[Event]:
    """The table of a plan on plain tables."""
    return [_plain(e) for e in of(node, tables)]


def _plain(event: Event) -> Event:
    return replace(event, occurrence_end=FOREVER)


def environment(*events: Event) -> dict[str, Event]:
    bound = {"": events[0]}
    for event in events:
        bound.update(event.bindings)
    return bound


def hold(predicates: Iterable[Expression], bound: dict[str, Event]) -> bool:
    """Reading: R21: a conjunct constrains only where every variable that it names is bound; only *true* passes."""
    return all(value(p, bound) is True for p in predicates if variables(p) <= bound.keys())


def made(place: str, id_: str, valid: tuple[Time, Time], root: Time, **rest: Any) -> Event:
    return Event(place, id_, *valid, valid[0], FOREVER, root, **rest)


def of(node: Node, tables: Tables) -> list[Event]:
    return list(denoted(node, tables))


@singledispatch
def denoted(node: Node, tables: Tables) -> Iterable[Event]:
    raise NotImplementedError(type(node).__name__)


@denoted.register
def _(node: logical.Source, tables: Tables) -> Iterable[Event]:
    return tables.get(node.type.name, [])


@denoted.register
def _(node: logical.Rename, tables: Tables) -> Iterable[Event]:
    return [
        replace(e, bindings=(*e.bindings, (node.variable, replace(e, bindings=())))) for e in of(node.input, tables)
    ]
