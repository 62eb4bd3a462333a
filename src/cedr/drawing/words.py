"""Text in a drawing: how wide it is, how it is shortened, how values are written, and what XML cannot hold.

There is no font here to measure with, so widths are those of Helvetica by kinds of letters, a little too wide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from html import escape
from math import isfinite
from unicodedata import category, east_asian_width

from cedr.model.event import Event, Payload, Value

Show = Callable[[int], str]
"""Writes a time."""

_LONGEST = 2_000
_MADE_ID = 32
_WIDTHS = {
    **dict.fromkeys(" !,./:;I[]\\fijlt|'`", 0.29),
    **dict.fromkeys('()-r"{}*', 0.36),
    **dict.fromkeys("cksvxyzJ", 0.52),
    **dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZw&", 0.75),
    **dict.fromkeys("mM%", 0.89),
    **dict.fromkeys("W@…", 1.02),
}
# Control characters, halves of surrogate pairs and non-characters cannot stand in XML 1.0.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_JOINERS = "\u200c\u200d"


def width(text: str, size: float) -> float:
    """About how wide a text is, in pixels."""
    return size * sum(map(_share, text))


def _share(character: str) -> float:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if character.isascii():
        return 0.58
    if category(character) in {"Mn", "Me", "Cf"}:
        return 0.0
    return 1.3 if character > "\U0001f000" else 1.05 if east_asian_width(character) in "WF" else 0.75


def shortened(text: str, room: float, size: float) -> str:
    """As much of a text as fits, with an ellipsis where it is cut; empty where not even two letters fit."""
    if width(text, size) <= room:
        return text
    left = room - width("…", size)
    for position, character in enumerate(text):
        left -= size * _share(character)
        if left < 0:
            kept = text[:position].rstrip(" ,")
            return f"{kept}…" if len(kept) > 1 else ""
    return text


def plain(text: str) -> str:
    """A text on one line that XML can hold; marks that turn the direction of writing are taken out."""
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    line = " ".join(_NOT_XML.sub("\ufffd", cut).split())
    return "".join(c for c in line if c.isascii() or category(c) != "Cf" or c in _JOINERS)


def escaped(text: str) -> str:
    """A text as XML has it, in elements and in attributes."""
    return escape(_NOT_XML.sub("\ufffd", text))


def short_id(id: str) -> str:  # noqa: A002 - the paper's word
    """An ID for the eye: those that a query made are cut, as in the tables of ``cedr eval``."""
    return id[:8] if len(id) == _MADE_ID else plain(id)


def payload_text(event: Event, show: Show, *, brief: bool = False) -> str:
    """The payload on one line; a number that is one of the row's own times is written as a time."""
    times = own_times(event)
    return plain(", ".join(f"{name}={value_text(item, show, times, brief)}" for name, item in event.payload.items()))


def own_times(event: Event) -> frozenset[int]:
    """The times of an event and of the events that it is made of."""
    found = {event.valid_start, event.valid_end, event.occurrence_start, event.root_time}
    return frozenset(found.union(*map(own_times, event.contributors)))


def value_text(value: Value, show: Show, times: Collection[int], brief: bool) -> str:  # noqa: FBT001 - passed on
    """A value for the eye; in brief, numbers are rounded."""
    if value is None:
        return "NULL"
    if isinstance(value, bool | str):
        return str(value)[: _LONGEST + 1]
    if isinstance(value, Payload):
        inner = (f"{name}: {value_text(item, show, times, brief)}" for name, item in value.items())
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, tuple):
        return f"[{', '.join(value_text(item, show, times, brief) for item in value)}]"
    if isinstance(value, bytes):
        return f"0x{value[:_LONGEST].hex()}"
    if isinstance(value, int) and value in times:
        return show(value)
    return f"{value:.6g}" if brief and isinstance(value, float) and isfinite(value) else str(value)
