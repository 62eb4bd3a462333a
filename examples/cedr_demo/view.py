"""How the demo is drawn: a live screen of 80 x 24 on a terminal, plain lines elsewhere; the last screen in both."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from cedr.cli.reporting import say
from cedr.model.time import Time, format_timestamp
from cedr_demo.screen import Screen, introduction

if TYPE_CHECKING:
    from cedr.model.level import ConsistencyLevel
    from cedr_demo.closing import Closing
    from cedr_demo.running import Costs
    from cedr_demo.watching import Step, Utterance, Watching

_NAMED = 3
"""So many retractions of a batch are shown with their reason; the rest is counted."""
_RECENT = 11
"""So many changes of each level stay in sight."""


class View(Protocol):
    """Shows a run while it goes on."""

    def __enter__(self) -> View:
        """Begin to draw."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        """Leave the screen as it should be."""

    def waiting(self, what: str) -> None:
        """Show what the demo waits for."""

    def tick(self) -> None:
        """Time has passed."""

    def begin(self, watching: Watching, where: str) -> None:
        """Show what will arrive."""

    def step(self, step: Step, costs: Sequence[Sequence[Costs]]) -> None:
        """Show one more file, and what was emitted."""

    def close(self, closing: Closing, screen: Screen) -> None:
        """Show the result."""


def view(*, verbose: bool) -> View:
    """Live on a terminal, else plain."""
    return LiveView(verbose=verbose) if sys.stdout.isatty() else PlainView(verbose=verbose)


def of_day(time: Time) -> str:
    """The time of day."""
    return format_timestamp(time)[11:19]


def spoken(utterance: Utterance) -> str:
    """A change in a line: which alert, and why it is retracted."""
    told, reason = utterance
    event = told.event
    name = f"{event.payload['machine']!s} down {of_day(event.valid_start)}"
    if told.inserted:
        return f"+ {name}"
    end = "" if told.removes else f" (until {of_day(event.occurrence_end)})"
    return f"- {name}{end}: {reason}"


class PlainView:
    """The last screen on standard output; with ``verbose`` before it a line for each batch, and all figures."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose

    def __enter__(self) -> PlainView:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        sys.stdout.flush()

    def waiting(self, what: str) -> None:
        """Show what the demo waits for: on standard error, for the output is to be the same each time."""
        say(f"{what} ...")

    def tick(self) -> None:
        """Nothing moves here."""

    def begin(self, watching: Watching, where: str) -> None:
        """The last screen says what arrives."""

    def step(self, step: Step, costs: Sequence[Sequence[Costs]]) -> None:  # noqa: ARG002 - View's
        """One more file, and what was emitted; retractions with their reasons."""
        if not self._verbose:
            return
        file = step.file
        if file.number == 1:
            heads = "".join(f"  {level.name:>11}" for level in step.said)
            print(f"file  newest event  messages  late{heads}   (alerts emitted, retracted)")
        cells = "".join(f"  {_counted(said):>11}" for said in step.said.values())
        print(f"{file.number:>4}  {of_day(file.high):>12}  {len(file.messages):>8,}  {len(file.late):>4,}{cells}")
        for level, said in step.said.items():
            back = Counter(spoken(each) for each in said if not each.told.inserted)
            for line, count in list(back.items())[:_NAMED]:
                print(f"      {level.name} {line}{_times(count)}")
            if len(back) > _NAMED:
                print(f"      {level.name} and {sum([*back.values()][_NAMED:])} more")
        sys.stdout.flush()

    def close(self, closing: Closing, screen: Screen) -> None:
        """All figures if they are wanted, and the last screen."""
        if self._verbose:
            print("\n".join(["", closing.table.as_text(), *closing.lines, ""]))
        print("\n".join(screen.lines), flush=True)


def _counted(said: Sequence[Utterance]) -> str:
    inserted = sum(each.told.inserted for each in said)
    return f"+{inserted} -{len(said) - inserted}"


