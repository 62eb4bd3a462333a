"""A feed shows the rows that the admitted messages amount to.  Readings: R4, R5, R33, R34, R37."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cedr.consistency.admission.admitted import Feed
from cedr.consistency.admission.door import Arrivals
from cedr.model.event import Event, primitive
from cedr.model.intake import Intake, rows_of
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, Message, Retract, insert
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.store.table import Delta, Rows
from tests.consistency.messages import (
    CATALOG,
    HISTORIES,
    cut,
    detours,
    frontiers,
    in_batches,
    messages,
    same_decisions,
)

_HEADER = ("stream", "id", "valid_start", "valid_end", "occurrence_start", "occurrence_end", "root_time")
_PROVIDERS = ("p",)


def events_at(arrivals: Arrivals, stream: str, rows: Rows) -> list[Event]:
    table = arrivals.table(stream)
    assert table.ids is not None
    header = table.header(rows)
    parts = zip(table.ids.values(rows), *(c.tolist() for c in header[:5]), table.columns.payloads(rows), strict=True)
    return [Event(stream, id_, vs, ve, os, oe, rt, (), payload) for id_, vs, ve, os, oe, rt, payload in parts]


def bare(event: Event) -> Event:
    """As a table holds it: what an event is made of is not kept there."""
    return Event(*(getattr(event, name) for name in _HEADER), (), event.payload)


class Watcher:
    """Applies what a feed says, and compares it with what the admitted messages amount to."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.rows: dict[str, set[int]] = {}
        self.admitted: set[int] = set()

    def apply(self, changes: Mapping[str, Delta], arrivals: Arrivals) -> None:
        for stream, delta in changes.items():
            held = self.rows.setdefault(stream, set())
            removed, added = set(delta.removed.tolist()), set(delta.added.tolist())
            assert (len(removed), len(added)) == (len(delta.removed), len(delta.added))
            assert removed <= held
            assert not added & held
            plain = arrivals.table(stream).plain.view
            before, after = (
                set(zip(events_at(arrivals, stream, rows), plain[rows].tolist(), strict=True)) for rows in delta
            )
            assert not before & after
            held -= removed
            held |= added

    def renumber(self, stream: str, old_to_new: Rows) -> None:
        self.rows[stream] = {int(old_to_new[row]) for row in self.rows.get(stream, ())}
        assert -1 not in self.rows[stream]


