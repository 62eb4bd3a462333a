"""What a plan does at a level that surprises nearly everybody, and what to write instead.

Paper: Section 5.  Readings: R15, R16 (the two forms of UNLESS), R33 (blocking delays what comes in and what goes out).
Everything that is said here about alternatives is tested on both hosts: tests/hosts/test_unless_alternatives.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.span import Span
from cedr.model.level import ConsistencyLevel
from cedr.model.time import FOREVER, format_duration, plus
from cedr.plan.analyses.bounds import in_words, undecided_for
from cedr.plan.analyses.facts import Facts
from cedr.plan.logical import Node, Unless, inputs, walk
from cedr.plan.traits.registry import traits_of

CODE = "unless-early"


def unless_note(plan: Node, level: ConsistencyLevel) -> Diagnostic | None:
    """Why rows of UNLESS are emitted and retracted at a level, once for a query; None where they are not."""
    bound = level.effective_blocking
    found = [node for node in walk(plan) if isinstance(node, Unless)]
    if not found or bound.cedr_time or bound.duration == FOREVER:
        return None
    early = [node for node in found if bound.duration < undecided_for(node)]
    if not early:
        return _waits(found, level)
    first, top = early[0], _top(plan)
    wait = max(undecided_for(node) for node in early)
    return Diagnostic(
        CODE,
        _emits(level) if first is top else _inside(level),
        first.span,
        detail=_how_long(first, level, at_top=first is top),
        hint=_bounded_scope() if wait == FOREVER else "\n".join(_alternatives(first, wait, at_top=first is top)),
        related=_others(first, early),
        severity="note",
    )


def _emits(level: ConsistencyLevel) -> str:
    bound = level.effective_blocking.duration
    when = f"{in_words(bound)} after it" if bound else "at once"
    return f"at {level} UNLESS emits a row for each first event {when}, and retracts it when a second event comes"


def _inside(level: ConsistencyLevel) -> str:
    return (
        f"at {level} UNLESS does not wait for its scope: rows may be emitted, and retracted when a second event comes"
    )


def _how_long(node: Unless, level: ConsistencyLevel, *, at_top: bool) -> str:
    """Until when a row may be retracted.  Reading: R34: what is frozen is not touched any more."""
    wait, memory = undecided_for(node), level.memory
    if wait == FOREVER:
        return "a row may be retracted at any time: the scope has no end"
    if memory.duration == FOREVER:
        return f"a row may be retracted until the guarantee is {in_words(wait)} past it"
    if memory.cedr_time or not at_top:
        return "a row may be retracted for as long as it is remembered; after that a wrong row stays"
    known = in_words(plus(memory.duration, wait))
    return f"a row may be retracted until the newest event is {known} past it; after that a wrong row stays"


def _bounded_scope() -> str:
    return "give UNLESS a scope that ends: then there is a deadline to wait for"


def _alternatives(node: Unless, wait: int, *, at_top: bool) -> Iterator[str]:
    """What to write instead, and for each how long a row waits and what may still retract it."""
    length, words = format_duration(wait), in_words(wait)
    yield "to wait for the deadline write one of"
    number = _last_contributor(node.first)
    if at_top and number is not None and node.disjoint is None and wait == node.scope:
        yield f"      UNLESS(…, {number}, {length})"
        yield f"          a row waits until the newest event is {words} past its first event, and holds from then on;"
        yield "          a second event that comes later than that retracts it"
    yield f"      CONSISTENCY BLOCKING {length} MEMORY FOREVER"
    yield f"          a row waits until the newest event is {words} past it;"
    yield "          a second event that no guarantee has reached by then retracts it: add the input's disorder to B"
    yield "      CONSISTENCY STRONG"
    yield f"          a row waits until the guarantee is {words} past it; nothing retracts it;"
    yield "          without guarantees no row is emitted"


def _waits(found: list[Unless], level: ConsistencyLevel) -> Diagnostic:
    """B is at least the scope: whether rows are retracted depends on how far guarantees are behind.  Reading: R33."""
    bound = level.effective_blocking.duration
    spare = bound - max(undecided_for(node) for node in found)
    behind = f"at most {in_words(spare)} behind" if spare else "not behind"
    return Diagnostic(
        CODE,
        f"at {level} UNLESS waits for its deadline, but retracts rows where guarantees are missing or far behind",
        found[0].span,
        detail=f"a second event counts once a guarantee reaches it, or the newest event is {in_words(bound)} past it",
        hint=f"nothing is retracted where the input has guarantees {behind} the newest event (disorder); "
        "CONSISTENCY STRONG waits for them however late they are",
        related=_others(found[0], found),
        severity="note",
    )


def _others(first: Unless, nodes: Iterable[Unless]) -> tuple[tuple[Span, str], ...]:
    spans = dict.fromkeys(node.span for node in nodes if node.span is not None and node.span != first.span)
    return tuple((span, "likewise") for span in spans)


def _top(plan: Node) -> Node:
    """The operator whose rows leave the query as they are."""
    while traits_of(plan).shape.row_by_row:
        (plan,) = inputs(plan)
    return plan


def _last_contributor(node: Node) -> int | None:
    """The number of the contributor that gives a composite its Vs: counted from it, UNLESS means the same.

    Reading: R16.  None where it is not known from the pattern itself.
    """
    return Facts(node).last_contributor
