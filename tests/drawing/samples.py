"""Rows, changes and messages for the tests of drawings, and how to read a drawing again."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from cedr.drawing.picture import Drawing
from cedr.model.event import Event, Payload, primitive
from cedr.model.stream import Change, Insert, Retract
from cedr.model.time import FOREVER, Time

SVG = "{http://www.w3.org/2000/svg}"


def row(
    id: str,  # noqa: A002 - the paper's word
    valid_start: Time,
    valid_end: Time = FOREVER,
    *contributors: Event,
    occurrence_end: Time = FOREVER,
    **payload: object,
) -> Event:
    root = min([valid_start, *(event.root_time for event in contributors)])
    return Event("Q", id, valid_start, valid_end, valid_start, occurrence_end, root, contributors, Payload(payload))


def emitted(event: Event, at: int, key: str | None = None) -> Change:
    return Change(Insert(event, key or event.id), at, event)


def retracted(event: Event, at: int, key: str | None = None, **ends: Time) -> Change:
    return Change(Retract(key or event.id, **ends), at, event)


def parsed(drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(drawing.svg)


def groups(drawing: Drawing, kind: str) -> list[ElementTree.Element]:
    """The groups of a class: "row" or "event"."""
    return [group for group in parsed(drawing).iter(f"{SVG}g") if group.get("class") == kind]


def tooltips(drawing: Drawing, kind: str) -> list[str]:
    return [group.findtext(f"{SVG}title") or "" for group in groups(drawing, kind)]


def words(drawing: Drawing) -> list[str]:
    """All texts that are to be seen."""
    return [text.text or "" for text in parsed(drawing).iter(f"{SVG}text")]


def classes(drawing: Drawing) -> Iterator[str]:
    for element in parsed(drawing).iter():
        yield from (element.get("class") or "").split()


A, B = primitive("A", "a1", 5, payload={"k": 1}), primitive("B", "b1", 9, payload={"k": 1})
