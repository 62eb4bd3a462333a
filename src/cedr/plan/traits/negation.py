"""NOT and CANCEL-WHEN: no event between those that a row is made of.  Paper: Section 3.3.2.  Readings: R17, R18."""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.time import plus
from cedr.plan.logical import CancelWhen, Not
from cedr.plan.traits import answers, pattern
from cedr.plan.traits.record import AsksInside, Composition, Further, Inputs, Keys, Origin, Shape, Sight, Times, Traits


def _sees_both(node: Not | CancelWhen, below: Sequence[Sight]) -> Sight:
    return Sight(below[0].back + below[1].back, answers.widest(below).ahead)


# -- NOT --------------------------------------------------------------------------------------------------------------


def _bound_by_sequence(node: Not, below: Inputs) -> frozenset[str]:
    return below[1].certain


def _of_sequence(node: Not, below: Inputs) -> int:
    return below[1].scope or 0


def _with_negated(node: Not, own: int | None, below: Inputs) -> int:
    return plus(own or 0, below[0].scope or 0)


def _lives_as_sequence(node: Not, below: Inputs) -> int:
    return below[1].lifetime


def _end_of_sequence(node: Not, below: Inputs) -> bool:
    return below[1].open_end


def _after_first(node: Not, below: Inputs, reach: int, shown: bool) -> Sequence[int]:
    """The negated event lies after the first contributor."""
    before, alive = plus(reach, answers.less(below[1].scope or 0)), below[1].lifetime
    return [min(before, alive) if shown else before, reach]


NOT: Traits[Not] = Traits(
    node=Not,
    text=pattern.pattern_text("NOT"),
    shape=Shape(
        negated=lambda _: 0,
        against=lambda _: (0,),
        certain=_bound_by_sequence,
        hides_variables=False,
        same_row=False,
        row_by_row=False,
        merges_versions=False,
        payload=1,
        origin=Origin.OPERANDS,
        predicates=pattern.injected,
        expressions=pattern.injected,
    ),
    keys=Keys(
        meeting=answers.two_meet,
        by_itself=answers.no,
        groups=answers.ungrouped,
        compares_rows=False,
        ordered=answers.yes,
        nulls_matter=lambda _: (False, True),
    ),
    times=Times(
        own_scope=_of_sequence,
        scope=_with_negated,
        while_alive=False,
        tells_need=False,
        further=answers.no_further,
        outlives=pattern.own_scope_longer,
        undecided=answers.decided,
        start=answers.starts_as_event,
        lifetime=_lives_as_sequence,
        open_end=_end_of_sequence,
        end=answers.end_of_inputs,
        reach_below=_after_first,
        sees=_sees_both,
    ),
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=True,
        apart=False,
        by_time=answers.no_order_of_time,
        asks_inside=AsksInside(1, deep=False, reason="NOT looks inside its SEQUENCE"),
        several=answers.no,
        last_contributor=answers.unknown_last,
    ),
)


# -- CANCEL-WHEN ------------------------------------------------------------------------------------------------------


def _of_first(node: CancelWhen, below: Inputs) -> int:
    return below[0].scope or 0


def _with_second(node: CancelWhen, own: int | None, below: Inputs) -> int:
    return plus(own or 0, below[1].scope or 0)


def _since_root(node: CancelWhen, below: Inputs, reach: int, shown: bool) -> Sequence[int]:
    return [reach, plus(reach, answers.less(below[0].scope or 0))]


CANCEL_WHEN: Traits[CancelWhen] = Traits(
    node=CancelWhen,
    text=pattern.pattern_text("CANCEL-WHEN", flags=[("from_root", "from", "ROOT")]),
    shape=Shape(
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
    ),
    keys=Keys(
        meeting=answers.two_meet,
        by_itself=answers.no,
        groups=answers.ungrouped,
        compares_rows=False,
        ordered=answers.yes,
        nulls_matter=lambda _: (True, False),
    ),
    times=Times(
        own_scope=_of_first,
        scope=_with_second,
        while_alive=False,
        tells_need=False,
        further=lambda _: Further(by_memory=1),
        outlives=pattern.own_scope_longer,
        undecided=answers.decided,
        start=answers.starts_as_event,
        lifetime=answers.lives_as_first,
        open_end=answers.end_of_first,
        end=answers.end_of_inputs,
        reach_below=_since_root,
        sees=_sees_both,
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
