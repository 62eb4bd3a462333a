"""Which events are known no longer.

Reading: R37: an event goes as a whole, by the largest Vs of its versions.  Where Ve is read, not before g has reached
it and all that was said, for that may be said again.  What waits for admission at some level stays.  The cost follows
what is forgotten, not what is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.admission.ledger import Ledger
from cedr.consistency.admission.one_by_one import Exact
from cedr.consistency.admission.stream_rows import PLAIN, Source
from cedr.consistency.admission.versions import Story
from cedr.model.stream import Insert
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.operators.contract import Line
from cedr.runtime.values.run_length import together

Rows = NDArray[np.int64]
_Heap = list[tuple[Time, int, Story]]


class Forgetting:
    """Forgets events, plain ones by columns, stories one by one."""

    def __init__(self, ledger: Ledger, exact: Exact) -> None:
        self._ledger = ledger
        self._exact = exact
        self.open_ended: set[str] = set()
        """Streams of which Ve is read: their events are kept until g has reached it."""
        self._by_start: dict[str, _Heap] = {}
        self._by_end: dict[str, _Heap] = {}
        self._count = 0

    def forget(self, lines: Mapping[str, Line], default: Time = BEGINNING) -> None:
        """Forget the events of which nothing later can matter: all versions lie before the line of their stream."""
        guarantee = self._ledger.providers.guarantee
        for stream, source in self._ledger.sources.items():
            end = guarantee if stream in self.open_ended else FOREVER
            line = lines.get(stream, Line(default))
            self._forget(source, line.vs, min(end, line.ended))

    def _forget(self, source: Source, line: Time, end: Time) -> None:
        """Forget the events whose versions all have Vs up to the line, and Ve up to the end."""
        self._ledger.lines[source.stream] = self._ledger.serials, line, end
        self._plain(source, line, end)
        if source.stories:
            self._stories(source, line, end)

    def _plain(self, source: Source, line: Time, end: Time) -> None:
        rows = self._due_rows(source, line, end)
        source.spared = []
        if not len(rows):
            return
        plain = source.kind.view[together(rows)] == PLAIN
        rows = rows if plain.all() else rows[plain]
        waiting = [feed.holds(source, rows) for feed in self._ledger.listeners if feed.held]
        held = np.any(waiting, axis=0) if waiting else None
        if held is not None and held.any():
            source.spared = source.serial.at(rows[held]).tolist()
            source.by_start.add(source.table.vs.view[rows[held]], rows[held])
            rows = rows[~held]
        if len(rows):
            source.forget_rows(rows)
            for feed in self._ledger.listeners:
                feed.forgot(source, rows)

    def _due_rows(self, source: Source, line: Time, end: Time) -> Rows:
        """The rows of plain events that may go."""
        due = source.by_start.take(line)
        if end < FOREVER and len(due):
            ends = source.table.ve.view[due]
            later = ends > end
            source.by_end.add(ends[later], due[later])
            due = due[~later]
        return np.concatenate([due, source.by_end.take(end)]) if len(source.by_end) else due

    def _stories(self, source: Source, line: Time, end: Time) -> None:
        due = [*self._due(self._by_start, source, line), *self._due(self._by_end, source, end)]
        due.extend(source.changed)
        source.changed = {}
        for story in dict.fromkeys(due):
            if source.stories.get(story.id) is not story:
                continue
            if story.largest_start > line:
                self._schedule(self._by_start, story, story.largest_start)
            elif any(feed.holds_story(story) for feed in self._ledger.listeners):
                source.changed[story] = None
            elif max(story.valid_end, story.largest_sync) > end:
                if story.valid_end < FOREVER:  # an end that is open will be said by another message
                    self._schedule(self._by_end, story, max(story.valid_end, story.largest_sync))
            else:
                self._forget_story(source, story, end)

    def _due(self, heaps: dict[str, _Heap], source: Source, limit: Time) -> list[Story]:
        heap = heaps.get(source.stream, [])
        found = []
        while heap and heap[0][0] <= limit:
            found.append(heappop(heap)[2])
        return found

    def _schedule(self, heaps: dict[str, _Heap], story: Story, time: Time) -> None:
        self._count += 1
        heappush(heaps.setdefault(story.stream, []), (time, self._count, story))

    def _forget_story(self, source: Source, story: Story, end: Time) -> None:
        self._exact.forget(story)
        self._ledger.unsaved[story.name] = None
        self._ledger.letters.forgotten(story)
        rows = source.forget_story(story)
        oldest = story.said[0].message
        if isinstance(oldest, Insert) and oldest.event.valid_end > end:
            source.haunt(story)
        for feed in self._ledger.listeners:
            feed.forgot(source, rows, story)
