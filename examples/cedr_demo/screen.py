"""The last screen of the demo, 80 x 24: the history of one machine, what each level cost, and the verdict.

Paper: Figure 8 (blocking, state, output), Definitions 3 to 5.  Readings: R34 (what WEAK forgets), R35.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from cedr.model.time import DAY, HOUR, MINUTE, format_duration
from cedr_demo.agreement import Agreement
from cedr_demo.arriving import DISORDER
from cedr_demo.lanes import Emitted, Lanes
from cedr_demo.watching import Peak, Watching

WIDTH, HEIGHT = 80, 24
_NAME = 8
"""The width of the names of the lanes."""
_NARROW, _WIDE = 3, 8
"""A column is so wide: two characters and a blank, or more where there are few columns."""
_LEGEND = "I install  S shutdown  R restart  x withdrawn  + alert  - retracted  ~ corrected"
_ROLES = {
    "STRONG": "when they are final",
    "MIDDLE": "at once, repairs all of them",
    "WEAK": "at once, repairs live ones",
}
_ROW = "{:<6}  {:<28}  {:>6}  {:>6}  {:>7}  {:>9}  {:>6}"


@dataclass(frozen=True, slots=True)
class Screen:
    """Lines of text, and whether every level has kept its promise."""

    lines: tuple[str, ...]
    holds: bool

    @property
    def verdict(self) -> int:
        """The number of the line that says so."""
        return len(self.lines) - 1


def screen(watching: Watching, peaks: Sequence[Peak], found: Agreement, where: str) -> Screen:
    """What is shown at the end."""
    lines = [
        *introduction(watching, where),
        "",
        *_history(watching.histories.chosen(), [kept.level.name for kept in found.levels]),
        "",
        *_figures(watching, peaks, found),
        "",
        _verdict(found),
    ]
    return Screen(tuple(line.rstrip() for line in lines), found.holds)


def introduction(watching: Watching, where: str) -> list[str]:
    """What is asked, and what arrives."""
    counts, scale = watching.arriving.counts, watching.arriving.scale
    asked = (
        f"One query {where}, three levels: machines shut down within 12 hours of an installation that are not up again "
        f"5 minutes later. {counts.events:,} events of {scale.machines:,} machines, {counts.late:,} up to "
        f"{format_duration(DISORDER.delay)} late, {counts.corrected:,} corrected, {counts.retracted:,} withdrawn, in "
        f"{len(watching.arriving.files):,} batches."
    )
    return wrap(asked, WIDTH)


# -- the history of one machine ---------------------------------------------------------------------------------------


def _history(lanes: Lanes, levels: Sequence[str]) -> list[str]:
    """Lanes over the same columns; a column is a batch, or several where there are too many."""
    batches = len(lanes.times)
    columns = min(batches, (WIDTH - _NAME) // _NARROW)
    cell = min(_WIDE, (WIDTH - _NAME) // columns)
    groups = [range(batches * at // columns + 1, batches * (at + 1) // columns + 1) for at in range(columns)]
    start = lanes.times[0] // DAY * DAY
    hours = [f"{(lanes.times[group[-1] - 1] - start) // HOUR}" for group in groups]
    arrived = ["".join(lanes.arrived.get(batch, "") for batch in group) for group in groups]
    rows = [
        ("hour", hours),
        ("on time", [_letters(each, cell, late=False) for each in arrived]),
        ("late", [_letters(each, cell, late=True) for each in arrived]),
        *((level, [_mark(lanes.emitted(level, group), cell) for group in groups]) for level in levels),
    ]
    title = f"Machine {lanes.machine}: what arrived, and what each level emitted (hour: newest event)"
    drawn = (f"{name:<{_NAME}}" + "".join(f"{each:<{cell}}" for each in cells) for name, cells in rows)
    return [title, *drawn, _LEGEND]


def _letters(arrived: str, cell: int, *, late: bool) -> str:
    shown = "".join(
        each.upper() if each.isalpha() and each != "x" else each for each in arrived if each.isupper() != late
    )
    return _fitted(shown or ".", cell)


def _mark(emitted: Emitted, cell: int) -> str:
    if not emitted.kind:
        return "."
    count = max(emitted)
    mark = emitted.kind if count == 1 else f"{emitted.kind}{count}"
    return mark if len(mark) < cell else f"{emitted.kind}…"


def _fitted(letters: str, cell: int) -> str:
    """As many letters as fit, and a sign that there are more."""
    return letters if len(letters) < cell else f"{letters[: cell - 2]}…"


# -- figures ----------------------------------------------------------------------------------------------------------


def _figures(watching: Watching, peaks: Sequence[Peak], found: Agreement) -> list[str]:
    """Delay, wrong alerts, retractions and memory of each level."""
    lines = [_ROW.format("level", "emits alerts", "delay", "wrong", "missing", "retracted", "memory")]
    for (level, account), peak, kept in zip(watching.accounts.items(), peaks, found.levels, strict=True):
        numbers = kept.to.wrong, kept.to.missing, account.removed + account.closed, peak.kept
        cells = _duration(account.usual_wait), *(f"{number:,}" for number in numbers)
        lines.append(_ROW.format(level.name, _ROLES[level.name], *cells))
    return [*lines, *wrap(_notes(peaks, found), WIDTH)]


def _notes(peaks: Sequence[Peak], found: Agreement) -> str:
    _, middle, weak = (peak.kept for peak in peaks)
    figures = f"Mean delay in event time; wrong and missing of {found.meant_to:,} alerts; memory: most events kept."
    if weak >= middle:
        return f"{figures} WEAK keeps as much as MIDDLE here, and the two share one memory."
    share = f"{100 * weak / middle:.0f} %"
    return f"{figures} WEAK alone keeps {share} of what MIDDLE keeps; here the two share one memory."


def _verdict(found: Agreement) -> str:
    if found.holds:
        return f"They agree at the sync point: {found.meant_at:,} live alerts at each level and in the oracle."
    apart = ", ".join(f"{one} and {other}" for one, other in found.apart)
    broken = ", ".join(kept.level.name for kept in found.levels if not kept.promise)
    parts = [f"{apart} differ" if apart else "", f"{broken} differs from the oracle" if broken else ""]
    return f"They do NOT agree at the sync point: {'; '.join(part for part in parts if part)}."


def _duration(duration: int) -> str:
    return f"{duration / HOUR:,.1f} h" if duration >= 2 * HOUR else f"{duration / MINUTE:,.0f} min"
