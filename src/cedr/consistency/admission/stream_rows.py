"""What is known of one stream: its table, which event each row belongs to, and which events are more than a row.

Readings: R3, R37.  Beside the table stand columns of the same length that say of each row what it is here, where its
message stood, and its number among what was accepted (``serial``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.admission.versions import Said, Story, Version, inserted_version
from cedr.model.event import Event, Payload
from cedr.model.stream import Insert, default_key
from cedr.model.time import FOREVER
from cedr.runtime.ids.event_index import EventIndex
from cedr.runtime.ids.monotone_ids import Rising
from cedr.runtime.ids.text_ids import TextIds
from cedr.runtime.kernels.segments import is_sorted
from cedr.runtime.store.row_queue import RowQueue
from cedr.runtime.store.table import Header, Table
from cedr.runtime.values.constant import always, constant
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.run_length import Runs, Uniform, together

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

GONE: Final = 0
"""Of an event that is forgotten, or a version that is not kept."""
PLAIN: Final = 1
"""All that is known of its event."""
INSERTED: Final = 2
"""Holds an insert of a story."""
MADE: Final = 3
"""A version of a story, with ends of its own."""
UNSAVED: Final = -1


Attributes = frozenset[str] | None
"""The attributes that are kept; None: all of them."""


class PlainRows(NamedTuple):
    """Plain events as columns: Oe = FOREVER, and Rt = Vs unless it is given."""

    ids: Any
    vs: Rows
    ve: Rows
    os: Rows
    payload: Mapping[str, Any] | Sequence[Payload]
    positions: Rows | range
    providers: int | NDArray[np.int32]
    rt: Rows | None = None

    @property
    def header(self) -> Header:
        """The header of the rows."""
        open_ = constant(FOREVER, len(self.vs))
        rt = self.vs if self.rt is None else self.rt
        return Header(self.vs, self.ve, self.os, open_, rt, always(len(self.vs)))


class Source:
    """One stream: rows, and the events that they belong to."""

    def __init__(self, stream: str, attributes: Attributes = None) -> None:
        self.stream = stream
        self.attributes = attributes
        self.table = Table(TextIds())
        self.index = EventIndex()
        self._rising = Rising()
        self.kind = Growable(np.int8)
        self.serial, self.position = Runs(), Runs()
        self.provider, self.segment = Uniform(0, np.int32), Uniform(UNSAVED, np.int32)
        self.stories: dict[str, Story] = {}
        self.overlaps = False
        """Whether a default key of this stream can be one of another: "A/b" and "A".  Reading: R3."""
        self.changed: dict[Story, None] = {}
        """Stories of which more was said since it was last asked which are to be forgotten."""
        self.plain = 0
        """How many plain events are known."""
        self.by_start, self.by_end = RowQueue(), RowQueue()
        """Plain events by Vs; those that wait for their Ve as well.  Reading: R37."""
        self.spared: list[int] = []
        """Serial numbers of plain events that the last line would have taken, had no level held them."""
        self.ghosts: dict[int, list[int]] = {}
        """By segment, serial numbers of saved plain rows that are gone though their times do not tell."""
        self.lost: dict[int, int] = {}
        """How many saved plain rows of each segment are none any more, since this was last asked."""

    @property
    def ids(self) -> TextIds:
        """The IDs of the rows."""
        assert isinstance(self.table.ids, TextIds)
        return self.table.ids

    @property
    def events(self) -> int:
        """How many events are known."""
        return self.plain + len(self.stories)

    @property
    def nbytes(self) -> int:
        """Bytes held beside the table; of stories a rough measure."""
        columns = sum(column.nbytes for column in self._columns)
        told = sum(500 + 700 * len(story.said) for story in self.stories.values())
        return columns + told + int(self.index.nbytes) + self.by_start.nbytes + self.by_end.nbytes

    @property
    def _columns(self) -> tuple[Growable | Runs | Uniform, ...]:
        return self.kind, self.serial, self.position, self.provider, self.segment

    # -- rows come ----------------------------------------------------------------------------------------------------

    def kept(self, payload: Payload) -> Payload:
        """The part of a payload that is kept."""
        names = self.attributes
        if names is None or names.issuperset(payload):
            return payload
        return Payload((name, value) for name, value in payload.items() if name in names)

    def find(self, digests: TextIds) -> Rows:
        """A row of each event with these IDs, -1 where it is not known."""
        return self.index.find(self.ids, self.kind.view, digests.records)

    def append_new(self, batch: PlainRows, serials: Rows | range) -> Mask:
        """Rows of plain events, those that are new; which these are.

        All of the batch is appended, what is not new as rows that nobody needs: as a rule there are none.
        """
        first = len(self.table)
        self.ids.extend(batch.ids)
        payload = batch.payload
        if isinstance(payload, Mapping):
            kept = self.attributes
            columns = payload if kept is None else {name: payload[name] for name in payload if name in kept}
            self.table.columns.extend(len(batch.vs), columns)
        else:
            self.table.columns.extend_payloads([self.kept(of_row) for of_row in payload])
        numbers = self.table.extend(batch.header)
        self._describe(numbers, PLAIN, serials, batch.positions, batch.providers)
        new = self._index(numbers, first)
        if new.all():
            self.plain += len(new)
            if is_sorted(batch.vs):
                self.by_start.add_span(self.table.vs, first, first + len(new))
            else:
                self.by_start.add(batch.vs.copy(), numbers)  # the given array is not ours
        else:
            self.kind.view[numbers[~new]] = GONE
            self.plain += int(np.count_nonzero(new))
            self.by_start.add(batch.vs[new], numbers[new])
        return new

    def _index(self, rows: Rows, first: int) -> Mask:
        """Put rows, the IDs from the first on having come with them, into the index; which of them are new."""
        if self._rising.takes(self.ids, first):
            self.index.insert_later(rows)
            return always(len(rows))
        return self.index.insert_new(self.ids, self.kind.view, rows)

    def add_inserts(self, inserted: Sequence[tuple[Story, Said]]) -> None:
        """Rows that hold the inserts of stories."""
        events = [said.message.event for _, said in inserted if isinstance(said.message, Insert)]
        first = len(self.table)
        self.ids.extend([event.id for event in events])
        self.table.columns.extend_payloads([event.payload for event in events])
        rows = self.table.extend(_header(events))
        serials, positions = ([part(said) for _, said in inserted] for part in _PLACES)
        self._describe(rows, INSERTED, serials, positions, 0)
        new = []
        for row, (story, said) in zip(rows.tolist(), inserted, strict=True):
            assert isinstance(said.message, Insert)
            if not story.rows:
                new.append(row)
            key = said.message.lineage_key
            story.rows[key] = row
            story.versions[inserted_version(said.message.event, key)] = row
        self._index(np.array(new, dtype=np.int64), first)

    def make_versions(self, wanted: Iterable[tuple[Story, Version]]) -> None:
        """Rows for versions that have none."""
        missing = list(dict.fromkeys((story, version) for story, version in wanted if version not in story.versions))
        if not missing:
            return
        of = np.array([story.rows[version.key] for story, version in missing], dtype=np.int64)
        old = self.table.header(of)
        ve, oe, plain = (np.array([part(version) for _, version in missing]) for part in _ENDS)
        rows = self.table.extend_versions(of, Header(old.vs, ve, old.os, oe, old.rt, plain))
        self._describe(rows, MADE, self.serial.at(of), self.position.at(of), 0)
        for row, (story, version) in zip(rows.tolist(), missing, strict=True):
            story.versions[version] = row

    def _describe(
        self,
        rows: Rows,
        kind: int,
        serials: Rows | range | list[int],
        positions: Rows | range | list[int],
        providers: int | NDArray[np.int32],
    ) -> None:
        self.kind.fill(len(rows), kind)
        self.serial.extend(serials)
        self.position.extend(positions)
        self.provider.fill(len(rows), providers)
        self.segment.fill(len(rows), UNSAVED)

    # -- what rows say ------------------------------------------------------------------------------------------------

    def inserts(self, rows: Rows, providers: Sequence[str | None]) -> list[Insert]:
        """The messages that plain rows came from."""
        ids, payloads = self.ids.values(rows), self.table.columns.payloads(rows)
        names = self.provider.at(rows).tolist()
        header = self.table.header(rows)
        times = (column.tolist() for column in (header.vs, header.ve, header.os, header.oe, header.rt))
        found = []
        for id_, payload, name, *clocks in zip(ids, payloads, names, *times, strict=True):
            vs, ve, os, oe, rt = clocks
            event = Event(self.stream, id_, vs, ve, os, oe, rt, (), payload)
            found.append(Insert(event, default_key(event), providers[name]))
        return found

    def promote(self, row: int, insert: Insert) -> Story:
        """A plain event becomes a story."""
        only = np.array([row], dtype=np.int64)
        position, serial = int(self.position.at(only)[0]), int(self.serial.at(only)[0])
        event = insert.event
        story = self.stories[event.id] = Story(self.stream, event.id)
        story.insert(Said(position, insert, event.occurrence_start, serial))
        story.segment = int(self.segment.at(only)[0])
        story.rows[insert.lineage_key] = row
        story.versions[inserted_version(event, insert.lineage_key)] = row
        self._lose(only)
        self.kind.view[row] = INSERTED
        return story

    # -- rows go ------------------------------------------------------------------------------------------------------

    def forget_rows(self, rows: Rows) -> None:
        """Plain events are known no longer."""
        self._lose(rows)
        self.kind.view[together(rows)] = GONE

    def forget_story(self, story: Story) -> Rows:
        """A story is known no longer; its rows."""
        del self.stories[story.id]
        rows = np.array(sorted({*story.rows.values(), *story.versions.values()}), dtype=np.int64)
        self.kind.view[rows] = GONE
        return rows

    def haunt(self, story: Story) -> None:
        """Remember that the plain event that a forgotten story once was must not come back from its segment."""
        if story.segment >= 0:
            self.ghosts.setdefault(story.segment, []).append(story.said[0].serial)

    def _lose(self, rows: Rows) -> None:
        self.plain -= len(rows)
        if self.segment.everywhere == UNSAVED:
            return
        segments, counts = np.unique(self.segment.at(rows), return_counts=True)
        for segment, count in zip(segments.tolist(), counts.tolist(), strict=True):
            if segment != UNSAVED:
                self.lost[segment] = self.lost.get(segment, 0) + count

    def held_rows(self) -> Rows:
        """The rows that are still needed, in their order."""
        needed = self.kind.view == PLAIN
        for story in self.stories.values():
            needed[list(story.rows.values())] = True
            needed[list(story.versions.values())] = True
        return np.flatnonzero(needed)

    def renumber(self, old_to_new: Rows) -> None:
        """Rows have new numbers, in the old order; -1 are gone."""
        kept = np.flatnonzero(old_to_new >= 0)
        for column in self._columns:
            column.keep(kept)
        for queue in (self.by_start, self.by_end):
            queue.renumber(old_to_new)
        for story in self.stories.values():
            story.rows = {key: int(old_to_new[row]) for key, row in story.rows.items()}
            made = ((version, int(old_to_new[row])) for version, row in story.versions.items())
            story.versions = {version: row for version, row in made if row >= 0}
        kinds = self.kind.view
        known = np.flatnonzero((kinds == PLAIN) | (kinds == INSERTED))
        self.index.rebuild(self.ids, kinds, known)


def _header(events: Sequence[Event]) -> Header:
    vs, ve, os, oe, rt = (np.array([part(event) for event in events], dtype=np.int64) for part in _TIMES)
    return Header(vs, ve, os, oe, rt, (os <= vs) & (oe == FOREVER))


_TIMES = tuple(
    attrgetter(name) for name in ("valid_start", "valid_end", "occurrence_start", "occurrence_end", "root_time")
)
_ENDS = tuple(attrgetter(name) for name in ("valid_end", "occurrence_end", "plain"))
_PLACES = tuple(attrgetter(name) for name in ("serial", "position"))
