"""UNLESS in its two forms.  Paper: Section 3.3.2, "Negation".  Readings: R15, R16."""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.time import plus
from cedr.plan.logical import Pattern, Unless, UnlessNth
from cedr.plan.traits import answers, pattern
from cedr.plan.traits.record import (
    AsksInside,
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

_SHAPE: Shape[Pattern] = Shape(
    negated=lambda _: 1,
    against=lambda _: (1,),
    certain=answers.bound_by_first,
    hides_variables=False,
    same_row=False,
    row_by_row=False,
    merges_versions=False,
    payload=0,
    origin=Origin.OPERANDS,
    predicates=pattern.injected,
    expressions=pattern.injected,
)
_KEYS: Keys[Pattern] = Keys(
    meeting=answers.two_meet,
    by_itself=answers.no,
    groups=answers.ungrouped,
    compares_rows=False,
    ordered=answers.yes,
    nulls_matter=lambda _: (True, False),
)


def _after_first(node: Unless, below: Inputs, reach: int, shown: bool) -> Sequence[int]:
    return [reach, reach - 1]  # e2 comes after e1


def _sees_ahead(node: Unless, below: Sequence[Sight]) -> Sight:
    return Sight(answers.widest(below).back, max(below[0].ahead, node.scope + below[1].ahead))


UNLESS: Traits[Unless] = Traits(
    node=Unless,
    text=pattern.pattern_text("UNLESS", own=("scope",)),
    shape=_SHAPE,
    keys=_KEYS,
    times=Times(
        own_scope=answers.given_scope,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=False,
        further=answers.no_further,
        outlives=pattern.own_scope_longer,
        undecided=lambda node: Undecided((0, node.scope), "an undecided e1"),
        start=answers.starts_as_event,
        lifetime=answers.lives_for_scope,
        open_end=answers.end_is_fixed,
        end=answers.own_end,
        reach_below=_after_first,
        sees=_sees_ahead,
    ),
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=True,
        apart=False,
        by_time=answers.ordered_as_first,
        asks_inside=None,
        several=answers.no,
        last_contributor=answers.unknown_last,
    ),
)


def _twice_longer(node: UnlessNth, own: int) -> int:
    """A row begins a scope after its events, and lives for another."""
    return plus(own, own)


def _since_contributor(node: UnlessNth, below: Inputs, reach: int, shown: bool) -> Sequence[int]:
    begins = plus(reach, node.scope)  # the row begins a scope after its events
    return [begins, plus(begins, answers.less(below[0].scope or 0))]


def _sees_back(node: UnlessNth, below: Sequence[Sight]) -> Sight:
    return Sight(node.scope + below[0].back + below[1].back, answers.widest(below).ahead)


UNLESS_NTH: Traits[UnlessNth] = Traits(
    node=UnlessNth,
    text=pattern.pattern_text("UNLESS'", own=("contributor", "scope")),
    shape=_SHAPE,
    keys=_KEYS,
    times=Times(
        own_scope=answers.given_scope,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=False,
        further=lambda _: Further(by_memory=1),
        outlives=_twice_longer,
        undecided=answers.decided,
        start=answers.starts_as_event,
        lifetime=answers.lives_for_scope,
        open_end=answers.end_is_fixed,
        end=answers.own_end,
        reach_below=_since_contributor,
        sees=_sees_back,
    ),
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=False,
        apart=True,
        by_time=answers.no_order_of_time,
        asks_inside=AsksInside(0, deep=True, reason="UNLESS from a contributor on looks inside"),
        several=answers.no,
        last_contributor=answers.unknown_last,
    ),
)
