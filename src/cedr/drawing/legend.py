"""What the shapes of a drawing mean; only those that occur in it are named."""

from __future__ import annotations

from collections.abc import Iterator

from cedr.drawing import shapes
from cedr.drawing.choice import Shown
from cedr.drawing.layout import Scale
from cedr.drawing.shapes import Point
from cedr.drawing.story import Arrival, State
from cedr.drawing.words import width
from cedr.model.time import FOREVER

_SIZE, _SAMPLE, _LINE = 11.0, 26.0, 19.0

_ARRIVALS = {
    Arrival.UNKNOWN: "event",
    Arrival.ON_TIME: "event, on time",
    Arrival.LATE: "late event, and how late it came",
    Arrival.DERIVED: "row of another query",
}
_STATES = {
    State.STANDS: "row, while it is valid",
    State.CLOSED: "row, no longer believed",
    State.AGAIN: "retracted, then emitted again",
    State.RETRACTED: "emitted, then retracted",
    State.STRAY: "emitted, not in the result",
}


def legend(shown: Shown, scale: Scale, corner: Point, room: float) -> tuple[list[str], float]:
    """The samples with their words, in as many lines as they need, and where they end."""
    parts: list[str] = []
    x, y = corner
    for sample, words in _entries(shown, scale):
        across = _SAMPLE + width(words, _SIZE) + 20
        if x > corner[0] and x + across > corner[0] + room:
            x, y = corner[0], y + _LINE
        parts.append(f'<g transform="translate({shapes.number(x)} {shapes.number(y)})">{sample}')
        parts.append(shapes.text((_SAMPLE, 4), words, _SIZE, style="quiet") + "</g>")
        x += across
    return parts, (y + _LINE if parts else corner[1])


def _entries(shown: Shown, scale: Scale) -> Iterator[tuple[str, str]]:
    for arrival, words in _ARRIVALS.items():
        if any(dot.arrival is arrival for dot in shown.dots):
            reach = (
                shapes.path("late whisker", "M", 9, 0, "H", 20, "M", 20, -3, "v", 6) if arrival is Arrival.LATE else ""
            )
            yield reach + shapes.symbol((9, 0), arrival), words
    if any(dot.retracted for dot in shown.dots):
        yield shapes.symbol((9, 0), Arrival.ON_TIME, hollow=True), "retracted event"
    for state, words in _STATES.items():
        if any(bar.state is state for bar in shown.bars):
            yield shapes.path(f"bar {state.value}", "M", 0, -5, "H", 20, "V", 5, "H", 0, "Z"), words
    if any(bar.shortened for bar in shown.bars) or any(dot.shortened for dot in shown.dots):
        yield shapes.line((10, -7), (10, 7), "mark"), "end moved by a retraction"
    if any(scale.end < bar.event.valid_end < FOREVER for bar in shown.bars):
        yield (
            shapes.path("bar stands", "M", 0, -5, "H", 15, "L", 20, 0, "L", 15, 5, "H", 0, "Z"),
            "ends later than shown",
        )
    if any(bar.event.valid_end == FOREVER for bar in shown.bars):
        yield shapes.text((4, 5), "∞", 14, style="quiet"), "fades out: valid forever"
    if any(shown.links):
        yield shapes.path("link", "M", 3, -6, "C", 3, 2, 16, -2, 16, 6), "from events to the row made of them"
