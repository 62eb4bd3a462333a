"""ATMOST, and the sliding count that it is made of.  Paper: Section 3.3.2.  Readings: R14, R22."""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.schema import DataType
from cedr.model.time import plus
from cedr.plan.logical import COUNT_NAME, AtMost, SlidingCount
from cedr.plan.traits import answers, pattern
from cedr.plan.traits.record import Composition, Further, Groups, Inputs, Keys, Origin, Shape, Sight, Times, Traits


def _all_inputs(node: AtMost | SlidingCount) -> tuple[int, ...]:
    """A further event makes the count larger.  Reading: R14."""
    return tuple(range(len(node.parameters)))


def _bound(node: AtMost | SlidingCount, below: Inputs) -> frozenset[str]:
    """A row has one contributor."""
    return answers.bound_by_all(node, below) if len(below) == 1 else frozenset()


def _groups(node: AtMost | SlidingCount) -> Groups:
    return Groups(
        tuple(zip(*node.keys, strict=True)),
        "ATMOST without CorrelationKey counts over the whole stream",
        "ATMOST counts by another key",
    )


def _counted_before(node: AtMost, below: Inputs, reach: int, shown: bool) -> Sequence[int]:
    return [plus(reach, answers.less(node.scope))] * len(below)


def _sees(node: AtMost | SlidingCount, below: Sequence[Sight]) -> Sight:
    widest = answers.widest(below)
    return Sight(node.scope + widest.back, widest.ahead)


def _count_alone(node: SlidingCount) -> dict[str, DataType]:
    return {COUNT_NAME: DataType.INTEGER}


_KEYS: Keys[AtMost | SlidingCount] = Keys(
    meeting=answers.one_meets,
    by_itself=answers.no,
    groups=_groups,
    compares_rows=False,
    ordered=answers.yes,
    nulls_matter=pattern.no_nulls_matter,
)
_COMPOSITION: Composition[AtMost | SlidingCount] = Composition(
    not_in_stages=answers.in_stages,
    composite=False,
    apart=False,
    by_time=answers.no_order_of_time,
    asks_inside=None,
    several=answers.no,
    last_contributor=answers.unknown_last,
)

AT_MOST: Traits[AtMost] = Traits(
    node=AtMost,
    text=pattern.pattern_text("ATMOST", own=("count", "scope"), keys=True),
    shape=Shape(
        negated=answers.nothing_negated,
        against=_all_inputs,
        certain=_bound,
        hides_variables=False,
        same_row=False,
        row_by_row=False,
        merges_versions=False,
        payload=answers.no_payload,
        origin=Origin.OPERANDS,
        predicates=pattern.injected,
        expressions=pattern.injected,
    ),
    keys=_KEYS,
    times=Times(
        own_scope=answers.given_scope,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=False,
        further=lambda _: Further(by_memory=1),
        outlives=pattern.own_scope_longer,
        undecided=answers.decided,
        start=answers.starts_as_event,
        lifetime=answers.lives_for_scope,
        open_end=answers.end_is_fixed,
        end=answers.own_end,
        reach_below=_counted_before,
        sees=_sees,
    ),
    composition=_COMPOSITION,
)

SLIDING_COUNT: Traits[SlidingCount] = Traits(
    node=SlidingCount,
    text=pattern.pattern_text("SLIDING COUNT", own=("scope",), keys=True),
    shape=Shape(
        negated=answers.nothing_negated,
        against=_all_inputs,
        certain=_bound,
        hides_variables=False,
        same_row=False,
        row_by_row=False,
        merges_versions=False,
        payload=_count_alone,
        origin=Origin.OPERANDS,
        predicates=pattern.injected,
        expressions=pattern.injected,
    ),
    keys=_KEYS,
    times=Times(
        own_scope=answers.given_scope,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=False,
        further=lambda _: Further(by_memory=1),
        outlives=pattern.own_scope_longer,
        undecided=answers.decided,
        start=answers.starts_as_event,
        lifetime=answers.lives_for_scope,
        open_end=answers.end_is_fixed,
        end=answers.own_end,
        reach_below=answers.endless_reach,
        sees=_sees,
    ),
    composition=_COMPOSITION,
)
