"""Bars, dots, links, axis and text as elements of SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cedr.drawing.accounts import bar_account, dot_account
from cedr.drawing.clock import SIZE, Clock, Tick
from cedr.drawing.layout import ID_SIZE, Label, PlacedBar, PlacedDot, Scale, Style
from cedr.drawing.story import Arrival, Reference, State
from cedr.drawing.words import escaped, width

Point = tuple[float, float]


def number(value: float) -> str:
    """A coordinate: one digit after the point is enough for the eye, and the same on every machine."""
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def text(place: Point, words: str, size: float, *, style: str = "", anchor: str = "start") -> str:
    """A text at a place."""
    marked = f' class="{style}"' if style else ""
    anchored = f' text-anchor="{anchor}"' if anchor != "start" else ""
    x, y = map(number, place)
    return f'<text x="{x}" y="{y}" font-size="{number(size)}"{marked}{anchored}>{escaped(words)}</text>'


def line(start: Point, end: Point, style: str) -> str:
    """From one point to another."""
    (x1, y1), (x2, y2) = (map(number, point) for point in (start, end))
    return f'<line class="{style}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def box(corner: Point, size: Point, style: str) -> str:
    """A rectangle by its upper left corner."""
    (x, y), (across, down) = (map(number, pair) for pair in (corner, size))
    return f'<rect class="{style}" x="{x}" y="{y}" width="{across}" height="{down}"/>'


def path(style: str, *steps: str | float, paint: str = "") -> str:
    """A path: letters and coordinates."""
    drawn = " ".join(step if isinstance(step, str) else number(step) for step in steps)
    return f'<path class="{style}"{paint} d="{drawn}"/>'


# -- output rows ------------------------------------------------------------------------------------------------------


def row(placed: PlacedBar, clock: Clock, style: Style, links: Iterable[str], fade: str) -> str:
    """A row: its links, its bar, the mark of a moved end, its label; the tooltip is for all of them."""
    parts = [f"<title>{escaped(bar_account(placed.bar, clock))}</title>", *links, _bar(placed, style.height, fade)]
    if placed.bar.shortened and not placed.endless:
        reach = style.height / 2 + 3
        parts.append(line((placed.end, placed.y - reach), (placed.end, placed.y + reach), "mark"))
    if placed.label is not None:
        x, anchor, words = placed.label
        inside = anchor == "start" and x < placed.end
        gone = " gone" if placed.bar.state is State.RETRACTED else ""
        marks = ("" if inside else "halo") + gone
        parts.append(text((x, placed.y + style.font * 0.36), words, style.font, style=marks.strip(), anchor=anchor))
    return f'<g class="row">{"".join(parts)}</g>'


def _bar(placed: PlacedBar, height: float, fade: str) -> str:
    x, end, top, bottom = placed.x, placed.end, placed.y - height / 2, placed.y + height / 2
    state = placed.bar.state.value
    if placed.endless:
        paint = f' style="fill:url(#{fade}-fill-{state});stroke:url(#{fade}-edge-{state})"'
        return path(f"bar {state}", "M", end, top, "H", x, "V", bottom, "H", end, paint=paint)
    tip = 6.0 if placed.cut else 0.0
    turn = ("L", end, placed.y, "L", end - tip, bottom) if tip else ("V", bottom)
    return path(f"bar {state}", "M", x, top, "H", end - tip, *turn, "H", x, "Z")


def links(
    placed: PlacedBar, dots: Mapping[Reference, PlacedDot], band: tuple[float, float], opacity: float
) -> list[str]:
    """From each contributor down to the band between events and rows, across, and down to the start of the bar."""
    upper, lower = band
    found = [dots[name] for name in placed.links]
    if not found:
        return []
    middle = (upper + lower) / 2
    steps: list[str | float] = []
    for dot in found:
        steps += ["M", dot.x, dot.y, "V", upper, "C", dot.x, middle, placed.x, middle, placed.x, lower]
    steps += ["M", placed.x, lower, "V", placed.y]
    return [path("link", *steps, paint=f' opacity="{opacity:.2f}"')]


def fades(states: Iterable[State], scale: Scale, name: str) -> Iterator[str]:
    """The gradients by which bars without an end fade out at the right."""
    x1, x2 = number(scale.right), number(scale.edge)
    for state in states:
        for part in ("fill", "edge"):
            stops = (f'<stop class="{part}-{state.value}" offset="{at}" stop-opacity="{1 - at}"/>' for at in (0, 1))
            yield (
                f'<linearGradient id="{name}-{part}-{state.value}" gradientUnits="userSpaceOnUse" '
                f'x1="{x1}" y1="0" x2="{x2}" y2="0">{"".join(stops)}</linearGradient>'
            )


# -- input events -----------------------------------------------------------------------------------------------------


def dot(placed: PlacedDot, clock: Clock) -> str:
    """An event: its lifetime, how late it was, the dot itself, its ID."""
    kind, x, y = placed.dot.arrival.value, placed.x, placed.y
    parts = [f"<title>{escaped(dot_account(placed.dot, clock))}</title>"]
    if placed.end is not None:
        parts.append(box((x, y - 2.5), (max(1.0, placed.end - x), 5), f"life {kind}"))
    if placed.dot.shortened and placed.end is not None:
        parts.append(line((placed.end, y - 5), (placed.end, y + 5), "mark"))
    if placed.high is not None:
        level = y if placed.end is None else y + 5
        parts.append(path(f"{kind} whisker", "M", x, level, "H", placed.high, "M", placed.high, level - 3, "v", 6))
    parts.append(symbol((x, y), placed.dot.arrival, hollow=placed.dot.retracted))
    if placed.label is not None:
        at, anchor, words = placed.label
        style = "halo gone" if placed.dot.retracted else "halo quiet"
        parts.append(text((at, y + ID_SIZE * 0.36), words, ID_SIZE, style=style, anchor=anchor))
    return f'<g class="event">{"".join(parts)}</g>'


def symbol(place: Point, arrival: Arrival, *, hollow: bool = False) -> str:
    """A circle; a diamond if late, a square if a row of another query; hollow and struck through if retracted."""
    x, y = place
    style = f"{arrival.value} hollow" if hollow else arrival.value
    if arrival is Arrival.LATE:
        shape = path(style, "M", x, y - 5, "L", x + 5, y, "L", x, y + 5, "L", x - 5, y, "Z")
    elif arrival is Arrival.DERIVED:
        shape = box((x - 3.5, y - 3.5), (7, 7), style)
    else:
        shape = f'<circle class="{style}" cx="{number(x)}" cy="{number(y)}" r="4"/>'
    return shape + (line((x - 7, y + 5), (x + 7, y - 5), "mark") if hollow else "")


# -- axis -------------------------------------------------------------------------------------------------------------


def grid(ticks: Iterable[Tick], scale: Scale, top: float, bottom: float) -> Iterator[str]:
    """A thin line at each tick."""
    return (line((scale.x(tick.time), top), (scale.x(tick.time), bottom), "grid") for tick in ticks)


def axis(ticks: list[Tick], scale: Scale, y: float, *, upwards: bool = False) -> Iterator[str]:
    """The labels of the ticks on one side of a line, and beyond them what changes rarely, such as the day.

    Upwards the line is below the labels, at the end of the room that they take.
    """
    line_at, mark, labels, contexts = (y + 40, -4, y + 33, y + 18) if upwards else (y, 4, y + 16, y + 31)
    yield line((scale.left - 10, line_at), (scale.edge, line_at), "axis")
    for tick in ticks:
        x = scale.x(tick.time)
        yield line((x, line_at), (x, line_at + mark), "axis")
        yield text((x, labels), tick.label, SIZE, style="quiet", anchor="middle")
    for place, anchor, words in _contexts(ticks, scale):
        yield text((place, contexts), words, SIZE, style="quiet", anchor=anchor)
    if scale.endless:
        yield text((scale.edge - 8, labels), "∞", SIZE + 2, style="quiet", anchor="middle")


def _contexts(ticks: list[Tick], scale: Scale) -> list[Label]:
    """The context of the first tick, and of each at which it changes; none of them over another."""
    changes = [
        tick
        for before, tick in zip([None, *ticks], ticks, strict=False)
        if not before or before.context != tick.context
    ]
    places = [(scale.x(tick.time), tick.context) for tick in changes if tick.context]
    labels: list[Label] = []
    free = float("inf")
    for x, words in reversed(places):
        half = width(words, SIZE) / 2
        if x + half + 8 <= free:
            labels.append((x, "middle", words))
            free = x - half
        elif x + 8 <= free:
            labels.append((min(x, free - 8), "end", words))
            free = min(x, free - 8) - 2 * half
    return labels[::-1]
