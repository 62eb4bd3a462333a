"""The arrivals as named segments of bytes, and back.

What ``state`` gives follows what has happened since the last time; all segments together follow what is known:

    meta                  the version of this format
    ledger                h, g, counts, waiting retractions, dead letters not drained
    feeds                 what each level has admitted, as frontiers
    rows/<stream>/<n>     plain events, in Arrow's format
    stories/<n>           the messages about all other events
    ghosts                rows of segments that are gone though their times do not tell

Whether a message is admitted at a level follows from its number, its Sync and the level's frontiers; whether a plain
event is forgotten, from its times and the last line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.admission.in_bulk import taken
from cedr.consistency.admission.one_by_one import Waiting
from cedr.consistency.admission.row_segments import RowSegments
from cedr.consistency.admission.stream_rows import PlainRows, Source
from cedr.consistency.admission.version_log import StoryLog
from cedr.consistency.encoding import Json, as_bytes, decode_message, encode_message, from_bytes
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.dead_letter import DeadLetter
from cedr.model.stream import Insert, Retract

if TYPE_CHECKING:
    from cedr.consistency.admission.door import Arrivals
    from cedr.consistency.admission.versions import Said, Story

Rows = NDArray[np.int64]
VERSION: Final = 5
READABLE: Final = range(3, VERSION + 1)
"""Of all of these a test has a state.

