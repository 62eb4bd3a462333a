"""Text functions: LIKE, regular expressions, SUBSTRING, REPLACE.

Reading: R20.  Positions count characters from 1.  LIKE takes time proportional to the text; regular expressions are
Python's ``re`` and a careless one can take very long, as everywhere.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from cedr.expression.values import Truth
from cedr.model.event import Value


@dataclass(frozen=True, slots=True)
class LikePattern:
    """A LIKE pattern, cut at its %: each part matches a fixed number of characters."""

    parts: tuple[re.Pattern[str], ...]
    lengths: tuple[int, ...]

    def matches(self, text: str) -> bool:
        """Whether the whole text fits: first part at the start, last part at the end, the others in order between."""
        if len(self.parts) == 1:
            return self.parts[0].fullmatch(text) is not None
        end = len(text) - self.lengths[-1]
        place = self.lengths[0]
        if end < place or not self.parts[0].match(text) or not self.parts[-1].fullmatch(text, end):
            return False
        for part in self.parts[1:-1]:
            found = part.search(text, place, end)
            if found is None:
                return False
            place = found.end()
        return True


@lru_cache(maxsize=512)
def like_pattern(pattern: str) -> LikePattern | None:
    r"""A LIKE pattern made ready; None where it ends in the middle of an escape.

    >>> like_pattern("a%c_").matches("abbbcd"), like_pattern(r"100\%").matches("100%"), like_pattern("x\\")
    (True, True, None)
    """
    parts, lengths = [""], [0]
    for character in _like_tokens(pattern):
        if character is None:
            return None
        if character == "%":
            parts.append("")
            lengths.append(0)
        else:
            parts[-1] += "." if character == "_" else re.escape(character[-1])
            lengths[-1] += 1
    return LikePattern(tuple(re.compile(part, re.DOTALL) for part in parts), tuple(lengths))


def _like_tokens(pattern: str) -> Iterator[str | None]:
    """Single characters, escaped ones with their backslash, None for an escape of nothing."""
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            escaped = next(characters, None)
            yield None if escaped is None else "\\" + escaped
        else:
            yield character


def like(text: Value, pattern: Value) -> Truth:
    """``text LIKE pattern``; NULL where either is NULL, no text, or the pattern is none."""
    if type(text) is not str or type(pattern) is not str:
        return None
    ready = like_pattern(pattern)
    return None if ready is None else ready.matches(text)


@lru_cache(maxsize=512)
def regular_expression(pattern: str) -> re.Pattern[str] | str:
    """A regular expression made ready, or what is wrong with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            return str(error)


def regexp_like(text: str, pattern: str) -> Truth:
    """Whether a regular expression fits somewhere in the text; NULL where it is none.

    >>> regexp_like("BARGA_XP03", "XP[0-9]+$"), regexp_like("x", "(")
    (True, None)
    """
    ready = regular_expression(pattern)
    return None if isinstance(ready, str) else ready.search(text) is not None


def substring(text: str, start: int, length: int | None = None) -> str | None:
    """The characters from a position on, as in SQL: what lies before the first is cut; a negative length is NULL.

    >>> substring("abcdef", 2, 3), substring("abcdef", 4), substring("abcdef", -1, 4)
    ('bcd', 'def', 'ab')
    """
    if length is None:
        return text[max(start - 1, 0) :]
    if length < 0:
        return None
    return text[max(start - 1, 0) : max(start - 1 + length, 0)]


def replace(text: str, old: str, new: str) -> str:
    """All occurrences replaced; an empty text is never found."""
    return text.replace(old, new) if old else text
