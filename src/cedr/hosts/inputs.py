"""What was given to ``evaluate``, ``run`` and ``trace``: messages of our own form, or data that words describe.

Reading: R3.  Our own form is recognised by its content, so that nobody has to say which it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import IOBase
from itertools import chain
from os import PathLike
from typing import Any

from cedr.connect.messages import MessageFile, read_messages, take_messages
from cedr.consistency.batch import EventBatch
from cedr.data.frames import is_frame
from cedr.data.opening import LocalEvents, holds_messages, is_message, local_events, wrong_data
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, Retract


@dataclass(frozen=True, slots=True)
class MessagesAt:
    """The path of a file that is to be of our own form, whatever is in it."""

    path: str

    def __fspath__(self) -> str:
        return self.path


Messages = MessageFile | str | PathLike[str] | Iterable[Any]


def as_events(data: Any, words: Mapping[str, Any]) -> LocalEvents | None:
    """Data that words describe; None where it is messages of our own form.  Raises ``StreamError``."""
    given = {name: value for name, value in words.items() if value is not None}
    if isinstance(data, str | PathLike) and not isinstance(data, MessagesAt):
        if str(data) == "-":  # it can be read only once: words tell what it is
            return local_events(data, given) if given else None
        if holds_messages(data):
            _no_words(given)
            return None
        return local_events(data, given)
    if isinstance(data, MessageFile | MessagesAt):
        _no_words(given)
        return None
    if isinstance(data, LocalEvents | Mapping) or is_frame(data) or hasattr(data, "sparkSession"):
        return local_events(data, given)
    if hasattr(data, "dtype") or isinstance(data, IOBase):  # a Series, an array, an open file: iterable, and no rows
        raise wrong_data(data)
    if isinstance(data, list | tuple) and data:
        return _listed(data, given)
    if not isinstance(data, Iterable) or isinstance(data, bytes):
        raise wrong_data(data)
    one_by_one = not isinstance(data, list | tuple)  # of an empty list nothing has to be said
    return local_events(data, given) if given and one_by_one else None


def _listed(data: list[Any] | tuple[Any, ...], given: Mapping[str, Any]) -> LocalEvents | None:
    first = data[0]
    if isinstance(first, LocalEvents):
        _no_words(given)
        return LocalEvents(tuple(source for each in data for source in each.sources))
    if isinstance(first, str | PathLike) or (
        isinstance(first, Mapping) and not is_message(first) and (given or _plain(data))
    ):
        return local_events(data, given)
    if not isinstance(first, Mapping | Insert | Retract | Guarantee | EventBatch | list | tuple):
        raise wrong_data(data)
    _no_words(given)
    return None


def _plain(data: Iterable[Any]) -> bool:
    """Whether dictionaries are rows of data, and none is a message."""
    return not any(isinstance(each, Mapping) and is_message(each) for each in data)


def _no_words(given: Mapping[str, Any]) -> None:
    if given:
        primary = f"these are messages, which say all by themselves: {next(iter(given))}= means nothing"
        raise StreamError(Diagnostic("bad-word", primary))


def messages_of(data: Messages, known: EventTypes) -> MessageFile:
    """Messages of our own form, read whole."""
    if isinstance(data, MessageFile):
        return data
    if isinstance(data, str | PathLike):
        return _checked(read_messages(data, known))
    given = list(data)
    batches = [each for each in given if isinstance(each, EventBatch)]
    if batches:
        given = list(chain.from_iterable(each.inserts() if isinstance(each, EventBatch) else [each] for each in given))
    return _checked(take_messages(given, known))


_NO_MESSAGES = frozenset({"bad-json", "bad-message", "unknown-message", "bad-encoding", "line-too-long"})
"""The codes of what is no message at all; others are messages with a fault."""


def _checked(found: MessageFile) -> MessageFile:
    """Raises ``StreamError`` where there is not one message among what was given."""
    if (
        found.messages
        or not all(letter.code in _NO_MESSAGES for letter in found.dead_letters)
        or not found.dead_letters
    ):
        return found
    many = len(found.dead_letters)
    primary = (
        f"{found.name} holds no messages: {f'none of {many:,} lines is one' if many > 1 else 'its one line is none'}"
    )
    first = found.dead_letters[0]
    place = "" if first.span is None else f", line {first.span.line}"
    hint = "if it is data, say what its columns are: type, time, id"
    raise StreamError(Diagnostic("no-messages-at-all", primary, detail=f"first{place}: {first.primary}", hint=hint))
