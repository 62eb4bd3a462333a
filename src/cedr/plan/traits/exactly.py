"""EXACTLY.  Paper: Section 3.3.2, "Event Sequencing" and "Negation".  Readings: R12, R21, R46.

What is not said here is as in ATLEAST: its rows are some of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cedr.plan.logical import AtLeast, Exactly
from cedr.plan.traits import answers, pattern
from cedr.plan.traits.at_least import AT_LEAST
from cedr.plan.traits.record import Further, Sight, Traits, Undecided


def _leaves_out(node: AtLeast) -> bool:
    """Whether some parameters are not filled."""
    return node.count < len(node.parameters)


def _against(node: AtLeast) -> tuple[int, ...]:
    """An event of any parameter takes away the rows that leave that parameter out."""
    return tuple(range(len(node.parameters))) if _leaves_out(node) else ()


def _meeting(node: AtLeast) -> int:
    """A single contributor still meets the events that must not be there."""
    return max(node.count, min(2, len(node.parameters)))


def _undecided(node: AtLeast) -> Undecided | None:
    if not _leaves_out(node) and not pattern.chooses_last(node):
        return None
    return Undecided((node.scope,) * len(node.parameters), "an undecided instance")


def _further(node: AtLeast) -> Further:
    """What is undecided reaches a scope back, choices as far again on either side."""
    return Further(2, 2) if pattern.chooses(node) else Further(by_guarantee=1)


def _sees(node: AtLeast, below: Sequence[Sight]) -> Sight | None:
    widest = answers.widest(below)
    return None if pattern.chooses(node) else Sight(node.scope + widest.back, node.scope + widest.ahead)


EXACTLY: Traits[AtLeast] = Traits(
    node=Exactly,
    text=pattern.pattern_text("EXACTLY", own=("count", "scope"), flags=pattern.WITH_TIES),
    shape=replace(AT_LEAST.shape, against=_against),
    keys=replace(AT_LEAST.keys, meeting=_meeting, by_itself=answers.no),
    times=replace(
        AT_LEAST.times,
        own_scope=answers.given_scope,
        further=_further,
        undecided=_undecided,
        sees=_sees,
    ),
    composition=AT_LEAST.composition,
)