class LiveView:
    """A screen that moves: progress, what each level emitted last, and what it keeps in memory."""

    def __init__(self, *, verbose: bool) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        self._verbose = verbose
        self._console = Console()
        self._spinner = Spinner("dots")
        self._began = monotonic()
        self._waiting = ""
        self._file, self._files = 0, 0
        self._watching: Watching | None = None
        self._costs: Sequence[Costs] = ()
        self._recent: dict[ConsistencyLevel, list[tuple[str, str]]] = {}
        self._newest = self._where = ""
        self._live = Live(console=self._console, refresh_per_second=10, get_renderable=self.drawn, transient=True)

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def waiting(self, what: str) -> None:
        """Show what the demo waits for."""
        self._waiting = what

    def tick(self) -> None:
        """The screen is drawn by its own clock."""

    def begin(self, watching: Watching, where: str) -> None:
        """Show what will arrive."""
        self._watching, self._files, self._where = watching, len(watching.arriving.files), where
        self._recent = {level: [] for level in watching.accounts}

    def step(self, step: Step, costs: Sequence[Sequence[Costs]]) -> None:
        """One more file, and what was emitted."""
        self._waiting = ""
        self._file = step.file.number
        self._newest = of_day(step.file.high)
        self._costs = costs[-1] if costs else ()
        for level, said in step.said.items():  # retractions come last: they are not to be missed
            ordered = sorted(said, key=lambda each: not each.told.inserted)
            lines = Counter((spoken(each), "green" if each.told.inserted else "red") for each in ordered)
            new = [(f"{text} x{count}" if count > 1 else text, style) for (text, style), count in lines.items()]
            self._recent[level] = [*self._recent[level], *new][-_RECENT:]

    def close(self, closing: Closing, screen: Screen) -> None:
        """The live screen goes; the last screen stays, below all figures if they are wanted."""
        from cedr.cli.show import show

        self._live.stop()
        if self._verbose:
            show("", closing.table)
            self._console.print("\n".join(["", *closing.lines, ""]), markup=False, highlight=False)
        for number, line in enumerate(screen.lines):
            self._console.print(_coloured(screen, number, line), soft_wrap=True)

    # -- drawing ------------------------------------------------------------------------------------------------------

    def drawn(self) -> Any:
        """What the screen shows now."""
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
        about = Text("\n".join(introduction(self._watching, self._where)), style="dim")
        return Group(about, Text(), bar, Text(), self._levels(self._watching))

    def _levels(self, watching: Watching) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        drawn = Table(box=SIMPLE_HEAD, expand=True, show_edge=False, pad_edge=False)
        for level in watching.accounts:
            drawn.add_column(level.name, ratio=1, no_wrap=True, overflow="ellipsis")
        columns = []
        for place, (level, account) in enumerate(watching.accounts.items()):
            cost = self._costs[place] if place < len(self._costs) else None
            lines = [
                (f"{account.said:,} alerts", "bold"),
                (f"{account.removed + account.closed:,} retracted", "bold"),
                (f"memory: {cost.kept:,} events" if cost else "", "dim"),
                *self._recent[level],
            ]
            lines += [("", "")] * (_RECENT + 3 - len(lines))
            columns.append(Text("\n").join(Text(text, style) for text, style in lines))
        drawn.add_row(*columns)
        return drawn


_MARKS = {r"(?<= )\+\d*…?": "green", r"(?<= )-\d*…?(?= )": "red", r"(?<= )~\d*…?": "yellow"}


def _coloured(screen: Screen, number: int, line: str) -> Any:
    """A line of the last screen with colours: the marks of the lanes, and the verdict."""
    from rich.text import Text

    if number == screen.verdict:
        return Text(line, "bold green" if screen.holds else "bold red")
    text = Text(line)
    if line.startswith(("STRONG", "MIDDLE", "WEAK")):
        for pattern, style in _MARKS.items():
            text.highlight_regex(pattern, style)
    return text


def _times(count: int) -> str:
    return f" ({count} alerts)" if count > 1 else ""
