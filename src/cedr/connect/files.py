"""Opening files: what cannot be read is one clear sentence, never a traceback."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import BinaryIO

from cedr.connect.jsonlines import LONGEST_LINE
from cedr.connect.places import LineSource
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import LanguageError, StreamError
from cedr.diagnostics.span import Span

LARGEST_TEXT = LONGEST_LINE
CANNOT_READ = "cannot-read"
_REASONS: dict[type, str] = {
    FileNotFoundError: "there is no such file",
    IsADirectoryError: "it is a directory",
    PermissionError: "reading it is not allowed",
}
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


def open_file(name: str, what: str) -> BinaryIO:
    """A file opened for reading bytes; "-" is standard input.  Raises ``StreamError``."""
    try:
        return sys.stdin.buffer if name == "-" else Path(name).open("rb")
    except (OSError, ValueError) as error:
        raise StreamError(unreadable(name, what, error)) from None


def unreadable(name: str, what: str, error: Exception) -> Diagnostic:
    """The sentence for a file that cannot be read."""
    reason = _REASONS.get(type(error)) or getattr(error, "strerror", None) or str(error)
    return Diagnostic(CANNOT_READ, f'cannot read {what} "{name}": {reason}')


def read_text(name: str, what: str = "the query") -> str:
    """The text of a file of queries or types.  Raises ``StreamError``, ``LanguageError`` where it is no text."""
    with open_file(name, what) as stream:
        try:
            raw = stream.read(LARGEST_TEXT + 1)
        except OSError as error:
            raise StreamError(unreadable(name, what, error)) from None
    if len(raw) > LARGEST_TEXT:
        reason = f"it is larger than {LARGEST_TEXT // 1024 // 1024} MB"
        raise StreamError(Diagnostic(CANNOT_READ, f'cannot read {what} "{name}": {reason}'))
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    _check_text(raw.removeprefix(b"\xef\xbb\xbf"), text, name)
    return text


def _check_text(raw: bytes, text: str, name: str) -> None:
    reason, offset = "", 0
    try:
        raw.decode("utf-8")
        control = _NO_TEXT.search(text)
        if control is not None:
            reason, offset = f"control character U+{ord(control[0]):04X}", control.start()
    except UnicodeDecodeError as error:
        reason = f"byte 0x{raw[error.start]:02x} ({error.reason})"
        offset = len(raw[: error.start].decode("utf-8"))
    if reason:
        start = text.rfind("\n", 0, offset) + 1
        line = LineSource(name, text[start:].split("\n", 1)[0], text.count("\n", 0, offset) + 1)
        span = Span(line, offset - start, offset - start + 1)
        hint = "a query is UTF-8 text; is this the right file?"
        raise LanguageError(Diagnostic("bad-encoding", f"the file is not UTF-8 text: {reason}", span, hint=hint))
