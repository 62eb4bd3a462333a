"""Dead letters as they are decided.

Readings: R37, R39, R41.  Most are decided as a message arrives.  A late revision is judged on the messages, not on
their order: the removal of a version can make room for another.  What bears on a revision at o has Sync <= o, so it is
decided once g has reached o.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final, Literal

from cedr.consistency.admission.versions import Story
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.dead_letter import DeadLetter, Fault, late
from cedr.model.lineage import TooLate
from cedr.model.schema import EventTypes
from cedr.model.stream import Message
from cedr.model.time import FOREVER, Time

Policy = Literal["dead-letter", "fail"]
BROKEN: Final = "broken-guarantee"


class Letters:
    """The dead letters that nobody has taken yet."""

    def __init__(self, catalog: EventTypes, broken: Policy) -> None:
        self.broken: Policy = broken
        self.behind = 0
        """How many messages were refused because they lay behind the guarantee of their provider."""
        self.decided: list[DeadLetter] = []
        self.reported: dict[Story, None] = {}
        """Stories with late revisions handed out since this was last asked."""
        self._catalog = catalog
        self._changed: dict[Story, None] = {}
        self._late: dict[Story, list[TooLate]] = {}
        self._ripening: list[tuple[Time, int, Story]] = []
        self._count = 0

    def bury(self, fault: Fault, message: Message, position: int) -> DeadLetter:
        """A message is not used; by policy that ends everything.  Reading: R39."""
        letter = fault.letter(message, position)
        if self.broken == "fail" and fault.code == BROKEN:
            raise StreamError(Diagnostic(fault.code, fault.reason, detail=f"message {position}: {message}"))
        self.decided.append(letter)
        self.behind += fault.code == BROKEN
        return letter

    def changed(self, story: Story) -> None:
        """More was said about an event: which of its revisions are late is judged again."""
        self._changed[story] = None

    def forgotten(self, story: Story) -> None:
        """Nothing more can be said about an event: what is late is late."""
        self.decided.extend(self._unreported(story, story.late(self._catalog), FOREVER))
        self._changed.pop(story, None)
        self._late.pop(story, None)

    def so_far(self) -> list[DeadLetter]:
        """The dead letters not taken, late revisions as judged on what has arrived, by position."""
        self._judge()
        late_ones = [
            _letter(revision)
            for story, revisions in self._late.items()
            for revision in revisions
            if revision.position not in story.reported
        ]
        return sorted([*self.decided, *late_ones], key=lambda letter: letter.position)

    def drain(self, guarantee: Time) -> list[DeadLetter]:
        """The dead letters decided since the last time, by position; they are held no longer."""
        self._judge()
        while self._ripening and self._ripening[0][0] <= guarantee:
            story = heappop(self._ripening)[2]
            self.decided.extend(self._unreported(story, self._late.get(story, ()), guarantee))
        taken, self.decided = self.decided, []
        return sorted(taken, key=lambda letter: letter.position)

    def _judge(self) -> None:
        for story in self._changed:
            found = story.late(self._catalog)
            if found:
                self._late[story] = found
            else:
                self._late.pop(story, None)
            for revision in found:
                self._count += 1
                heappush(self._ripening, (revision.occurred, self._count, story))
        self._changed.clear()

    def _unreported(self, story: Story, revisions: list[TooLate] | tuple[()], until: Time) -> list[DeadLetter]:
        ripe = [r for r in revisions if r.occurred <= until and r.position not in story.reported]
        if ripe:
            story.reported.update(revision.position for revision in ripe)
            self.reported[story] = None
        return [_letter(revision) for revision in ripe]


def _letter(revision: TooLate) -> DeadLetter:
    return late(revision.occurred, revision.allowed).letter(revision.message, revision.position)
