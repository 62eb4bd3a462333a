"""JSON, one value a line, read strictly and a line at a time.

Python's reader takes more than JSON allows (NaN, a key twice, half a surrogate pair) and answers some texts with errors
of its own (numbers of thousands of digits, deep nesting, bytes that are no UTF-8).  Here each of these is a ``Fault``
with a place in the line.  Memory follows the longest line, never the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isinf
from typing import BinaryIO

from cedr.connect.places import Path, Position, duplicate, token
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.span import Span

LONGEST_LINE = 16 * 1024 * 1024
DEEPEST = 100
_LONGEST_NUMBER = 100
_HALF_PAIR = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


class Fault(Exception):
    """A message that cannot be used: code, sentence, and the place by path or by characters."""

    def __init__(
        self,
        code: str,
        primary: str,
        path: Path = (),
        *,
        key: bool = False,
        place: tuple[int, int] | None = None,
        detail: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(primary)
        self.code, self.primary, self.detail, self.hint = code, primary, detail, hint
        self.path, self.key, self.place = path, key, place

    def diagnostic(self, position: Position) -> Diagnostic:
        """The fault drawn into its line."""
        return Diagnostic(
            self.code, self.primary, self._span(position), detail=self.detail, hint=self.hint, severity="dead letter"
        )

    def _span(self, position: Position) -> Span:
        if self.place is not None:
            return position.at(*self.place)
        return position.field(self.path, key=self.key)


class WrittenFloat(float):
    """A number with a fraction or exponent, with the text it was written as, so that a DECIMAL keeps every digit."""

    __slots__ = ("text",)
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank, and its fault if its bytes are no text."""

    position: Position
    fault: Fault | None = None


def lines(stream: BinaryIO, name: str) -> Iterator[Line]:
    """The lines of a file that are not blank."""
    number = 0
    while raw := stream.readline(LONGEST_LINE + 1):
        number += 1
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if len(raw) > LONGEST_LINE:
            yield _too_long(stream, name, number, raw)
        elif raw.strip():
            yield _line(name, number, raw)


def _line(name: str, number: int, raw: bytes) -> Line:
    try:
        return Line(Position(name, number, raw.decode("utf-8").rstrip("\r\n")))
    except UnicodeDecodeError as error:
        text = raw.decode("utf-8", "replace").rstrip("\r\n")
        column = len(raw[: error.start].decode("utf-8"))
        reason = f"the line is not UTF-8 text: byte 0x{raw[error.start]:02x} ({error.reason})"
        return Line(Position(name, number, text), Fault("bad-encoding", reason, place=(column, column + 1)))


def _too_long(stream: BinaryIO, name: str, number: int, raw: bytes) -> Line:
    rest = raw
    while rest and not rest.endswith(b"\n"):
        rest = stream.readline(LONGEST_LINE)
    reason = f"the line is longer than {LONGEST_LINE // 1024 // 1024} MB"
    text = raw[:100].decode("utf-8", "replace")
    return Line(Position(name, number, text), Fault("line-too-long", reason, place=(0, 1)))


def parse(text: str) -> object:
    """The value of a line of strict JSON.  Raises ``Fault``."""
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        reason = f"this is not JSON: {error.msg[0].lower()}{error.msg[1:]}"
        raise Fault("bad-json", reason, place=(error.pos, error.pos + 1)) from None
    except RecursionError:
        raise _too_deep() from None
    except _Duplicate as error:
        name, start, end = duplicate(text) or (error.args[0], 0, len(text))
        raise Fault("bad-json", f'the key "{name}" stands twice in one object', place=(start, end)) from None
    except _Number as error:
        raise Fault("bad-json", error.args[1], place=token(text, error.args[0])) from None
    if text.count("{") + text.count("[") > DEEPEST:
        _check_depth(value)
    if "\\u" in text:
        _check_surrogates(text, value)
    return value


def _check_depth(value: object) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [item for part in level if isinstance(part, dict | list) for item in _items(part)]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> Fault:
    return Fault("bad-json", f"the value is nested more than {DEEPEST} deep", place=(0, 1))


def _items(part: dict[str, object] | list[object]) -> list[object]:
    return list(part.values()) if isinstance(part, dict) else part


def _check_surrogates(text: str, value: object) -> None:
    half = _HALF_PAIR.search(text)
    if half is None:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        reason = f"{half[0]} is half of a surrogate pair and no character"
        raise Fault("bad-json", reason, place=half.span()) from None


class _Duplicate(Exception):
    """A key that stands twice."""


class _Number(Exception):
    """A number that cannot be kept: its text and why."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _Duplicate(pairs[-1][0])
    return made


def _integer(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise _Number(text, f"a number of {len(text)} digits is beyond 64 bits")
    return int(text)


def _float(text: str) -> float:
    if len(text) > _LONGEST_NUMBER:
        raise _Number(text, f"a number of {len(text)} characters is longer than any we keep")
    number = WrittenFloat(text)
    if isinf(number):
        raise _Number(text, f"{text} is beyond the range of a number")
    number.text = text
    return number


def _constant(text: str) -> object:
    raise _Number(text, f"{text} is not JSON; leave the attribute out or write null")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant)
