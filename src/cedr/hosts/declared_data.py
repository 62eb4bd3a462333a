"""What the TYPE statements of a query say about data: where events are, and what its columns are.

Reading: R50.  What is given with the call comes before what the text says.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cedr.data.opening import LocalEvents, is_message, local_events
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.inputs import as_events
from cedr.hosts.queries import Parsed
from cedr.language.syntax import File, Origin, TypeDeclaration
from cedr.plan.compile import Program


def given_data(query: Parsed, data: Any, words: Mapping[str, Any], folder: Path) -> LocalEvents | None:
    """The data of a call, described by its words and by the query; None where it is messages of our own form.

    Paths in the query begin at ``folder``.  Raises ``StreamError`` where neither names any data.
    """
    given = {name: value for name, value in words.items() if value is not None}
    origins = {} if isinstance(query, Program) else _origins(query)
    if data is None:
        return _located(origins, given, folder)
    if origins and isinstance(data, Mapping) and not is_message(data):
        return _joined(
            local_events({name: each}, {**_words(origins.get(name)), **given}) for name, each in data.items()
        )
    return as_events(data, _completed(origins, given))


def _origins(file: File) -> dict[str, Origin]:
    declared = (each for each in file.statements if isinstance(each, TypeDeclaration))
    return {each.name: each.origin for each in declared if each.origin is not None}


def _words(origin: Origin | None) -> dict[str, Any]:
    return {} if origin is None else {option.name: option.value for option in origin.options}


def _completed(origins: Mapping[str, Origin], given: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a call, and below them those of the TYPE that it names, or of the only one that says any."""
    named = str(given.get("type", "")).strip("'")
    if named in origins:
        return {**_words(origins[named]), **given}
    if "type" not in given and len(origins) == 1:
        ((name, origin),) = origins.items()
        return {"type": f"'{name}'", **_words(origin), **given}
    return dict(given)


def _located(origins: Mapping[str, Origin], given: Mapping[str, Any], folder: Path) -> LocalEvents:
    found = [
        local_events(folder / origin.path, {"type": f"'{name}'", **_words(origin), **given})
        for name, origin in origins.items()
        if origin.path is not None
    ]
    if not found:
        hint = "give it (--events FILE, --messages FILE), or say in the query where it is: TYPE TX FROM 'tx.csv'"
        raise StreamError(Diagnostic("no-data", "no data is named", hint=hint))
    return _joined(iter(found))


def _joined(found: Any) -> LocalEvents:
    return LocalEvents(tuple(source for each in found for source in each.sources))
