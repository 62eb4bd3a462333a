"""ATLEAST, and its sugar ALL and ANY.  Paper: Section 3.3.2.  Readings: R12, R13, R25."""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.time import FOREVER, plus
from cedr.plan.logical import All, Any, AtLeast
from cedr.plan.traits import answers, pattern
from cedr.plan.traits.record import (
    Composition,
    Further,
    Inputs,
    Keys,
    Origin,
    Shape,
    Sight,
    Times,
    Traits,
    Undecided,
)


def _count(node: AtLeast | All | Any) -> int:
    """How many contributors a row has."""
    match node:
        case AtLeast():
            return node.count
        case All():
            return len(node.parameters)
        case Any():
            return 1


def _bound(node: AtLeast | All | Any, below: Inputs) -> frozenset[str]:
    """Where some parameters may be left out, no variable is certain."""
    return answers.bound_by_all(node, below) if _count(node) == len(below) else frozenset()


def _alone(node: AtLeast | Any) -> bool:
    return _count(node) == 1


def _own_scope(node: AtLeast, below: Inputs) -> int | None:
    return None if node.count == 1 else node.scope


def _both_ways(node: AtLeast | All) -> Further:
    """A choice is between events that are a scope away from others on either side."""
    return Further(2, 2) if pattern.chooses(node) else Further()


def _undecided(node: AtLeast | All) -> Undecided | None:
    """LAST on any parameter is chosen by the future.  Reading: R25."""
    if not pattern.chooses_last(node):
        return None
    return Undecided((node.scope,) * len(node.parameters), "an undecided choice")


def _reach_below(node: AtLeast | All | Any, below: Inputs, reach: int, shown: bool) -> Sequence[int]:
    """An unfrozen row's first contributor lies at most w behind m; choices look further back."""
    own = 1 if isinstance(node, Any) else node.scope
    choosing = pattern.chooses(node)
    before = plus(reach, _apart(node, own, choosing=choosing))
    return [min(before, own) if shown and not choosing else before] * len(below)


def _apart(node: AtLeast | All | Any, own: int, *, choosing: bool) -> int:
    """How far before an output's Vs the events lie that bear on it."""
    if _count(node) == 1:
        return FOREVER if choosing else 0  # nothing bounds the choice: the first of all time
    return plus(own, own) if choosing else own


def _sees(node: AtLeast | All, below: Sequence[Sight]) -> Sight | None:
    widest = answers.widest(below)
    return None if pattern.chooses(node) else Sight(node.scope + widest.back, widest.ahead)


def _sees_each(node: Any, below: Sequence[Sight]) -> Sight | None:
    return None if pattern.chooses(node) else answers.widest(below)


def _primitive(node: AtLeast | All, below: Inputs) -> bool:
    return all(part.primitive for part in below)


def _last(node: AtLeast | All, below: Inputs) -> int:
    return _count(node)


def _one_tick(node: Any, below: Inputs) -> int:
    """Reading: R13: w is 1."""
    return 1


_SHAPE: Shape[AtLeast | All | Any] = Shape(
    negated=answers.nothing_negated,
    against=answers.none_against,
    certain=_bound,
    hides_variables=False,
    same_row=False,
    row_by_row=False,
    merges_versions=False,
    payload=answers.no_payload,
    origin=Origin.OPERANDS,
    predicates=pattern.injected,
    expressions=pattern.injected,
)

AT_LEAST: Traits[AtLeast] = Traits(
    node=AtLeast,
    text=pattern.pattern_text("ATLEAST", own=("count", "scope"), flags=pattern.WITH_TIES),
    shape=_SHAPE,
    keys=Keys(
        meeting=_count,
        by_itself=_alone,
        groups=answers.ungrouped,
        compares_rows=False,
        ordered=answers.no,
        nulls_matter=lambda node: (node.count == 1,) * len(node.parameters),
    ),
    times=Times(
        own_scope=_own_scope,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=False,
        further=_both_ways,
        outlives=pattern.own_scope_longer,
        undecided=_undecided,
        start=answers.starts_as_event,
        lifetime=answers.lives_for_scope,
        open_end=answers.end_is_fixed,
        end=answers.own_end,
        reach_below=_reach_below,
        sees=_sees,
    ),
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=True,
        apart=False,
        by_time=_primitive,
        asks_inside=None,
        several=lambda node: node.count > 1,
        last_contributor=_last,
    ),
)

ALL: Traits[All] = Traits(
    node=All,
    text=pattern.pattern_text("ALL", own=("scope",), flags=pattern.WITH_TIES),
    shape=_SHAPE,
    keys=Keys(
        meeting=_count,
        by_itself=answers.no,
        groups=answers.ungrouped,
        compares_rows=False,
        ordered=answers.no,
        nulls_matter=pattern.no_nulls_matter,
    ),
    times=Times(
        own_scope=answers.given_scope,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=False,
        further=_both_ways,
        outlives=pattern.own_scope_longer,
        undecided=_undecided,
        start=answers.starts_as_event,
        lifetime=answers.lives_for_scope,
        open_end=answers.end_is_fixed,
        end=answers.own_end,
        reach_below=_reach_below,
        sees=_sees,
    ),
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=True,
        apart=False,
        by_time=_primitive,
        asks_inside=None,
        several=answers.yes,
        last_contributor=_last,
    ),
)

ANY: Traits[Any] = Traits(
    node=Any,
    text=pattern.pattern_text("ANY"),
    shape=_SHAPE,
    keys=Keys(
        meeting=_count,
        by_itself=_alone,
        groups=answers.ungrouped,
        compares_rows=False,
        ordered=answers.yes,
        nulls_matter=answers.all_nulls_matter,
    ),
    times=Times(
        own_scope=answers.no_scope,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=False,
        further=answers.no_further,
        outlives=pattern.own_scope_longer,
        undecided=answers.decided,
        start=answers.starts_as_event,
        lifetime=_one_tick,
        open_end=answers.end_is_fixed,
        end=answers.own_end,
        reach_below=_reach_below,
        sees=_sees_each,
    ),
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=False,
        apart=False,
        by_time=answers.no_order_of_time,
        asks_inside=None,
        several=answers.no,
        last_contributor=answers.unknown_last,
    ),
)
