"""The options that say which data a command is asked of, and what its columns are: the words of ``cedr.events``.

Reading: R50.  One list for all commands: a command takes them by ``@describes_data`` and gets them as one ``Data``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError


@dataclass(frozen=True, slots=True)
class Data:
    """Where the data is, and the words that describe it."""

    events: tuple[str, ...]
    messages: str | None
    words: Mapping[str, Any]
    bad_rows: float

    @property
    def stdin(self) -> bool:
        """Whether it is read from standard input."""
        return self.messages == "-" or "-" in self.events

    def given(self) -> Any:
        """A path, several, or several by event type; None where no option names any.  Raises ``StreamError``."""
        if self.messages is not None and self.events:
            raise StreamError(Diagnostic("bad-word", "--events and --messages are two names for one thing: give one"))
        if self.messages is not None:
            from cedr.hosts.inputs import MessagesAt

            return MessagesAt(self.messages)
        named = [_by_type(each) for each in self.events]
        if not named:
            return None
        if all(name is None for name, _ in named):
            paths = [path for _, path in named]
            return paths[0] if len(paths) == 1 else paths
        if any(name is None for name, _ in named):
            primary = "some --events name their type and others do not"
            raise StreamError(Diagnostic("bad-word", primary, hint="write TYPE=FILE for all of them"))
        found: dict[str, list[str]] = {}
        for name, path in named:
            found.setdefault(str(name), []).append(path)
        return {name: paths[0] if len(paths) == 1 else paths for name, paths in found.items()}


def _by_type(given: str) -> tuple[str | None, str]:
    """``TX=tx.csv`` as type and path; a file whose name has that form is the file."""
    name, mark, path = given.partition("=")
    if mark and path and "/" not in name and not Path(given).exists():
        return name, path
    return None, given


def _option(of: Any, name: str, metavar: str, text: str) -> Any:
    return Annotated[of, typer.Option(name, metavar=metavar, help=text, show_default=False)]


_COLUMN = "COLUMN"
_WORDS: Mapping[str, Any] = {
    "type": _option(str | None, "--type", "TYPE", "The event type of all rows, or the column that tells it."),
    "time": _option(str | None, "--time", _COLUMN, "The column of times; by default time."),
    "time_unit": _option(
        str | None, "--time-unit", "UNIT", "s, ms, us or ns, of times that are whole numbers; or ticks."
    ),
    "time_format": _option(str | None, "--time-format", "FORMAT", "How times are written: %d.%m.%Y %H:%M:%S, say."),
    "zone": _option(str | None, "--zone", "ZONE", "The zone of times that have none; by default UTC."),
    "truncate": _option(bool | None, "--truncate", "", "Cut nanoseconds off; otherwise such rows are not used."),
    "id": _option(str | None, "--id", _COLUMN, "The column of IDs; by default an event is known by all its values."),
    "valid_end": _option(str | None, "--valid-end", _COLUMN, "Until when an event is valid (Ve)."),
    "occurrence_start": _option(str | None, "--occurrence-start", _COLUMN, "When a statement was made (Os)."),
    "occurrence_end": _option(str | None, "--occurrence-end", _COLUMN, "Until when a statement holds (Oe)."),
    "key": _option(str | None, "--key", _COLUMN, "The key by which rows are retracted (K)."),
    "change": _option(str | None, "--change", _COLUMN, "insert, retract or guarantee."),
    "guarantee": _option(str | None, "--guarantee", _COLUMN, "Up to when nothing more comes; others say watermark."),
    "arrival": _option(str | None, "--arrival", _COLUMN, "When a row arrived (Cs)."),
    "provider": _option(str | None, "--provider", _COLUMN, "Who sent a row; in single quotes one for all rows."),
    "attributes": _option(str | None, "--attributes", "COLUMNS", "The columns that are attributes, with commas."),
    "disorder": _option(str | None, "--disorder", "DURATION", "No event is later than this behind the newest one."),
    "format": _option(str | None, "--format", "FORMAT", "csv, json or parquet, instead of by the ending."),
    "separator": _option(str | None, "--separator", "CHARACTER", "Between the values of CSV; by default it is found."),
    "encoding": _option(str | None, "--encoding", "NAME", "Of CSV; by default utf-8."),
}
_EVENTS = _option(
    list[str] | None,
    "--events",
    "FILE",
    "CSV, JSON Lines or Parquet, a folder, a pattern, or TYPE=FILE; may be repeated.",
)
_MESSAGES = _option(str | None, "--messages", "FILE", "Messages as JSON Lines in arrival order; - is standard input.")
_NO_HEADER = _option(bool, "--no-header", "", "CSV without a first line of names: columns are column1, column2, …")
_BAD_ROWS = _option(float, "--bad-rows", "SHARE", "Up to this share of rows may be unusable; by default 0.1.")


def describes_data(command: Callable[..., None]) -> Callable[..., None]:
    """A command with all these options, which are given to it as ``data``."""
    hints = get_type_hints(command, include_extras=True)
    own = [each for name, each in inspect.signature(command).parameters.items() if name != "data"]
    added = {"events": _EVENTS, "messages": _MESSAGES, **_WORDS, "no_header": _NO_HEADER, "bad_rows": _BAD_ROWS}
    defaults: dict[str, Any] = {"no_header": False, "bad_rows": 0.1}

    @wraps(command)
    def called(**given: Any) -> None:
        words = {name: value for name in _WORDS if (value := given.pop(name)) is not None}
        if given.pop("no_header"):
            words["header"] = False
        events: Sequence[str] = given.pop("events") or ()
        data = Data(tuple(events), given.pop("messages"), words, given.pop("bad_rows"))
        command(data=data, **given)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [each.replace(kind=keyword, annotation=hints[each.name]) for each in own]
    parameters += [
        inspect.Parameter(name, keyword, default=defaults.get(name), annotation=of) for name, of in added.items()
    ]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called
