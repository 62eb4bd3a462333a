"""Every class of logical nodes with its record; a class without one fails when this is imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from cedr.plan import logical
from cedr.plan.logical import Node
from cedr.plan.traits.at_least import ALL, ANY, AT_LEAST
from cedr.plan.traits.at_most import AT_MOST, SLIDING_COUNT
from cedr.plan.traits.lifetimes import ALTER_LIFETIME, SESSION
from cedr.plan.traits.negation import CANCEL_WHEN, NOT
from cedr.plan.traits.record import Traits
from cedr.plan.traits.relational import COALESCE, DIFFERENCE, DISTINCT, GROUP_BY, JOIN, UNION
from cedr.plan.traits.rows import PROJECT, RENAME, SELECT, SET_VALID, SLICE
from cedr.plan.traits.sequence import SEQUENCE
from cedr.plan.traits.sources import MADE, QUERY, SOURCE
from cedr.plan.traits.unless import UNLESS, UNLESS_NTH

TRAITS: Final[Mapping[type[Node], Traits[Any]]] = MappingProxyType(
    {
        logical.Source: SOURCE,
        logical.Made: MADE,
        logical.Query: QUERY,
        logical.Rename: RENAME,
        logical.Sequence: SEQUENCE,
        logical.AtLeast: AT_LEAST,
        logical.All: ALL,
        logical.Any: ANY,
        logical.AtMost: AT_MOST,
        logical.SlidingCount: SLIDING_COUNT,
        logical.Unless: UNLESS,
        logical.UnlessNth: UNLESS_NTH,
        logical.Not: NOT,
        logical.CancelWhen: CANCEL_WHEN,
        logical.SetValid: SET_VALID,
        logical.Project: PROJECT,
        logical.Select: SELECT,
        logical.Join: JOIN,
        logical.Union: UNION,
        logical.Difference: DIFFERENCE,
        logical.Distinct: DISTINCT,
        logical.GroupBy: GROUP_BY,
        logical.AlterLifetime: ALTER_LIFETIME,
        logical.Session: SESSION,
        logical.Coalesce: COALESCE,
        logical.Slice: SLICE,
    }
)

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
    return TypeError(f"no traits for {names}: give each a record in cedr.plan.traits.registry")


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
