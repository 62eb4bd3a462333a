"""Dead letters for people: what the intake refused, drawn at the line it came from.

Readings: R37 (revisions that come too late), R39 (broken guarantees), R41 (delivery faults).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cedr.connect.places import Path, Position
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.model.intake import DeadLetter
from cedr.model.stream import Insert, Retract

DEAD_LETTER = "dead letter"

_FIELDS = {
    "broken-guarantee": ("os", "oe", "vs", "ve"),
    "key-reused": ("k", "id"),
    "second-live-row": ("id",),
    "retraction-without-insert": ("k", "id"),
    "lengthening-retraction": ("oe", "ve"),
    "revision-too-late": ("os", "oe"),
    "valid-end-before-start": ("ve",),
    "occurrence-end-before-start": ("oe",),
}
_HINTS = {
    "broken-guarantee": "a provider's later messages must have Sync after its guarantee; give each provider its source",
    "retraction-without-insert": "the key must be the k of an insert, or name its type, id and os",
    "revision-too-late": "declare the type REVISABLE, or REVISABLE FOR a duration",
    "second-live-row": "a modification of the event has a later os; to replace the row retract it first",
}


def drawn(letters: Iterable[DeadLetter], positions: Sequence[Position]) -> list[Diagnostic]:
    """Dead letters of the intake as diagnostics; ``positions[i]`` is where message i + 1 stands."""
    return [_drawn(letter, positions[letter.position - 1]) for letter in letters]


def _drawn(letter: DeadLetter, position: Position) -> Diagnostic:
    span = position.field(_focus(letter, position)) if position.text else None
    hint = _HINTS.get(letter.code, "")
    return Diagnostic(letter.code, letter.reason, span, hint=hint, severity=DEAD_LETTER)


def _focus(letter: DeadLetter, position: Position) -> Path:
    """The field that is to blame, or the whole message."""
    kind = {Insert: "insert", Retract: "retract"}.get(type(letter.message), "guarantee")
    whole = position.field((kind,))
    for name in _FIELDS.get(letter.code, ()):
        if position.field((kind, name)) != whole:
            return (kind, name)
    return (kind,)
