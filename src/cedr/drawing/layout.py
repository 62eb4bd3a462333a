"""Where everything goes: time to pixels, bars and dots to lines, labels to where there is room for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cedr.drawing.choice import Shown
from cedr.drawing.clock import Clock
from cedr.drawing.story import Arrival, Bar, Dot, Reference
from cedr.drawing.words import payload_text, plain, short_id, shortened, width
from cedr.model.event import Event
from cedr.model.time import FOREVER, SECOND, Time

Label = tuple[float, str, str]
"""Where a text stands, how it is anchored there (start, end), and the text."""

ID_SIZE = 10.5
_RADIUS = 6.0
_FEW_ROWS = 30
"""Up to here each row has a line of its own, with its ID at the left."""
_MOST_SUBLANES = 6
_FEWEST_LETTERS = 7
"""A label that is cut to less says nothing."""
_STRIP, _MARGIN, _PAD = 46.0, 18.0, 10.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Valid time to pixels; what is valid forever, or ends after the picture, reaches ``edge``."""

    start: Time
    end: Time
    left: float
    right: float
    edge: float
    endless: bool
    """Whether a row is valid forever."""

    def x(self, time: Time) -> float:
        """The place of a time; times outside the picture are at its sides."""
        if time > self.end:
            return self.edge
        share = (max(time, self.start) - self.start) / (self.end - self.start)
        return self.left + share * (self.right - self.left)


@dataclass(frozen=True, slots=True)
class Style:
    """The sizes of bars: smaller where there are many lines."""

    step: float
    height: float
    font: float
    longest: float
    """The widest label, in pixels."""


_OWN_LINES = Style(24, 15, 11, 380)
_SHARED_LINES = Style(18, 12, 10, 150)
_MANY_LINES = Style(13, 10.5, 8.5, 130)
_MOST_SHARED = 80
"""Beyond so many lines labels get only the room that is left."""


@dataclass(frozen=True, slots=True)
class PlacedBar:
    """A bar from x to end, centred at y."""

    bar: Bar
    links: tuple[Reference, ...]
    x: float
    end: float
    y: float
    cut: bool
    """Whether it ends after the picture."""
    label: Label | None

    @property
    def endless(self) -> bool:
        """Valid forever."""
        return self.bar.event.valid_end == FOREVER


@dataclass(frozen=True, slots=True)
class PlacedDot:
    """A dot, with the end of its lifetime and the high-water mark at its arrival, where they are to be seen."""

    dot: Dot
    x: float
    y: float
    end: float | None
    high: float | None
    label: Label | None


@dataclass(frozen=True, slots=True)
class Lane:
    """The events of one type."""

    name: str
    top: float
    height: float
    dots: tuple[PlacedDot, ...]


def picture_width(bars: int) -> float:
    """Wider where there is more to show."""
    return 960 if bars <= 60 else 1200 if bars <= 150 else 1500


def own_lines(bars: int) -> bool:
    """Whether each row has a line of its own."""
    return bars <= _FEW_ROWS


def gutter(shown: Shown) -> float:
    """The room at the left for the names of types and the IDs of rows."""
    names = {dot.event.stream for dot in shown.dots}
    ids = {short_id(bar.event.id) for bar in shown.bars} if own_lines(len(shown.bars)) else set()
    widest = max([width(plain(name), 12) for name in names] + [width(name, ID_SIZE) for name in ids], default=0)
    return min(170, max(64, widest + 12)) + _MARGIN


