"""All figures of the demo, for ``--verbose``: what each level cost, and which promise it kept.

Paper: Figure 8 (blocking, state, output), Definitions 3 to 5.  Reading: R35.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cedr.connect.tables import Table
from cedr.model.time import FOREVER, MINUTE, format_timestamp
from cedr_demo.agreement import Agreement, Kept
from cedr_demo.watching import Peak, Watching


@dataclass(frozen=True, slots=True)
class Closing:
    """A table and what follows from it."""

    table: Table
    lines: tuple[str, ...]


def closing(watching: Watching, peaks: Sequence[Peak], found: Agreement) -> Closing:
    """The long table."""
    accounts = list(watching.accounts.values())
    at = format_timestamp(found.time)[:19]
    rows: list[tuple[str, str, list[str], str]] = [
        ("blocking", "an alert waits, on average", [_minutes(each.usual_wait) for each in accounts], ""),
        ("", "the longest", [_minutes(each.longest) for each in accounts], ""),
        ("", "messages held, at most", [f"{each.held:,}" for each in peaks], ""),
        ("state", "events kept, at most", [f"{each.state_rows:,}" for each in peaks], ""),
        ("", "KiB, room to grow included", [f"{each.state_bytes / 1024:,.0f}" for each in peaks], ""),
        ("output", "alerts emitted", [f"{each.said:,}" for each in accounts], ""),
        ("", "retracted", [f"{each.removed + each.closed:,}" for each in accounts], ""),
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
        "an alert waits from the arrival of its last event on, on the clock of the events",
        f"the last sync point is {at} UTC",
        "WEAK has the state of a run at WEAK alone; in one run MIDDLE and WEAK share their operators",
    )
    return Closing(table, (*(f"({note})" for note in notes), "", *map(_promise, found.levels), letters))


def _promise(kept: Kept) -> str:
    """What a level promises, and whether it kept the promise.  Reading: R35."""
    whole = kept.level.memory.duration == FOREVER
    what = "all that is true up to the sync point" if whole else "what is alive at the sync point"
    found = "kept" if kept.promise else "BROKEN"
    return f"{kept.level.name:<6} promises {what}: {found}"


def _minutes(duration: int) -> str:
    return f"{duration / MINUTE:,.1f} min"
