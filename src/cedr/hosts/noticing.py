"""What a user should be told about the data a query is asked of: each thing once, with a number and what to do.

Readings: R33 (guarantees), R39 (late events), R49 (ties).
"""

from __future__ import annotations

from collections.abc import Iterator

from cedr.data.arriving import Arriving
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.model.level import ConsistencyLevel
from cedr.model.time import FOREVER, format_duration
from cedr.plan.compile import CompiledQuery
from cedr.plan.logical import Source, walk


def noticed(query: CompiledQuery, arriving: Arriving) -> list[Diagnostic]:
    """What can be told before the query runs."""
    return [*_missing(query, arriving), *_late(arriving)]


def _warning(code: str, primary: str, detail: str = "", hint: str = "") -> Diagnostic:
    return Diagnostic(code=code, primary=primary, detail=detail, hint=hint, severity="warning")


def _missing(query: CompiledQuery, arriving: Arriving) -> Iterator[Diagnostic]:
    """Types that the query reads and of which nothing came: perhaps misspelt."""
    seen: dict[str, int] = {}
    for loaded in arriving.sources:
        for name, count in loaded.types_seen.items():
            seen[name] = seen.get(name, 0) + count
    there = ", ".join(f"{name} ({count:,})" for name, count in seen.items() if count) or "none"
    for name in dict.fromkeys(node.type.name for node in walk(query.plan) if isinstance(node, Source)):
        if not seen.get(name):
            yield _warning("no-messages", f'no events of type "{name}" came', f"the events are of type: {there}")


def _late(arriving: Arriving) -> Iterator[Diagnostic]:
    late = arriving.late()
    if late:
        bounds = sorted(
            {each.source.words.disorder for each in arriving.sources if each.source.words.disorder is not None}
        )
        many = f"{late:,} events come" if late > 1 else "1 event comes"
        primary = f"{many} later than the declared disorder ({', '.join(map(format_duration, bounds))}) allows"
        detail = "this result has them; a stream that has passed their time would not use them"
        yield _warning("later-than-disorder", primary, detail, "declare a larger disorder if they matter")


def of_ties(count: int) -> list[Diagnostic]:
    """What is told once at the end of a bounded run: how many events are tied.  Reading: R49."""
    if not count:
        return []
    primary = f"{count:,} events have the same time as another one that they could be matched with"
    detail = "patterns take events in the strict order of time: events of equal time never follow each other"
    return [_warning("ties", primary, detail, "WITH TIES behind the scope lets them: SEQUENCE(A, B, 1 hour WITH TIES)")]


def on_stream(arriving: Arriving, level: ConsistencyLevel) -> list[Diagnostic]:
    """What is to be said of a change stream: one that waits for guarantees which never come."""
    if level.blocking.duration < FOREVER or arriving.guaranteed():
        return []
    primary = f"{level} waits for guarantees, and these data give none: everything is emitted at the end"
    hint = "say how late events may be: disorder"
    return [_warning("no-guarantee", primary, "", hint)]
