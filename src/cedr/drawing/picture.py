"""``draw``: rows, changes and messages as one picture in valid time.

At the top a lane for each type of input events, below it a bar for each output row from Vs to Ve, and thin links from
the events to the rows that they are part of.  Paper: Sections 2 and 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from zlib import crc32

from cedr.diagnostics.exceptions import unwritable
from cedr.drawing import shapes
from cedr.drawing.choice import Shown, choose
from cedr.drawing.clock import Clock, Tick
from cedr.drawing.layout import (
    ID_SIZE,
    Lane,
    PlacedBar,
    PlacedDot,
    Scale,
    own_lines,
    picture_width,
    place_bars,
    place_lanes,
    scale_of,
)
from cedr.drawing.legend import legend
from cedr.drawing.story import Reference, bars_of, dots_of
from cedr.drawing.style import ROOT, style_sheet
from cedr.drawing.words import escaped, plain, short_id, shortened, width
from cedr.model.event import Event
from cedr.model.stream import Change, Insert, Message
from cedr.model.time import Time

_MARGIN, _TITLE, _NOTE = 18.0, 16.0, 12.0
_HEADING, _BAND, _AXIS = 22.0, 34.0, 40.0
_TALL = 700.0
"""From this height on the axis is at the top as well."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture as the text of an SVG file; notebooks show it as it is.

    ``note`` has the counts: rows, retracted rows, late events, and how many of them are shown.
    """

    svg: str = field(repr=False)
    note: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture to a file.  Raises ``StreamError`` where that is not possible."""
        try:
            Path(path).write_text(self.svg, "utf-8")
        except OSError as error:
            raise unwritable(fspath(path), error) from None

    def _repr_svg_(self) -> str:
        return self.svg


def draw(
    rows: Sequence[Event],
    *,
    changes: Sequence[Change] = (),
    messages: Sequence[tuple[int, Message]] = (),
    title: str = "",
    timestamps: bool | None = None,
    limit: int = 300,
) -> Drawing:
    """Draw rows in valid time, with the events that they are made of.

    ``changes`` are what the query emitted: with them the drawing shows rows that were retracted or shortened.
    ``messages`` are the input in the order of arrival, each with its CEDR time: with them it shows all input events,
    and which of them were late or retracted.  ``timestamps`` says whether times are timestamps or plain ticks; unless
    given, the times themselves decide.  At most ``limit`` rows are shown, the first in valid time; the note says so.
    """
    clock = Clock.of(_starts(rows, changes, messages), timestamps)
    shown = choose(bars_of(rows, changes), dots_of(messages), limit)
    return Drawing(_svg(shown, clock, plain(title) or "CEDR result"), shown.note)


def _starts(
    rows: Sequence[Event], changes: Sequence[Change], messages: Sequence[tuple[int, Message]]
) -> Iterator[Time]:
    """The times that decide whether times are timestamps."""
    emitted = (change.event for change in changes if change.event is not None)
    arrived = (message.event for _, message in messages if isinstance(message, Insert))
    return (event.valid_start for event in chain(rows, emitted, arrived))


def _svg(shown: Shown, clock: Clock, title: str) -> str:
    """The whole text: what is said above the picture, the picture, and the axis."""
    across = picture_width(len(shown.bars))
    scale = scale_of(shown, clock, across)
    head, top = _head(shown, scale, title, across)
    name = (
        f"cedr-{crc32(repr((title, shown.note, [bar.event.id for bar in shown.bars])).encode('utf-8', 'replace')):08x}"
    )
    body, depth = _body(shown, clock, scale, name) if shown.bars or shown.dots else _nothing()
    ticks = clock.ticks(scale.start, scale.end, scale.right - scale.left) if shown.bars or shown.dots else []
    above = list(shapes.axis(ticks, scale, top, upwards=True)) if depth > _TALL and ticks else []
    start = top + (_AXIS if above else 0)
    below, total = _foot(list(ticks), scale, clock, start + depth)
    words = f"{clock.show(scale.start)} to {clock.show(scale.end)}" if ticks else "no time"
    size = shapes.number(across), shapes.number(total)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{ROOT}" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}" role="img" aria-labelledby="{name}-title {name}-desc">',
        f'<title id="{name}-title">{escaped(title)}</title>',
        f'<desc id="{name}-desc">{escaped(f"{shown.note}. Valid time from {words}.")}</desc>',
        style_sheet(),
        shapes.box((0, 0), (across, total), "ground"),
        *head,
        *above,
        f'<g transform="translate(0 {shapes.number(start)})">',
        *shapes.grid(ticks, scale, 0, depth),
        *body,
        "</g>",
        *below,
        "</svg>",
        "",
    ]
    return "\n".join(parts)


