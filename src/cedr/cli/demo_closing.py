"""The end of the demo: what each level cost, and whether all are equal at the last sync point.

Paper: Figure 8 (blocking, state, output), Definitions 3 to 5.  Reading: R35.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cedr.connect.tables import Table
from cedr.evaluation.agreement import Agreement, Kept
from cedr.model.time import FOREVER, MINUTE, format_timestamp
from cedr.spark.demo.watching import Peak, Watching


@dataclass(frozen=True, slots=True)
class Closing:
    """A table and what follows from it."""

    table: Table
    lines: tuple[str, ...]
    holds: bool


def closing(watching: Watching, peaks: Sequence[Peak], found: Agreement) -> Closing:
    """What is shown at the end."""
    accounts = list(watching.accounts.values())
    at = format_timestamp(found.time)[:19]
    rows: list[tuple[str, str, list[str], str]] = [
        ("blocking", "an alert waits, on average", [_minutes(each.usual_wait) for each in accounts], ""),
        ("", "the longest", [_minutes(each.longest) for each in accounts], ""),
        ("", "messages held, at most", [f"{each.held:,}" for each in peaks], ""),
        ("state", "rows, at most", [f"{each.state_rows:,}" for each in peaks], ""),
        ("", "KiB, at most", [f"{each.state_bytes / 1024:,.0f}" for each in peaks], ""),
        ("output", "alerts said", [f"{each.said:,}" for each in accounts], ""),
        ("", "taken back", [f"{each.removed:,}" for each in accounts], ""),
        ("", "closed by a correction", [f"{each.closed:,}" for each in accounts], ""),
        ("up to", "alerts that stand", [f"{kept.to.rows:,}" for kept in found.levels], f"{found.meant_to:,}"),
        ("the sync", "of these wrong", [f"{kept.to.wrong:,}" for kept in found.levels], ""),
        ("point", "missing", [f"{kept.to.missing:,}" for kept in found.levels], ""),
        ("at it", "alerts alive", [f"{kept.at.rows:,}" for kept in found.levels], f"{found.meant_at:,}"),
        ("", "wrong or missing", [f"{kept.at.wrong + kept.at.missing:,}" for kept in found.levels], ""),
    ]
    heads = ("", "", *(kept.level.name for kept in found.levels), "oracle")
    table = Table(
        heads,
        tuple((group, name, *cells, truth) for group, name, cells, truth in rows),
        frozenset(range(2, len(heads))),
    )
    letters = f"{watching.dead_letters:,} dead letters" if watching.dead_letters else "no dead letters"
    notes = (
        "an alert waits from when its last event has come, on the clock of the events",
        "events that may be corrected are kept until a guarantee, at WEAK too",
        f"the last sync point is {at} UTC",
    )
    lines = (*(f"({note})" for note in notes), "", *map(_promise, found.levels), _verdict(found), letters)
    return Closing(table, lines, found.holds)


def _promise(kept: Kept) -> str:
    """What a level promised, and whether it kept it.  Reading: R35."""
    whole = kept.level.memory.duration == FOREVER
    what = "all that is true up to the sync point" if whole else "what is alive at the sync point"
    found = "kept" if kept.promise else "BROKEN"
    return f"{kept.level.name:<6} promises {what}: {found}"


def _verdict(found: Agreement) -> str:
    names = [kept.level.name for kept in found.levels]
    if found.holds:
        return f"{', '.join(names[:-1])} and {names[-1]} are equal at the last sync point, and equal to the oracle."
    apart = ", ".join(f"{one} and {other}" for one, other in found.apart)
    broken = ", ".join(kept.level.name for kept in found.levels if not kept.promise)
    parts = [f"{apart} differ" if apart else "", f"{broken} broke the promise" if broken else ""]
    return f"NOT EQUAL at the last sync point: {'; '.join(part for part in parts if part)}."


def _minutes(duration: int) -> str:
    return f"{duration / MINUTE:,.1f} min"