class World:
    """Arrivals with feeds, and the intake that they are to agree with."""

    def __init__(self, catalog: EventTypes, feeds: int) -> None:
        self.catalog = catalog
        self.arrivals = Arrivals(catalog, _PROVIDERS)
        self.intake = Intake(catalog, _PROVIDERS)
        self.watchers = [Watcher(Feed(self.arrivals)) for _ in range(feeds)]
        self.forgotten: set[tuple[str, str]] = set()
        self.segments: dict[str, bytes] = {}
        self.time = 0

    def receive(self, part: Sequence[Message], columns: Sequence[bool]) -> None:
        self.time += 1
        self.arrivals.receive(in_batches(part, columns), cedr_time=self.time)
        for message in part:
            self.intake.receive(message)

    def admit(self, watcher: Watcher, frontier: Time) -> None:
        frontier = max(frontier, self.arrivals.guarantee)
        watcher.apply(watcher.feed.admit(frontier), self.arrivals)
        watcher.admitted |= {i for i, accepted in enumerate(self.intake.accepted) if accepted.sync <= frontier}

    def compare(self) -> None:
        for watcher in self.watchers:
            self._compare(watcher)

    def _compare(self, watcher: Watcher) -> None:
        wanted = rows_of([self.intake.accepted[i].message for i in sorted(watcher.admitted)], self.catalog)
        for stream in wanted.keys() | watcher.rows.keys():
            rows = np.array(sorted(watcher.rows.get(stream, ())), dtype=np.int64)
            found = events_at(self.arrivals, stream, rows)
            known = [bare(row) for row in wanted.get(stream, []) if row.reference not in self.forgotten]
            assert Counter(found) == Counter(known)
            versions = Counter(event.id for event in found)
            plain = [
                versions[e.id] == 1 and e.occurrence_end == FOREVER and e.occurrence_start <= e.valid_start
                for e in found
            ]
            assert self.arrivals.table(stream).plain.view[rows].tolist() == plain
        live = {stream: set(rows.tolist()) for stream, rows in watcher.feed.live().items()}
        assert live == {stream: rows for stream, rows in watcher.rows.items() if rows}
        assert watcher.feed.held == sum(
            i not in watcher.admitted and self.event_of(accepted.message).reference not in self.forgotten
            for i, accepted in enumerate(self.intake.accepted)
        )
        since = watcher.feed.held_since()
        assert (since is None) == (watcher.feed.held == 0)
        assert since is None or since <= self.time

    # -- what may happen between the steps ----------------------------------------------------------------------------

    def compact(self, kept: Sequence[int]) -> None:
        for stream, table in self.arrivals.tables.items():
            held = {*self.arrivals.held_rows(stream).tolist(), *(row for row in kept if row < len(table))}
            rows = np.array(sorted(held), dtype=np.int64)
            old_to_new = np.full(len(table), -1, dtype=np.int64)
            old_to_new[rows] = np.arange(len(rows))
            table.keep(rows)
            self.arrivals.renumber(stream, old_to_new)
            for watcher in self.watchers:
                watcher.renumber(stream, old_to_new)

    def save(self) -> None:
        for name, segment in self.arrivals.state().items():
            if segment is None:
                del self.segments[name]
            else:
                self.segments[name] = segment

    def restart(self, *, feeds_first: bool) -> None:
        """Go on with what was saved."""
        self.save()
        again = Arrivals(self.catalog, _PROVIDERS)
        again.forgetting.open_ended = self.arrivals.forgetting.open_ended
        feeds = [Feed(again) for _ in self.watchers] if feeds_first else []
        again.restore(self.segments)
        feeds = feeds or [Feed(again) for _ in self.watchers]
        assert (again.rows_held, again.high) == (self.arrivals.rows_held, self.arrivals.high)
        self.arrivals = again
        for watcher, feed in zip(self.watchers, feeds, strict=True):
            assert len(feed.too_late) == len(watcher.feed.too_late)
            watcher.feed = feed
            watcher.rows = {stream: set(rows.tolist()) for stream, rows in feed.live().items()}
        assert self.arrivals.state() == {}

    def forget(self, line: Time) -> None:
        self.arrivals.forgetting.forget({}, line)
        events: dict[tuple[str, str], list[Event]] = {}
        for event in (a.message.event for a in self.intake.accepted if isinstance(a.message, Insert)):
            events.setdefault(event.reference, []).append(event)
        held = {
            self.event_of(accepted.message).reference
            for i, accepted in enumerate(self.intake.accepted)
            if any(i not in watcher.admitted for watcher in self.watchers)
        }
        for name, versions in events.items():
            if all(event.valid_start <= line for event in versions) and name not in held and not self._open(name):
                self.forgotten.add(name)
        for watcher in self.watchers:
            live = watcher.feed.live()
            watcher.rows = {s: rows & set(live.get(s, np.empty(0)).tolist()) for s, rows in watcher.rows.items()}
        assert self.arrivals.rows_held == len(events.keys() - self.forgotten)

    def event_of(self, message: Insert | Retract) -> Event:
        return self.intake._lineages[message.lineage_key].event

    def _open(self, name: tuple[str, str]) -> bool:
        if name[0] not in self.arrivals.forgetting.open_ended:
            return False
        guarantee = self.arrivals.guarantee
        lineages = [line for line in self.intake._lineages.values() if line.event.reference == name and line.live]
        said = [a for a in self.intake.accepted if self.event_of(a.message).reference == name]
        return any(lineage.valid_end > guarantee for lineage in lineages) or (
            len(said) > 1 and max(accepted.sync for accepted in said) > guarantee
        )

    @property
    def unsure(self) -> bool:
        """Whether something was said that may be about a forgotten event."""
        waiting = (each for group in self.arrivals.exact.waiting.values() for each in group)
        return self.arrivals.ignored > 0 or any(each.late for each in waiting)