In version 3 all columns of plain events were written, and what was said also where it was final; up to version 4 whole
numbers in eight bytes each, and IDs that are numbers as texts.
"""


class Saving:
    """Writes and reads the state of arrivals."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._ledger = arrivals.ledger
        self._rows: dict[str, RowSegments] = {}
        self._stories = StoryLog()
        self._before: dict[str, bytes] = {}
        self.feeds: list[Json] = []
        """What was saved of levels that have not begun again."""

    # -- writing ------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, bytes | None]:
        """The segments that have changed since the last time; None where one is to be dropped."""
        ledger = self._ledger
        for story in ledger.letters.reported:
            ledger.unsaved[story.name] = None
        ledger.letters.reported = {}
        changes = self._stories.flush(ledger.unsaved, ledger.sources)
        ledger.unsaved = {}
        for source in ledger.sources.values():
            changes.update(self._segments(source).flush())
        ghosts = {stream: source.ghosts for stream, source in ledger.sources.items() if source.ghosts}
        feeds = [*(feed.saved() for feed in ledger.listeners), *self.feeds]
        small = {"meta": {"version": VERSION}, "ledger": self._written(), "feeds": feeds, "ghosts": ghosts}
        for name, data in small.items():
            written = as_bytes(data)
            if self._before.get(name) != written:
                changes[name] = self._before[name] = written
        return changes

    def _segments(self, source: Source) -> RowSegments:
        found = self._rows.get(source.stream)
        if found is None:
            found = self._rows[source.stream] = RowSegments(source)
        return found

    def _written(self) -> Json:
        ledger, exact = self._ledger, self._arrivals.exact
        counts = ledger.counts
        return {
            "high": ledger.high,
            "guarantee": ledger.providers.guarantee,
            "providers": [[name, ledger.providers.of(name)] for name in ledger.names if name is not None],
            "counts": [counts.received, counts.duplicates, counts.regressing_guarantees, counts.unknown],
            "late": [ledger.lateness.count, ledger.letters.behind],
            "serials": ledger.serials,
            "ignored": ledger.ignored,
            "unread_keys": ledger.unread_keys,
            "cedr_time": ledger.cedr_time,
            "waiting": [
                [waiting.position, waiting.guarantee, encode_message(waiting.message), waiting.late]
                for group in exact.waiting.values()
                for waiting in group
            ],
            "letters": [letter_as_json(letter) for letter in ledger.letters.decided],
            "lines": self._ledger.lines,
            "streams": {stream: source.spared for stream, source in ledger.sources.items()},
        }

    def renumber(self, stream: str, old_to_new: Rows) -> None:
        """The rows of a stream have new numbers."""
        if stream in self._rows:
            self._rows[stream].renumber(old_to_new)

    # -- reading ------------------------------------------------------------------------------------------------------

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Begin with what was saved; nothing must have arrived yet."""
        _check_version(segments)
        self._before = {name: segments[name] for name in ("meta", "ledger", "feeds", "ghosts") if name in segments}
        self.feeds = from_bytes(segments["feeds"])
        self._read(from_bytes(segments["ledger"]))
        stories = {int(n.partition("/")[2]): s for n, s in segments.items() if n.startswith("stories/")}
        promoted: dict[int, Story | None] = {}
        told = self._stories.load(stories)
        promoted.update((story.said[0].serial, story) for story in told)
        self._restore_stories(told)
        for stream, of_stream in from_bytes(segments["ghosts"]).items():
            ghosts = {int(number): serials for number, serials in of_stream.items()}
            self._ledger.source(stream).ghosts = ghosts
            promoted.update((serial, None) for serials in ghosts.values() for serial in serials)
        numbers = sorted((int(n.rpartition("/")[2]), n) for n in segments if n.startswith("rows/"))
        for number, name in numbers:
            source = self._ledger.source(name[len("rows/") : name.rindex("/")])
            self._restore_rows(source, number, segments[name], promoted)
        for feed in self._ledger.listeners[: len(self.feeds)]:
            feed.resume(self.feeds.pop(0))

    def _read(self, written: Json) -> None:
        ledger, exact = self._ledger, self._arrivals.exact
        ledger.high, ledger.serials, ledger.cedr_time = written["high"], written["serials"], written["cedr_time"]
        ledger.set_providers(dict(written["providers"]), written["guarantee"])
        ledger.ignored, ledger.unread_keys = written["ignored"], written["unread_keys"]
        counts = ledger.counts
        counts.received, counts.duplicates, counts.regressing_guarantees, *unknown = written["counts"]
        counts.unknown = sum(unknown)  # older states do not have it
        ledger.lateness.count, ledger.letters.behind = written["late"]
        for position, guarantee, encoded, late in written["waiting"]:
            message = decode_message(encoded)
            assert isinstance(message, Retract)
            exact.begin_waiting(Waiting(position, message, guarantee, late=late))
        ledger.letters.decided = [letter_from_json(letter) for letter in written["letters"]]
        self._ledger.lines = {stream: tuple(line) for stream, line in written["lines"].items()}
        for stream, spared in written["streams"].items():
            ledger.source(stream).spared = spared

    def _restore_stories(self, stories: Iterable[Story]) -> None:
        inserted: dict[str, list[tuple[Story, Said]]] = {}
        for story in stories:
            source = self._ledger.source(story.stream)
            source.stories[story.id] = story
            source.changed[story] = None
            self._ledger.letters.changed(story)
            for said in story.said:
                if isinstance(said.message, Insert):
                    inserted.setdefault(story.stream, []).append((story, said))
                    self._arrivals.exact.use_key(story, said.message)
        for stream, of_stream in inserted.items():
            self._ledger.source(stream).add_inserts(of_stream)

    def _restore_rows(self, source: Source, number: int, written: bytes, promoted: Mapping[int, Story | None]) -> None:
        saved = self._segments(source)
        without = np.array(sorted(promoted), dtype=np.int64)
        for batch, serials in saved.load(number, written):
            stories = np.isin(serials, without)
            for serial in serials[stories].tolist():
                story = promoted[serial]
                if story is not None:
                    story.segment = number
            known = ~stories & ~self._forgotten(source, batch, serials)
            first = len(source.table)
            new = source.append_new(taken(batch, known), serials[known])
            saved.loaded(number, first + np.flatnonzero(new))

    def _forgotten(self, source: Source, batch: PlainRows, serials: Rows) -> NDArray[np.bool_]:
        """Which rows the last line took: those that no level held."""
        until, line, end = self._ledger.lines.get(source.stream, (0, 0, 0))
        due: NDArray[np.bool_] = (serials < until) & (batch.vs <= line) & (batch.ve <= end)
        return due & ~np.isin(serials, np.array(source.spared, dtype=np.int64))


def admitted(frontiers: Iterable[tuple[int, int]], serials: Rows, syncs: Rows) -> NDArray[np.bool_]:
    """Which messages a level has admitted: a frontier that was applied after they came reached their Sync."""
    found = np.zeros(len(serials), dtype=np.bool_)
    for until, frontier in frontiers:
        found |= (serials < until) & (syncs <= frontier)
    return found


def letter_as_json(letter: DeadLetter) -> Json:
    """A dead letter as JSON."""
    return [letter.code, letter.reason, letter.position, encode_message(letter.message)]


def letter_from_json(written: Json) -> DeadLetter:
    """The dead letter that was written."""
    code, reason, position, encoded = written
    return DeadLetter(code, reason, decode_message(encoded), position)


def _check_version(segments: Mapping[str, bytes]) -> None:
    version = from_bytes(segments["meta"]).get("version") if "meta" in segments else None
    if version not in READABLE:
        found = "no version" if version is None else f"version {version}"
        primary = f"the saved state has {found}, this program reads versions {READABLE.start} to {VERSION}"
        hint = "start it with the program that wrote it, or begin without it"
        raise StreamError(Diagnostic("unknown-state-version", primary, hint=hint))
