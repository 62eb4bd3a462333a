"""Many predicates that differ in their constants only: the first of them is parsed, the others are only cut into words.

A predicate takes the parser a quarter of a millisecond, and thousands of subscriptions are often a handful of texts
with other constants in them.  So a text is cut into its words; numbers and strings that are constants of the filter are
left out, and what remains names the form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cedr.diagnostics.span import Source
from cedr.expression.tree import Literal
from cedr.language.tokens import Token, tokens
from cedr.model.event import Value
from cedr.model.schema import EventType
from cedr.subscriptions.constants import common_sort, sort_of_value
from cedr.subscriptions.forms import EXACT, PREFIX, Filter, Form, prefix_of, taken_apart
from cedr.subscriptions.predicates import place_of, read_predicate

_CONSTANTS: Final = frozenset({"INTEGER", "FLOAT", "STRING"})
_NOWHERE: Final = -1
_LONGEST: Final = 19
"""Digits of an integer that is worth a look."""
_MOST: Final = 10_000
"""Forms of texts that are remembered."""

Given = tuple[Value | tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Read:
    """A filter as it is kept: its form and the values of its constants."""

    form: Form
    values: Given


Place = tuple[int, str]
"""The number of the word that a constant is, and how it is made: "-" before a number, a sign of LIKE, or as it is."""


@dataclass(frozen=True, slots=True)
class _Known:
    """How filters of a text with other constants are made."""

    form: Form
    places: tuple[Place | tuple[Place, ...], ...]
    values: Given | None = None
    """The constants themselves, where not all of them are words."""


class Reader:
    """Reads the predicates of one event type."""

    def __init__(self, of: EventType) -> None:
        self._of = of
        self._known: dict[tuple[str, ...], dict[tuple[int, ...], dict[tuple[str, ...], list[_Known]]]] = {}
        """By what is no constant, then by the words that have to be the same, and how these are."""
        self._count = 0

    def read(self, text: str, name: str) -> Read:
        """A filter from its text.  Raises ``LanguageError``."""
        words = [*tokens(Source(name, text))]
        shape = tuple([f"<{word.kind}>" if word.kind in _CONSTANTS else f"{word.kind} {word.value}" for word in words])
        for fixed, by_words in self._known.get(shape, {}).items():
            for known in by_words.get(tuple(words[number].value for number in fixed), ()):
                found = _filled(known, words)
                if found is not None:
                    return found
        filter_ = taken_apart(read_predicate(text, self._of, name))
        if self._count < _MOST:
            self._count += 1
            known, fixed = _remembered(filter_, words)
            by_words = self._known.setdefault(shape, {}).setdefault(fixed, {})
            by_words.setdefault(tuple(words[number].value for number in fixed), []).append(known)
        return Read(filter_.form, tuple(map(_value, filter_.constants)))


def _value(constant: Literal | tuple[Literal, ...]) -> Value | tuple[Value, ...]:
    return tuple(each.value for each in constant) if isinstance(constant, tuple) else constant.value


def _remembered(filter_: Filter, words: Sequence[Token]) -> tuple[_Known, tuple[int, ...]]:
    """How a filter is made of its words, and which of them are fixed: they are no constants as they are written."""
    ends = {word.end: number for number, word in enumerate(words) if word.kind in _CONSTANTS}
    likes = {number: sign for test in filter_.form.tests for sign, number in test.parts if sign in (PREFIX, EXACT)}
    free: set[int] = set()

    def placed(constant: Literal, like: str) -> Place:
        start, end = place_of(constant)
        number = ends.get(end, _NOWHERE)
        how = like or ("-" if number != _NOWHERE and words[number].start > start else "")
        if number == _NOWHERE or _made(words[number], how) != constant.value:
            return _NOWHERE, ""
        free.add(number)
        return number, how

    places = tuple(
        tuple(placed(each, "") for each in constant)
        if isinstance(constant, tuple)
        else placed(constant, likes.get(n, ""))
        for n, constant in enumerate(filter_.constants)
    )
    if any(_NOWHERE in (number for number, _ in _several(place)) for place in places):
        free = set()  # a time, for one: only the same text is known
    fixed = tuple(number for number, word in enumerate(words) if word.kind in _CONSTANTS and number not in free)
    if not free:
        values = tuple(map(_value, filter_.constants))
        return _Known(filter_.form, (), values), fixed
    return _Known(filter_.form, places), fixed


def _several(place: Place | tuple[Place, ...]) -> tuple[Place, ...]:
    return (place,) if place and isinstance(place[0], int) else place


def _filled(known: _Known, words: Sequence[Token]) -> Read | None:
    """A filter of a known form with the constants of some words; None where these make another form."""
    if known.values is not None:
        return Read(known.form, known.values)
    made = [[_made(words[number], how) for number, how in _several(place)] for place in known.places]
    tested: set[int] = set()
    for test in known.form.tests:
        numbers = [number for _, number in test.parts]
        tested.update(numbers)
        if common_sort(value for number in numbers for value in made[number]) != test.sort:
            return None
    sorts = known.form.sorts
    if any(sort_of_value(made[number][0]) != sorts[number] for number in range(len(made)) if number not in tested):
        return None
    return Read(
        known.form,
        tuple(tuple(each) if sort.startswith("[") else each[0] for each, sort in zip(made, sorts, strict=True)),
    )


def _made(word: Token, how: str) -> Value:
    """The constant that a word is; None where it is none."""
    if word.kind == "STRING":
        if not how:
            return word.value
        found = prefix_of(word.value)
        return found[1] if found is not None and found[0] == how else None
    number = int(word.value) if word.kind == "INTEGER" and len(word.value) < _LONGEST else float(word.value)
    return -number if how == "-" else number
