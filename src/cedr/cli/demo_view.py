"""How the demo is drawn: live tables on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from cedr.model.time import Time, format_duration, format_timestamp

if TYPE_CHECKING:
    from cedr.cli.demo_closing import Closing
    from cedr.model.level import ConsistencyLevel
    from cedr.spark.demo.running import Costs
    from cedr.spark.demo.watching import Step, Utterance, Watching

_NAMED = 3
"""So many retractions of a batch are told in plain lines; the rest is counted."""
_RECENT = 10
"""So many changes of each level stay in sight."""


class View(Protocol):
    """Shows a run while it goes on."""

    def __enter__(self) -> View:
        """Begin to draw."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        """Leave the screen as it should be."""

    def waiting(self, what: str) -> None:
        """Say what is waited for."""

    def tick(self) -> None:
        """Time has passed."""

    def begin(self, watching: Watching) -> None:
        """Say what will arrive."""

    def step(self, step: Step, costs: Sequence[Sequence[Costs]]) -> None:
        """One more file, and what was said."""

    def close(self, closing: Closing) -> None:
        """That was all."""


def view() -> View:
    """Live on a terminal, else plain."""
    return LiveView() if sys.stdout.isatty() else PlainView()


def of_day(time: Time) -> str:
    """The time of day."""
    return format_timestamp(time)[11:19]


def introduction(watching: Watching) -> list[str]:
    """What will arrive."""
    from cedr.spark.demo.arriving import DISORDER

    counts, scale = watching.arriving.counts, watching.arriving.scale
    return [
        f"{counts.events:,} events of {scale.machines:,} machines, one day: {counts.late:,} late by up to "
        f"{format_duration(DISORDER.delay)}, {counts.corrected:,} corrected, {counts.retracted:,} withdrawn;",
        f"they arrive in {len(watching.arriving.files):,} files, one Spark batch each.",
    ]


def spoken(utterance: Utterance) -> str:
    """A change in a line: which alert, and why it is taken back."""
    told, reason = utterance
    event = told.event
    name = f"{event.payload['machine']!s} down {of_day(event.valid_start)}"
    if told.inserted:
        return f"+ {name}"
    end = "" if told.removes else f" (until {of_day(event.occurrence_end)})"
    return f"- {name}{end}: {reason}"


class PlainView:
    """Lines, each printed when it is known."""

    def __enter__(self) -> PlainView:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        sys.stdout.flush()

    def waiting(self, what: str) -> None:
        """Say what is waited for."""
        print(f"{what} ...", flush=True)

    def tick(self) -> None:
        """Nothing moves here."""

    def begin(self, watching: Watching) -> None:
        """Say what will arrive."""
        print("\n".join(["", *introduction(watching), ""]), flush=True)

    def step(self, step: Step, costs: Sequence[Sequence[Costs]]) -> None:  # noqa: ARG002 - View's
        """One more file, and what was said; the retractions by name."""
        file = step.file
        if file.number == 1:
            heads = "".join(f"  {level.name:>11}" for level in step.said)
            print(f"\nfile  newest event  messages  late{heads}   (alerts said, taken back)")
        cells = "".join(f"  {_counted(said):>11}" for said in step.said.values())
        print(f"{file.number:>4}  {of_day(file.high):>12}  {len(file.messages):>8,}  {file.late:>4,}{cells}")
        for level, said in step.said.items():
            back = Counter(spoken(each) for each in said if not each.told.inserted)
            for line, count in list(back.items())[:_NAMED]:
                print(f"      {level.name} {line}{_times(count)}")
            if len(back) > _NAMED:
                print(f"      {level.name} and {sum([*back.values()][_NAMED:])} more")
        sys.stdout.flush()

    def close(self, closing: Closing) -> None:
        """The table, and what follows from it."""
        print("\n".join(["", closing.table.as_text(), *closing.lines]), flush=True)


def _counted(said: Sequence[Utterance]) -> str:
    inserted = sum(each.told.inserted for each in said)
    return f"+{inserted} -{len(said) - inserted}"


class LiveView:
    """A screen that moves: progress, what each level said last, and what it holds."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        self._console = Console()
        self._spinner = Spinner("dots")
        self._began = monotonic()
        self._waiting = ""
        self._file, self._files = 0, 0
        self._watching: Watching | None = None
        self._costs: Sequence[Costs] = ()
        self._recent: dict[ConsistencyLevel, list[tuple[str, str]]] = {}
        self._newest = ""
        self._live = Live(console=self._console, refresh_per_second=10, get_renderable=self._drawn)

    def __enter__(self) -> LiveView:
        self._console.print("CIDR07_Example on Spark, at three levels of consistency", style="bold", markup=False)
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def waiting(self, what: str) -> None:
        """Say what is waited for."""
        self._waiting = what

    def tick(self) -> None:
        """The screen is drawn by its own clock."""

    def begin(self, watching: Watching) -> None:
        """Say what will arrive."""
        self._watching, self._files = watching, len(watching.arriving.files)
        self._console.print("\n".join(introduction(watching)), style="dim", markup=False, highlight=False)
        self._recent = {level: [] for level in watching.accounts}

    def step(self, step: Step, costs: Sequence[Sequence[Costs]]) -> None:
        """One more file, and what was said."""
        self._waiting = ""
        self._file = step.file.number
        self._newest = of_day(step.file.high)
        self._costs = costs[-1] if costs else ()
        for level, said in step.said.items():  # what is taken back comes last: it is not to be missed
            ordered = sorted(said, key=lambda each: not each.told.inserted)
            lines = Counter((spoken(each), "green" if each.told.inserted else "red") for each in ordered)
            new = [(f"{text}{_times(count)}", style) for (text, style), count in lines.items()]
            self._recent[level] = [*self._recent[level], *new][-_RECENT:]

    def close(self, closing: Closing) -> None:
        """The screen goes, the table and what follows from it stays."""
        from cedr.cli.show import show

        self._live.stop()
        show("", closing.table)
        for line in closing.lines:
            equal = line.endswith(".")
            style = ("bold green" if closing.holds else "bold red") if equal else ""
            self._console.print(line, style=style, markup=False, highlight=False)

    # -- drawing ------------------------------------------------------------------------------------------------------

    def _drawn(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        elapsed = f"{monotonic() - self._began:4.0f} s  "
        if self._watching is None or not self._file:
            self._spinner.update(text=Text(f"{elapsed}{self._waiting}"))
            return self._spinner
        bar = Table.grid(padding=(0, 1))
        state = f"file {self._file} of {self._files}, newest event {self._newest}"
        bar.add_row(Text(elapsed), ProgressBar(self._files, self._file, width=30), Text(state))
        return Group(bar, self._levels(self._watching))

    def _levels(self, watching: Watching) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        drawn = Table(box=SIMPLE_HEAD, expand=True, show_edge=False, pad_edge=False)
        for level in watching.accounts:
            drawn.add_column(level.name, ratio=1, no_wrap=True, overflow="ellipsis")
        columns = []
        for place, (level, account) in enumerate(watching.accounts.items()):
            cell = Text()
            cost = self._costs[place] if place < len(self._costs) else None
            cell.append(f"said {account.said:,}  back {account.removed + account.closed:,}\n", "bold")
            cell.append(f"held {cost.held:,}  state {cost.state_rows:,} rows\n" if cost else "\n", "dim")
            lines = self._recent[level]
            for text, style in [*lines, *[("", "")] * (_RECENT - len(lines))]:
                cell.append(f"{text}\n", style)
            columns.append(cell)
        drawn.add_row(*columns)
        return drawn


def _times(count: int) -> str:
    return f" ({count} alerts)" if count > 1 else ""
