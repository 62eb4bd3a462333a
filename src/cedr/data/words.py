"""The words that map columns to the header of an event: the same for every host, in Python, commands and query files.

Paper: Section 3.3.1 (the header).  Readings: R2, R33 (guarantees and providers), R50 (units of time).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.language.tokens import duration_of

UNITS: Final = ("s", "ms", "us", "ns", "ticks")
FORMATS: Final = ("csv", "json", "parquet")
CLOCKS: Final = ("time", "valid_end", "occurrence_start", "occurrence_end", "guarantee", "arrival")
"""The words that name a column of times."""


@dataclass(frozen=True, slots=True)
class Words:
    """What was said of one source.  A column that is not named has its default (R2)."""

    type: str | None = None
    time: str = "time"
    time_unit: str | None = None
    time_format: str | None = None
    zone: str = "UTC"
    truncate: bool = False
    id: str | None = None
    valid_end: str | None = None
    occurrence_start: str | None = None
    occurrence_end: str | None = None
    key: str | None = None
    change: str | None = None
    guarantee: str | None = None
    arrival: str | None = None
    provider: str | None = None
    attributes: tuple[str, ...] | None = None
    disorder: int | None = None
    disorder_has_unit: bool = False
    """Whether ``disorder`` was given with a unit, hence is no number of ticks.  Reading: R50."""
    idle: int | None = None
    stable_key: bool = False
    format: str | None = None
    separator: str | None = None
    header: bool = True
    encoding: str = "utf-8"

    def said(self) -> dict[str, Any]:
        """Those that are not as they are by default."""
        plain = Words()
        shown = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "disorder_has_unit"}
        return {word: value for word, value in shown.items() if value != getattr(plain, word)}

    def columns(self) -> dict[str, str]:
        """The columns of the header that are named, by their words; ``type`` may be a constant instead."""
        words = (*CLOCKS, "id", "key", "change")
        named = {word: getattr(self, word) for word in words}
        if self.provider is not None and constant(self.provider) is None:
            named["provider"] = self.provider
        return {word: column for word, column in named.items() if column is not None}


_NAMES: Final = tuple(each.name for each in fields(Words) if each.name != "disorder_has_unit")
_FLAGS: Final = ("truncate", "stable_key", "header")
_COLUMNS: Final = (*CLOCKS, "type", "id", "key", "change", "provider")


def words_of(given: Mapping[str, Any]) -> Words:
    """Checked words.  Raises ``StreamError`` for one that does not exist, or has a wrong value."""
    checked: dict[str, Any] = {}
    for name, value in given.items():
        if name not in _NAMES:
            raise _unknown(name)
        if value is not None:
            checked[name] = _CHECKS.get(name, _text)(name, value)
    if "disorder" in checked:
        checked["disorder_has_unit"] = not isinstance(given["disorder"], int) and not _is_number(given["disorder"])
    if "idle" in checked and "arrival" not in checked:
        hint = "idle= is for a stream on Spark; leave it out"
        raise StreamError(
            Diagnostic("unknown-word", "a file or a table is never silent: idle= means nothing", hint=hint)
        )
    return Words(**checked)


def constant(given: str) -> str | None:
    """The text between single quotes, which is a value and no column; None where there are none."""
    return given[1:-1] if len(given) > 2 and given[0] == given[-1] == "'" else None


def _unknown(name: str) -> StreamError:
    similar = get_close_matches(name, _NAMES, 1)
    hint = f"did you mean {similar[0]}=?" if similar else f"the words are: {', '.join(_NAMES)}"
    return StreamError(Diagnostic("unknown-word", f'there is no word "{name}" to describe data', hint=hint))


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        wanted = "the name of a column" if name in _COLUMNS else "a text"
        raise _wrong(name, value, wanted)
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong(name, value, "True or False")
    return value


def _one_of(*allowed: str) -> Any:
    def check(name: str, value: Any) -> str:
        if value not in allowed:
            raise _wrong(name, value, f"one of {', '.join(allowed)}")
        return str(value)

    return check


def _zone(name: str, value: Any) -> str:
    try:
        ZoneInfo(_text(name, value))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise _wrong(name, value, 'a zone such as "UTC" or "Europe/Berlin"') from None
    return str(value)


def _separator(name: str, value: Any) -> str:
    named = {"tab": "\t", "\\t": "\t"}.get(value, value) if isinstance(value, str) else value
    if not isinstance(named, str) or len(named.encode()) != 1:
        raise _wrong(name, value, "one character")
    return named


def _several(name: str, value: Any) -> tuple[str, ...]:
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, Iterable):
        raise _wrong(name, value, "a list of columns")
    found = tuple(each.strip() if isinstance(each, str) else each for each in listed)
    if not all(isinstance(each, str) and each for each in found):
        raise _wrong(name, value, "a list of columns")
    return found


def _duration(name: str, value: Any) -> int:
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if _is_number(value):
        found: int | None = int(value)
    else:
        found = duration_of(value) if isinstance(value, str) else None
    if found is None or found < 0:
        primary = f"{name}= is {value!r}, which is not a length of time"
        raise StreamError(Diagnostic("bad-duration", primary, hint='write "10 minutes", a timedelta or ticks'))
    return found


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, str) and value.strip().isdecimal())


def _wrong(name: str, value: Any, wanted: str) -> StreamError:
    return StreamError(Diagnostic("bad-word", f"{name}= must be {wanted}, not {value!r}"))


_CHECKS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(_FLAGS, _flag),
    "time_unit": _one_of(*UNITS),
    "format": _one_of(*FORMATS),
    "zone": _zone,
    "separator": _separator,
    "attributes": _several,
    "disorder": _duration,
    "idle": _duration,
}