def scale_of(shown: Shown, clock: Clock, total: float) -> Scale:
    """All starts are in the picture, and ends up to one and a half times as long again: one far end bends nothing."""
    events = [*(bar.event for bar in shown.bars), *(dot.event for dot in shown.dots)]
    marks = [event.valid_start for event in events] + [dot.high for dot in shown.dots if dot.high is not None]
    starts = [time for time in marks if time < FOREVER] or [0]
    first, last = min(starts), max(starts)
    ends = [event.valid_end for event in events if event.valid_start < event.valid_end < FOREVER]
    lengths = sorted(_length(bar.event) for bar in shown.bars if _length(bar.event))
    usual = max(last - first, lengths[(len(lengths) - 1) // 2] if lengths else 0)
    end = max(last, min(max(ends, default=last), last + usual + usual // 2))
    if end == first:
        spare = SECOND if clock.timestamps else 1
        first, end = first - spare, end + spare
    open_end = any(bar.event.valid_end > end for bar in shown.bars)
    endless = any(bar.event.valid_end == FOREVER for bar in shown.bars)
    edge = total - _MARGIN
    return Scale(first, end, gutter(shown) + _PAD, edge - (_STRIP if open_end else _PAD), edge, endless)


def _length(event: Event) -> int:
    return 0 if event.valid_end == FOREVER else max(0, event.valid_end - event.valid_start)


def lines_of(intervals: Iterable[tuple[float, float]], most: int | None = None) -> list[int]:
    """The first line on which each interval has room; where the lines are used up, the one that is free soonest."""
    ends: list[float] = []
    taken = []
    for start, end in intervals:
        line = next((number for number, used in enumerate(ends) if used <= start), len(ends))
        if most is not None and line == most:
            line = ends.index(min(ends))
        if line == len(ends):
            ends.append(end)
        ends[line] = max(ends[line], end)
        taken.append(line)
    return taken


def place_bars(shown: Shown, scale: Scale, clock: Clock, top: float) -> tuple[list[PlacedBar], Style, int]:
    """The bars below ``top``, the sizes that were chosen, and the number of lines."""
    spans = [_span(bar.event, scale) for bar in shown.bars]
    texts = [payload_text(bar.event, clock.show, brief=True) or short_id(bar.event.id) for bar in shown.bars]
    lines = list(range(len(spans)))
    style = _OWN_LINES
    if not own_lines(len(spans)):
        style = _SHARED_LINES
        wanted = [width(shortened(text, style.longest, style.font), style.font) for text in texts]
        lines = lines_of(_with_label(span, text, scale) for span, text in zip(spans, wanted, strict=True))
        if max(lines) >= _MOST_SHARED:
            style = _MANY_LINES
            lines = lines_of((start, end + 6) for start, end in spans)
    count = max(lines, default=-1) + 1
    labels = _bar_labels(spans, lines, texts, style, scale)
    placed = [
        PlacedBar(bar, links, span[0], span[1], top + style.step * (line + 0.5), bar.event.valid_end > scale.end, label)
        for bar, links, span, line, label in zip(shown.bars, shown.links, spans, lines, labels, strict=True)
    ]
    return placed, style, count


def _span(event: Event, scale: Scale) -> tuple[float, float]:
    start = scale.x(event.valid_start)
    return start, max(start + 4, scale.x(max(event.valid_end, event.valid_start)))


def _with_label(span: tuple[float, float], text: float, scale: Scale) -> tuple[float, float]:
    start, end = span
    if end - start >= text + 12:
        return start, end + 6
    return (start, end + text + 14) if end + text + 8 <= scale.edge else (start - text - 14, end + 6)


def _bar_labels(
    spans: Sequence[tuple[float, float]], lines: Sequence[int], texts: Sequence[str], style: Style, scale: Scale
) -> list[Label | None]:
    """A label inside its bar, or right or left of it, wherever it fits; shortened where it fits nowhere."""
    on_line: dict[int, list[int]] = {}
    for number in sorted(range(len(spans)), key=lambda number: spans[number]):
        on_line.setdefault(lines[number], []).append(number)
    labels: list[Label | None] = [None] * len(spans)
    for numbers in on_line.values():
        used = scale.left - _PAD
        for number, follower in zip(numbers, [*numbers[1:], None], strict=True):
            free = scale.edge if follower is None else spans[follower][0] - 4
            label = _label(texts[number], spans[number], (used, free), style)
            labels[number] = label
            used = spans[number][1]
            if label is not None and label[1] == "start":
                used = max(used, label[0] + width(label[2], style.font))
    return labels


def _label(text: str, span: tuple[float, float], free: tuple[float, float], style: Style) -> Label | None:
    start, end = span
    whole = shortened(text, style.longest, style.font)
    need = width(whole, style.font)
    inside, right, left = min(end, free[1]) - start - 11, free[1] - end - 8, start - free[0] - 12
    for room, at, anchor in ((inside, start + 6, "start"), (right, end + 5, "start"), (left, start - 6, "end")):
        if room >= need:
            return at, anchor, whole
    room, at, anchor = max(((inside, start + 6, "start"), (right, end + 5, "start"), (left, start - 6, "end")))
    cut = shortened(whole, room, style.font)
    return (at, anchor, cut) if len(cut) >= _FEWEST_LETTERS else None


def place_lanes(shown: Shown, scale: Scale, top: float) -> list[Lane]:
    """A lane for each event type; within one, dots that would touch go to lines of their own."""
    by_type: dict[str, list[Dot]] = {}
    for dot in sorted(shown.dots, key=lambda dot: dot.arrival is Arrival.DERIVED):
        by_type.setdefault(dot.event.stream, []).append(dot)
    lanes = []
    for name, dots in by_type.items():
        lane = _lane(name, sorted(dots, key=lambda dot: (dot.event.valid_start, dot.event.id)), scale, top)
        lanes.append(lane)
        top += lane.height
    return lanes


def _lane(name: str, dots: Sequence[Dot], scale: Scale, top: float) -> Lane:
    spans = [_dot_span(dot, scale) for dot in dots]
    labels: list[Label | None] = [_dot_label(dot, span, scale) for dot, span in zip(dots, spans, strict=True)]
    lines = lines_of(_reach(span, label) for span, label in zip(spans, labels, strict=True))
    step = 20.0
    if max(lines) >= _MOST_SUBLANES - 2:
        labels = [None] * len(dots)
        lines = lines_of((_reach(span, None) for span in spans), _MOST_SUBLANES)
        step = 15.0
    height = 10 + step * (max(lines) + 1)
    placed = []
    for dot, line, label in zip(dots, lines, labels, strict=True):
        x, y = scale.x(dot.event.valid_start), top + 5 + step * (line + 0.5)
        placed.append(PlacedDot(dot, x, y, _dot_end(dot, scale), _dot_high(dot, scale), label))
    return Lane(name, top, height, tuple(placed))


def _dot_end(dot: Dot, scale: Scale) -> float | None:
    event = dot.event
    return scale.x(event.valid_end) if event.valid_start < event.valid_end < FOREVER else None


def _dot_high(dot: Dot, scale: Scale) -> float | None:
    return scale.x(dot.high) if dot.high is not None and dot.high > dot.event.valid_start else None


def _dot_span(dot: Dot, scale: Scale) -> tuple[float, float]:
    x = scale.x(dot.event.valid_start)
    ends = [end for end in (_dot_end(dot, scale), _dot_high(dot, scale)) if end is not None]
    return x - _RADIUS, max([x + _RADIUS, *(end + 2 for end in ends)])


def _dot_label(dot: Dot, span: tuple[float, float], scale: Scale) -> Label:
    text = shortened(short_id(dot.event.id), 90, ID_SIZE)
    if span[1] + 3 + width(text, ID_SIZE) <= scale.edge:
        return span[1] + 3, "start", text
    return span[0] - 3, "end", text


def _reach(span: tuple[float, float], label: Label | None) -> tuple[float, float]:
    if label is None:
        return span[0], span[1] + 1
    need = width(label[2], ID_SIZE) + 8
    return (span[0], span[1] + need) if label[1] == "start" else (span[0] - need, span[1])
