"""Stories as segments of bytes: a log in which what is said later of an event counts, merged as it grows.

A segment is written together with those before it that are no larger, so that what is written at a time follows what
has changed, and what lies written follows what is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cedr.consistency.admission.stream_rows import Source
from cedr.consistency.admission.versions import EventName, Said, Story
from cedr.consistency.encoding import Json, as_bytes, decode_message, encode_message, from_bytes
from cedr.model.stream import Insert, Retract


class StoryLog:
    """The saved stories of all streams."""

    def __init__(self) -> None:
        self._segments: dict[int, list[EventName]] = {}
        self._next = 0

    def flush(self, changed: Iterable[EventName], sources: Mapping[str, Source]) -> dict[str, bytes | None]:
        """The segments to write and, with None, those to drop."""
        names = dict.fromkeys(changed)
        if not names:
            return {}
        changes: dict[str, bytes | None] = {}
        for number in reversed(list(self._segments)):
            if len(self._segments[number]) > len(names):
                break
            names.update(dict.fromkeys(self._segments.pop(number)))
            changes[f"stories/{number}"] = None
        found = {name: _story(name, sources) for name in names}
        if not self._segments:  # nothing before it that a gap could hide
            found = {name: story for name, story in found.items() if story is not None}
        if found:
            number, self._next = self._next, self._next + 1
            self._segments[number] = list(found)
            entries = [[*name, None if story is None else _written(story)] for name, story in found.items()]
            changes[f"stories/{number}"] = as_bytes(entries)
        return changes

    def load(self, segments: Mapping[int, bytes]) -> list[Story]:
        """The stories in all the segments, by number."""
        stories: dict[EventName, Story | None] = {}
        for number in sorted(segments):
            self._next = max(self._next, number + 1)
            entries = from_bytes(segments[number])
            self._segments[number] = [(stream, id_) for stream, id_, _ in entries]
            for stream, id_, written in entries:
                stories[stream, id_] = None if written is None else _read(stream, id_, written)
        return [story for story in stories.values() if story is not None]


def _story(name: EventName, sources: Mapping[str, Source]) -> Story | None:
    source = sources.get(name[0])
    return None if source is None else source.stories.get(name[1])


def _written(story: Story) -> Json:
    said = [[item.position, item.sync, item.serial, encode_message(item.message)] for item in story.said]
    return [said, sorted(story.reported)]


def _read(stream: str, id_: str, written: Json) -> Story:
    story = Story(stream, id_)
    for position, sync, serial, encoded in written[0]:
        message = decode_message(encoded)
        assert isinstance(message, Insert | Retract)
        said = Said(position, message, sync, serial)
        if isinstance(message, Insert):
            story.insert(said)
        else:
            story.retract(said)
    story.reported.update(written[1])
    return story
