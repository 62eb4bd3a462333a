"""Reads the fenced blocks of a Markdown page.

The info string of a block is its language and then words: ``file=NAME`` saves the block under that name, ``error=CODE``
says that a query is wrong on purpose, ``notest="reason"`` keeps a block from being run, and must say why.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
_OPTIONS = frozenset({"file", "error", "notest"})


class BadBlock(ValueError):
    """A block whose fence or info string cannot be understood."""


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; ``line`` is the page's line on which its text begins, counted from 1."""

    page: Path
    line: int
    language: str
    options: dict[str, str]
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """README.md and every page of docs/, in a fixed order."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, text: str) -> Iterator[Block]:
    """The blocks of a page, in order."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        at += 1
        if opening is None:
            continue
        first = at
        while at < len(lines) and lines[at].strip() != opening["fence"]:
            at += 1
        if at == len(lines):
            message = f"{page}:{first}: the block is never closed"
            raise BadBlock(message)
        body = textwrap.dedent("\n".join(lines[first:at])) if opening["indent"] else "\n".join(lines[first:at])
        language, options = _info(opening["info"], f"{page}:{first}")
        yield Block(page, first + 1, language, options, body + "\n")
        at += 1


def _info(info: str, place: str) -> tuple[str, dict[str, str]]:
    words = shlex.split(info)
    if not words:
        message = f"{place}: a block must name its language; plain text is ```text"
        raise BadBlock(message)
    options = dict(word.partition("=")[::2] for word in words[1:])
    unknown = options.keys() - _OPTIONS
    empty = [name for name, value in options.items() if not value.strip()]
    if unknown or empty:
        message = f'{place}: cannot use {sorted(unknown) + empty}; known are file=NAME, error=CODE, notest="reason"'
        raise BadBlock(message)
    return words[0], options
