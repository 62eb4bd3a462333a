"""Event types from texts: the TYPE statements of a query file, or of a catalog file, which is written the same way."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath

from cedr.connect.files import read_text
from cedr.language.parse import parse
from cedr.language.syntax import File, TypeDeclaration
from cedr.model.schema import EventType, EventTypes


def read_types(paths: Iterable[str | PathLike[str]]) -> EventTypes:
    """The types declared in catalog files; a later declaration of a name replaces an earlier one."""
    catalog = EventTypes()
    for path in paths:
        name = fspath(path)
        for event_type in declared_types(parse(read_text(name, "the catalog"), name)):
            catalog.add(event_type)
    return catalog


def declared_types(file: File) -> EventTypes:
    """The types that a text declares; one whose attributes are those of its file is open until that is read."""
    catalog = EventTypes()
    for declared in file.statements:
        if isinstance(declared, TypeDeclaration):
            attributes = {attribute.name: attribute.type for attribute in declared.attributes}
            shapes = {attribute.name: attribute.shape for attribute in declared.attributes if attribute.shape}
            catalog.add(EventType(declared.name, attributes, declared.revisable, open=declared.inferred, shapes=shapes))
    return catalog


def merged(*catalogs: EventTypes) -> EventTypes:
    """All types of several catalogs; the last one that has a name wins."""
    return EventTypes({event_type.name: event_type for catalog in catalogs for event_type in catalog})
