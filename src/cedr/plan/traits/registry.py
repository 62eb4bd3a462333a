"""Every class of logical nodes with its record; a class without one fails when this is imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from cedr.plan import logical
from cedr.plan.folder import modules_beside
from cedr.plan.logical import Node
from cedr.plan.traits.record import Traits

TRAITS: Final[Mapping[type[Node], Traits[Any]]] = MappingProxyType(
    {
        record.node: record
        for module in modules_beside(__name__)
        for record in vars(module).values()
        if isinstance(record, Traits)
    }
)
"""The records of all modules of this folder."""

_BASES: Final = (Node, logical.Pattern)
"""What operators are derived from, and no operator itself."""


def traits_of(node: Node) -> Traits[Any]:
    """The record of a node's class."""
    found = TRAITS.get(type(node))
    if found is None:
        raise missing(type(node))
    return found


def missing(*classes: type[Node]) -> TypeError:
    """The error for classes that have no record."""
    names = ", ".join(each.__name__ for each in classes)
    return TypeError(f"no traits for {names}: give each a record in cedr.plan.traits")


def operators() -> list[type[Node]]:
    """Every concrete class of nodes.

    A dataclass with slots is made anew, and its first form stays a subclass until it is collected: the last one counts.
    """
    found = {(each.__module__, each.__qualname__): each for each in _subclasses(Node)}
    return [each for each in found.values() if each not in _BASES]


def _subclasses(base: type[Node]) -> Iterator[type[Node]]:
    for each in base.__subclasses__():
        yield each
        yield from _subclasses(each)


def check(known: Mapping[type[Node], Traits[Any]]) -> None:
    """Fail where a class of nodes has no record."""
    lacking = [each for each in operators() if each not in known]
    if lacking:
        raise missing(*lacking)


check(TRAITS)
