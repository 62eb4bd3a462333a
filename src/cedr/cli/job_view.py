"""A running job on the terminal: for each query what it does, what it costs, and which source holds it back."""

from __future__ import annotations

from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from cedr.jobs.figures import Figures
from cedr.jobs.journal import shown_time

_HEADS = ("query", "level", "held", "state", "inserts", "retracted", "late", "final up to", "held back by")


class JobView:
    """Draws the figures of a job on standard error, over and over in one place."""

    def __init__(self, figures: Figures, *, timestamps: bool) -> None:
        self._figures, self._timestamps = figures, timestamps
        self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=False)
        self._live.start()

    def draw(self, state: str) -> None:
        """Draw what the figures are now."""
        self._live.update(self._drawn(state), refresh=True)

    def close(self) -> None:
        """Leave the last picture where it is."""
        self._live.stop()

    def _drawn(self, state: str) -> RenderableType:
        figures = self._figures
        table = Table(box=None, pad_edge=False, header_style="bold")
        for place, head in enumerate(_HEADS):
            justify: JustifyMethod = "right" if 2 <= place <= 6 else "left"
            table.add_column(head, justify=justify, no_wrap=not place)
        notes = []
        for each in figures.queries:
            of = each.measures
            table.add_row(
                each.query,
                str(of.level),
                f"{of.held:,}",
                f"{of.total_rows:,}",
                f"{of.inserts:,}",
                f"{of.retractions:,}",
                f"{of.late:,}",
                shown_time(each.guarantee, timestamps=self._timestamps),
                each.held_back_by or "",
            )
            if each.why:
                notes.append(f"{each.query} waits for {each.held_back_by}: {each.why}")
        head = (
            f"{figures.name}: {state}, batch {figures.batch:,}, {figures.rows:,} rows, {figures.rate:,.0f} rows/s, "
            f"{figures.seconds:.2f} s a batch, {figures.rejected:,} dead letters"
        )
        return Group(Text(head), table, *(Text(note, style="yellow") for note in dict.fromkeys(notes)))
