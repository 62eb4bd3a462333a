"""SEQUENCE.  Paper: Section 3.3.2, "Event Sequencing".  Readings: R11, R25."""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.modes import Selection
from cedr.model.time import FOREVER, plus
from cedr.plan import logical
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


def _last_is_chosen(node: logical.Sequence) -> bool:
    """LAST on the last parameter is chosen by the future.  Reading: R25."""
    return node.parameters[-1].selection is Selection.LAST


def _undecided(node: logical.Sequence) -> Undecided | None:
    return Undecided((node.scope,) * len(node.parameters), "an undecided choice") if _last_is_chosen(node) else None


def _reach_below(node: logical.Sequence, below: Inputs, reach: int, shown: bool) -> Sequence[int]:
    """An unfrozen row's first contributor lies at most w behind m; choices look further back."""
    choosing = pattern.chooses(node)
    before = plus(reach, _apart(node))
    return [min(before, node.scope) if shown and not choosing else before] * len(below)


def _apart(node: logical.Sequence) -> int:
    """How far before an output's Vs the events lie that bear on it."""
    if len(node.parameters) == 1 and node.parameters[0].selection is Selection.FIRST:
        return FOREVER  # nothing bounds the choice: the first of all time
    return node.scope


def _sees(node: logical.Sequence, below: Sequence[Sight]) -> Sight:
    widest = answers.widest(below)
    return Sight(node.scope + widest.back, (node.scope if _last_is_chosen(node) else 0) + widest.ahead)


def _by_time(node: logical.Sequence, below: Inputs) -> bool:
    """Only what comes first may be composite."""
    return below[0].by_time and all(part.primitive for part in below[1:])


def _size(node: logical.Sequence) -> int:
    return len(node.parameters)


def _last(node: logical.Sequence, below: Inputs) -> int:
    return len(node.parameters)


SEQUENCE: Traits[logical.Sequence] = Traits(
    node=logical.Sequence,
    text=pattern.pattern_text("SEQUENCE", own=("scope",), flags=pattern.WITH_TIES),
    shape=Shape(
        negated=answers.nothing_negated,
        against=answers.none_against,
        certain=answers.bound_by_all,
        hides_variables=False,
        same_row=False,
        row_by_row=False,
        merges_versions=False,
        payload=answers.no_payload,
        origin=Origin.OPERANDS,
        predicates=pattern.injected,
        expressions=pattern.injected,
    ),
    keys=Keys(
        meeting=_size,
        by_itself=answers.no,
        groups=answers.ungrouped,
        compares_rows=False,
        ordered=answers.yes,
        nulls_matter=pattern.no_nulls_matter,
    ),
    times=Times(
        own_scope=answers.given_scope,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=False,
        further=lambda node: Further(by_memory=1) if pattern.chooses(node) else Further(),
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
        by_time=_by_time,
        asks_inside=None,
        several=answers.yes,
        last_contributor=_last,
    ),
)
