"""Data and messages of any form as steps, each a list of what comes together.

Readings: R3 (messages), R40 (what comes together has one CEDR time).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Final

from cedr.connect.messages import MessageFile
from cedr.consistency.batch import EventBatch
from cedr.data.opening import LocalEvents
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.feed import file_lines
from cedr.hosts.host import sensible_batch
from cedr.hosts.inputs import as_events, messages_of
from cedr.hosts.preparing import Prepared, prepare
from cedr.language.parse import parse
from cedr.language.syntax import File
from cedr.model.schema import EventTypes

_LINES: Final = 1_000
"""Messages of a file that make a step."""


class Steps:
    """What comes, step by step, and what could not be read before the first."""

    def __init__(self, given: Iterable[list[Any]], unreadable: tuple[Diagnostic, ...] = ()) -> None:
        self._given = given
        self.unreadable = unreadable

    def __iter__(self) -> Iterator[list[Any]]:
        return iter(self._given)


def steps(data: Any, types: EventTypes, words: Mapping[str, Any], batch: int | None, bad_rows: float) -> Steps:
    """The steps of what was given.  Raises ``StreamError``."""
    if batch is not None and batch < 1:
        raise StreamError(Diagnostic("batch-not-positive", f"a batch has at least one message, not {batch}"))
    if isinstance(data, Steps):
        return data
    given = as_events(data, words)
    if given is None:
        if isinstance(data, MessageFile):
            read = (message for _, message in data.messages)
            return Steps(_gathered(read, batch or _LINES), tuple(data.dead_letters))
        if isinstance(data, str | PathLike):
            return Steps(_gathered(file_lines(data), batch or _LINES))
        return Steps(_gathered(data, batch or 1))
    return _of(_prepared_for(types, given, bad_rows), batch)


def opened(
    data: Any, types: EventTypes, words: Mapping[str, Any], batch: int | None, bad_rows: float, names: Collection[str]
) -> tuple[EventTypes, Steps]:
    """The steps of data, and the types of some names: declared, or else inferred from it."""
    given = as_events(data, words)
    if given is None:
        known = data if isinstance(data, MessageFile) else messages_of(data, types)
        found = EventTypes({each.name: each for each in known.types if not names or each.name in names})
        return found, steps(known, found, {}, batch, bad_rows)
    constants = {source.constant_type for source in given.sources}
    wanted = names or {name for name in constants if name is not None}
    prepared = prepare(_query(sorted(wanted)), given, types, None, bad_rows)
    found = EventTypes({each.name: each for each in prepared.types if each.name in wanted})
    return found, _of(prepared, batch)


def _of(prepared: Prepared, batch: int | None) -> Steps:
    arriving = prepared.arriving
    cuts = arriving.cuts(batch or sensible_batch(arriving.count))
    told = (*prepared.rejects.summary(), *prepared.warnings)
    return Steps((messages for _, messages in arriving.steps(cuts)), told)


def _prepared_for(types: EventTypes, given: LocalEvents, bad_rows: float) -> Prepared:
    """Data of some types, read for all their attributes."""
    there = {source.constant_type for source in given.sources}
    names = [name for name in types.types if None in there or name in there] or list(types.types)
    return prepare(_query(names), given, types, None, bad_rows)


def _query(names: Iterable[str]) -> File:
    """A query that reads every attribute of some types."""
    parameters = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    return parse(f"EVENT subscriptions WHEN ANY({parameters})")


def _gathered(items: Iterable[Any], batch: int) -> Iterator[list[Any]]:
    """Messages in steps of so many; a list, and a batch of columns, is a step of its own."""
    collected: list[Any] = []
    for item in items:
        if isinstance(item, list | tuple | EventBatch):
            if collected:
                yield collected
                collected = []
            yield list(item) if isinstance(item, list | tuple) else [item]
            continue
        collected.append(item)
        if len(collected) >= batch:
            yield collected
            collected = []
    if collected:
        yield collected
