"""The colours of a drawing, light and dark, and its style sheet.

The hues are those of Okabe and Ito, which readers with any kind of colour vision tell apart; shapes and dashes say the
same once more.  All rules are below one class, so that a drawing inside a page changes nothing else on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

ROOT = "cedr-drawing"

LIGHT: Mapping[str, str] = {
    "ground": "#ffffff",
    "ink": "#1f2328",
    "quiet": "#59636e",
    "grid": "#e4e8ec",
    "band": "#f6f8fa",
    "blue": "#0072b2",
    "orange": "#c26a00",
    "violet": "#8250a8",
    "green": "#00845f",
    "green-fill": "#d3efe4",
    "red": "#c4321c",
    "red-fill": "#fdf0ee",
    "orange-fill": "#fff1d9",
}
DARK: Mapping[str, str] = {
    "ground": "#0d1117",
    "ink": "#e6edf3",
    "quiet": "#9aa4ae",
    "grid": "#262c34",
    "band": "#151b23",
    "blue": "#56b4e9",
    "orange": "#f0a830",
    "violet": "#c9a2e8",
    "green": "#2fc296",
    "green-fill": "#113d31",
    "red": "#ff7b68",
    "red-fill": "#2b1715",
    "orange-fill": "#3a2a0c",
}

_RULES: tuple[tuple[str, str], ...] = (
    (".ground", "fill:{ground}"),
    (".band", "fill:{band}"),
    ("text", "fill:{ink}"),
    (".quiet", "fill:{quiet}"),
    (".halo", "stroke:{ground}"),
    (".grid", "stroke:{grid}"),
    (".axis", "stroke:{quiet}"),
    (".link", "stroke:{quiet}"),
    (".on-time,.unknown", "fill:{blue};stroke:{blue}"),
    (".late", "fill:{orange};stroke:{orange}"),
    (".derived", "fill:{violet};stroke:{violet}"),
    (".hollow", "fill:{ground}"),
    (".mark", "stroke:{red}"),
    (".stands", "fill:{green-fill};stroke:{green}"),
    (".closed", "fill:{ground};stroke:{green}"),
    (".again", "fill:{green-fill};stroke:{red}"),
    (".retracted", "fill:{red-fill};stroke:{red}"),
    (".stray", "fill:{orange-fill};stroke:{orange}"),
    ("text.gone", "fill:{red}"),
    (".fill-stands,.fill-again", "stop-color:{green-fill}"),
    (".fill-retracted", "stop-color:{red-fill}"),
    (".fill-stray", "stop-color:{orange-fill}"),
    (".fill-closed", "stop-color:{ground}"),
    (".edge-stands,.edge-closed", "stop-color:{green}"),
    (".edge-retracted,.edge-again", "stop-color:{red}"),
    (".edge-stray", "stop-color:{orange}"),
)
_SHAPES: tuple[tuple[str, str], ...] = (
    ("text", "font-family:Helvetica,Arial,sans-serif"),
    (".strong", "font-weight:bold"),
    (".halo", "paint-order:stroke;stroke-width:3px;stroke-linejoin:round"),
    (".link", "fill:none;stroke-width:1"),
    (".bar", "stroke-width:1.2"),
    (".retracted,.stray,.again", "stroke-dasharray:4 2.5"),
    (".life", "stroke:none;opacity:.4"),
    (".mark", "stroke-width:1.8;fill:none"),
    (".whisker", "fill:none;stroke-width:1.3"),
    (".row:hover .link", "stroke-width:2;opacity:1"),
    (".row:hover .bar", "stroke-width:2.4"),
)

Rules = tuple[tuple[str, str], ...]
"""Selectors, and what holds for them."""
GRAPH: Rules = (
    (".type", "fill:{band};stroke:{quiet}"),
    (".operator", "fill:{ground};stroke:{green}"),
    (".shared", "fill:{green-fill};stroke:{green};stroke-width:2.4"),
    (".query", "fill:{ground};stroke:{blue};stroke-width:2"),
)
"""What a drawing of a graph needs besides."""


def style_sheet(more: Rules = ()) -> str:
    """The style element: shapes, then the light colours, then the dark ones where the reader prefers them."""
    rules = (*_RULES, *more)
    lines = [*_lines(_SHAPES, {}), *_lines(rules, LIGHT)]
    dark = "".join(_lines(rules, DARK))
    return "\n".join(["<style>", *lines, f"@media (prefers-color-scheme:dark){{{dark}}}", "</style>"])


def _lines(rules: tuple[tuple[str, str], ...], colours: Mapping[str, str]) -> Iterator[str]:
    for selectors, body in rules:
        scoped = ",".join(f".{ROOT} {selector}" for selector in selectors.split(","))
        yield f"{scoped}{{{body.format(**colours)}}}"