def step(world: World, part: Sequence[Message], data: st.DataObject, *, strict: bool = True) -> None:
    """Some messages arrive; then anything may happen."""
    world.receive(part, data.draw(st.lists(st.booleans(), min_size=len(part), max_size=len(part))))
    for watcher in world.watchers:
        world.admit(watcher, data.draw(frontiers()))
    happens = data.draw(st.sampled_from(("nothing", "nothing", "compact", "save", "restart", "restart later", "join")))
    if happens == "compact":
        world.compact(data.draw(st.lists(st.integers(0, 10), max_size=3)))
    elif happens == "save":
        world.save()
    elif happens.startswith("restart"):
        world.restart(feeds_first=happens == "restart")
    elif happens == "join" and len(world.watchers) < 3:
        world.watchers.append(Watcher(Feed(world.arrivals)))
    world.compare()
    if strict and not world.unsure:
        same_decisions(world.arrivals, world.intake)


@given(messages(), st.lists(st.integers(0, 30), max_size=4), st.data())
def test_a_feed_shows_what_the_admitted_messages_amount_to(
    sent: list[Message], places: list[int], data: st.DataObject
) -> None:
    world = World(CATALOG, 2)
    for part in cut(sent, places):
        step(world, part, data)


@given(detours(), st.sampled_from((set(), {"A"}, {"A", "B"})), st.data())
def test_a_feed_shows_the_admitted_part_of_a_history_as_far_as_it_is_known(
    batches: list[list[Message]], open_ended: set[str], data: st.DataObject
) -> None:
    world = World(HISTORIES, 1)
    world.arrivals.forgetting.open_ended = open_ended
    for batch in batches:
        step(world, batch, data, strict=len(open_ended) == 2)
        if world.arrivals.guarantee > BEGINNING and data.draw(st.booleans()):
            world.forget(world.arrivals.guarantee - 4 - data.draw(st.integers(0, 3)))
            world.compare()


@given(detours(), st.sampled_from((None, frozenset({"k"}), frozenset[str]())), st.data())
def test_what_is_not_read_changes_nothing_of_what_is(
    batches: list[list[Message]], attributes: frozenset[str] | None, data: st.DataObject
) -> None:
    all_read, some_read = Arrivals(HISTORIES), Arrivals(HISTORIES, reads={"A": attributes})
    feeds = [Feed(all_read), Feed(some_read)]
    for batch in batches:
        columns = data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch)))
        shown = []
        for feed, arrivals in zip(feeds, (all_read, some_read), strict=True):
            arrivals.receive(in_batches(batch, columns))
            feed.admit(arrivals.guarantee)
            rows = feed.live().get("A", np.empty(0, dtype=np.int64))
            kept = some_read.ledger.source("A").kept
            shown.append([replace(e, payload=kept(e.payload)) for e in events_at(arrivals, "A", rows)])
        assert Counter(shown[0]) == Counter(shown[1])
        assert all_read.guarantee == some_read.guarantee
        assert all_read.counts.received == some_read.counts.received
        assert list(some_read.tables) == ["A"]


def test_the_removal_of_a_modification_before_the_line_is_a_dead_letter_of_its_feed() -> None:
    """Reading: R34."""
    arrivals = Arrivals(CATALOG)
    patient, strict = Feed(arrivals), Feed(arrivals)
    first, second = primitive("F", "a", 1), primitive("F", "a", 1, 10, occurrence_start=3)
    arrivals.receive([insert(first), insert(second), Guarantee(0)])
    for feed in (patient, strict):
        feed.admit(5)
    strict.refuse_removals_before = 4
    removal = Retract(insert(second).lineage_key)
    arrivals.receive([removal, insert(second, "K")])
    shown = {}
    for feed in (patient, strict):
        feed.admit(5)
        shown[feed] = events_at(arrivals, "F", feed.live()["F"])
    assert (
        Counter(shown[patient])
        == Counter(shown[strict])
        == Counter(rows_of([insert(first), insert(second)], CATALOG)["F"])
    )
    assert patient.too_late == []
    assert [(letter.code, letter.position) for letter in strict.too_late] == [
        ("removal-too-late", 4),
        ("second-live-row", 5),
    ]
    assert arrivals.dead_letters() == []
