"""``draw_graph``: boxes and what flows between them, from left to right, as a picture.

Paper: Section 3 (queries compose).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from cedr.drawing import shapes
from cedr.drawing.layered import Spot, spots_of
from cedr.drawing.picture import Drawing
from cedr.drawing.style import GRAPH, ROOT, style_sheet
from cedr.drawing.words import escaped, plain, shortened, width

_MARGIN, _GAP, _PAD, _LINE, _FONT = 18.0, 110.0, 9.0, 15.0, 11.0
_WIDEST = 300.0
_HEAD = 92.0


@dataclass(frozen=True, slots=True)
class Box:
    """A box of a graph."""

    key: str
    kind: str
    """Its class in the style sheet: type, operator, shared or query."""
    lines: tuple[str, ...]
    account: str
    """What is shown when the pointer rests on it."""


@dataclass(frozen=True, slots=True)
class Link:
    """What flows from one box to another."""

    start: str
    end: str
    label: str = ""


def draw_graph(boxes: Sequence[Box], links: Sequence[Link], title: str, note: str) -> Drawing:
    """Draw a graph without cycles.  Boxes come after those from which something flows into them."""
    entering: dict[str, int] = defaultdict(int)
    for link in links:
        entering[link.end] += 1
    sizes = {box.key: _LINE * max(len(box.lines), entering[box.key]) + 2 * _PAD for box in boxes}
    spots, ways = spots_of(sizes, [(link.start, link.end) for link in links])
    columns = _columns(boxes, spots)
    depth = max((spot.middle + spot.size / 2 for way in ways for spot in way), default=0.0)
    depth = max([depth, *(spot.middle + spot.size / 2 for spot in spots.values())])
    right = max((left + across for left, across in columns.values()), default=0.0)
    size = max(right + _MARGIN, width(note, 12) + 2 * _MARGIN, 640.0), _HEAD + depth + _MARGIN
    parts = [
        *_links(links, ways, columns, entering),
        *(_box(box, spots[box.key], columns[spots[box.key].column]) for box in boxes),
    ]
    return Drawing(_svg(parts, size, plain(title) or "CEDR catalog", note), note)


def _columns(boxes: Sequence[Box], spots: Mapping[str, Spot]) -> dict[int, tuple[float, float]]:
    """Where each column begins, and how wide it is."""
    across: dict[int, float] = defaultdict(float)
    for box in boxes:
        wide = max(width(line, _FONT) for line in box.lines) + 2 * _PAD
        column = spots[box.key].column
        across[column] = max(across[column], min(wide, _WIDEST))
    found, left = {}, _MARGIN
    for column in sorted(across):
        found[column] = left, across[column]
        left += across[column] + _GAP
    return found


def _links(
    links: Sequence[Link],
    ways: Sequence[Sequence[Spot]],
    columns: Mapping[int, tuple[float, float]],
    entering: Mapping[str, int],
) -> Iterator[str]:
    """The edges with their labels: each enters a box at a port of its own, in the order of the operator's inputs."""
    come: dict[str, int] = defaultdict(int)
    for link, (first, *others) in zip(links, ways, strict=True):
        come[link.end] += 1
        port = others[-1].middle + _LINE * (come[link.end] - (entering[link.end] + 1) / 2)
        left, across = columns[first.column]
        x, y = left + across, first.middle
        steps: list[str | float] = ["M", x, y]
        for spot in others:
            left, across = columns[spot.column]
            ends = spot is others[-1]
            height = port if ends else spot.middle
            steps += ["C", x + _GAP / 2, y, left - _GAP / 2, height, left, height]
            x, y = left + across, height
            if not ends:
                steps += ["H", x]
        yield shapes.path("link", *steps)
        if link.label:
            words = shortened(plain(link.label), _GAP - 24, 10)
            left, _ = columns[others[-1].column]
            yield shapes.text((left - 6, port - 3), words, 10, style="halo", anchor="end")


def _box(box: Box, spot: Spot, column: tuple[float, float]) -> str:
    left, across = column
    top = spot.middle - spot.size / 2
    drawn = shapes.box((left, top), (across, spot.size), box.kind)
    first = spot.middle - _LINE * (len(box.lines) - 1) / 2 + _FONT * 0.36
    words = [
        shapes.text(
            (left + _PAD, first + number * _LINE),
            shortened(plain(line), across - 2 * _PAD + 1, _FONT),
            _FONT,
            style="strong" if box.kind in {"type", "query"} and not number else "",
        )
        for number, line in enumerate(box.lines)
    ]
    return f"<g><title>{escaped(plain(box.account))}</title>{drawn}{''.join(words)}</g>"


def _svg(parts: Sequence[str], size: tuple[float, float], title: str, note: str) -> str:
    across, down = map(shapes.number, size)
    name = f"cedr-{crc32(repr((title, note, parts)).encode('utf-8', 'replace')):08x}"
    room = size[0] - 2 * _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{ROOT}" width="{across}" height="{down}" '
            f'viewBox="0 0 {across} {down}" role="img" aria-labelledby="{name}-title {name}-desc">',
            f'<title id="{name}-title">{escaped(title)}</title>',
            f'<desc id="{name}-desc">{escaped(note)}</desc>',
            style_sheet(GRAPH),
            shapes.box((0, 0), size, "ground"),
            shapes.text((_MARGIN, 30), shortened(title, room / 1.1, 16), 16, style="strong"),
            shapes.text((_MARGIN, 50), note, 12, style="quiet"),
            *_legend(),
            f'<g transform="translate(0 {shapes.number(_HEAD)})">',
            *parts,
            "</g>",
            "</svg>",
            "",
        ]
    )


_KINDS = (
    ("type", "event type"),
    ("operator", "operator of one query"),
    ("shared", "operator that queries share"),
    ("query", "query"),
)


def _legend() -> Iterator[str]:
    x = _MARGIN
    for kind, words in _KINDS:
        yield shapes.box((x, 63), (18, 11), kind)
        yield shapes.text((x + 24, 72), words, 11, style="quiet")
        x += 24 + width(words, 11) + 18