def _head(shown: Shown, scale: Scale, title: str, across: float) -> tuple[list[str], float]:
    """Title, note and legend, and where they end."""
    room = across - 2 * _MARGIN
    lines = [shapes.text((_MARGIN, 30), shortened(title, room / 1.1, _TITLE), _TITLE, style="strong")]
    y = 50.0
    for part in _wrapped(shown.note.split("; "), room):
        lines.append(shapes.text((_MARGIN, y), part, _NOTE, style="quiet"))
        y += 16
    key, y = legend(shown, scale, (_MARGIN, y + 8), room)
    return [*lines, *key], y


def _wrapped(parts: Sequence[str], room: float) -> list[str]:
    lines = [""]
    for part in parts:
        longer = f"{lines[-1]}; {part}" if lines[-1] else part
        if lines[-1] and width(longer, _NOTE) > room:
            lines.append(part)
        else:
            lines[-1] = longer
    return lines


def _body(shown: Shown, clock: Clock, scale: Scale, name: str) -> tuple[list[str], float]:
    """Lanes, links and bars, from 0 downwards, and how far down they go."""
    lanes = place_lanes(shown, scale, _HEADING if shown.dots else 0)
    upper = lanes[-1].top + lanes[-1].height if lanes else 0.0
    dots = {dot.dot.event.reference: dot for lane in lanes for dot in lane.dots}
    lower = upper + (_BAND if _crossing(shown, dots, scale) else 0)
    top = lower + _HEADING
    bars, style, lines = place_bars(shown, scale, clock, top)
    count = sum(map(len, shown.links))
    opacity = 0.7 if count <= 40 else 0.4 if count <= 200 else 0.22
    endless = sorted({bar.bar.state for bar in bars if bar.endless}, key=lambda state: state.value)
    parts = [f"<defs>{''.join(shapes.fades(endless, scale, name))}</defs>"] if endless else []
    for number, lane in enumerate(lanes):
        if number % 2 == 0:
            parts.append(shapes.box((_MARGIN, lane.top), (scale.edge - _MARGIN, lane.height), "band"))
    # From the bottom up: the links of a row never lie over the rows above it.
    parts += [
        shapes.row(bar, clock, style, shapes.links(bar, dots, (upper, lower), opacity), name) for bar in reversed(bars)
    ]
    parts += [shapes.dot(dot, clock) for lane in lanes for dot in lane.dots]
    parts += _names(shown, lanes, bars, scale)
    parts.append(
        shapes.text((_MARGIN, lower + 14), "output rows" if shown.bars else "no output rows", 11, style="quiet")
    )
    return parts, top + style.step * lines + 8


def _crossing(shown: Shown, dots: Mapping[Reference, PlacedDot], scale: Scale) -> bool:
    """Whether a link goes across: then it needs room between the events and the rows."""
    pairs = zip(shown.bars, shown.links, strict=True)
    return any(dots[name].x != scale.x(bar.event.valid_start) for bar, names in pairs for name in names)


def _names(shown: Shown, lanes: Sequence[Lane], bars: Sequence[PlacedBar], scale: Scale) -> Iterator[str]:
    """The names of the event types, and the IDs of rows that have a line of their own."""
    if lanes:
        known = any(dot.lineages for dot in shown.dots)
        yield shapes.text((_MARGIN, 14), "input events" if known else "contributors", 11, style="quiet")
    room = scale.left - 2 * _MARGIN
    for lane in lanes:
        words = shortened(plain(lane.name), room, 12)
        yield shapes.text((_MARGIN + 6, lane.top + lane.height / 2 + 4), words, 12)
    if own_lines(len(bars)):
        for bar in bars:
            words = shortened(short_id(bar.bar.event.id), room, ID_SIZE)
            yield shapes.text((_MARGIN + 6, bar.y + 4), words, ID_SIZE, style="quiet")


def _nothing() -> tuple[list[str], float]:
    words = "There are no rows and no events to draw."
    return [shapes.text((_MARGIN, 30), words, 13, style="quiet")], 54.0


def _foot(ticks: list[Tick], scale: Scale, clock: Clock, y: float) -> tuple[list[str], float]:
    """The axis with its caption, and where they end."""
    if not ticks:
        return [], y
    deep = y + (48 if any(tick.context for tick in ticks) else 33)
    middle = (scale.left + scale.edge) / 2
    caption = shapes.text((middle, deep), f"valid time ({clock.unit})", 11, style="quiet", anchor="middle")
    return [*shapes.axis(ticks, scale, y), caption], deep + 12
