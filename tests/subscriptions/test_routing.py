"""What each subscriber has been told is what filtering the current belief gives, at every step.

Paper: Section 4 (streams that are logically equivalent), Section 5 (levels).  Readings: R3, R4, R33, R44.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import cedr
from cedr.expression.evaluate import holds
from cedr.expression.tree import Expression
from cedr.hosts.naive import Naive
from cedr.model.event import Event, Payload
from cedr.model.level import ConsistencyLevel
from cedr.model.stream import Change, Insert, Message, Retract
from cedr.plan.logical import Source
from cedr.subscriptions.predicates import read_predicate
from cedr.subscriptions.routed import Routed
from tests.properties.standing import HISTORIES, REVISABLE, REVISED, arriving
from tests.subscriptions.predicates import shown

Batches = list[list[Message]]
Believed = dict[str, Event]
View = dict[tuple[str, str, int], dict[str, Any]]
ARRIVALS = st.one_of(arriving(HISTORIES), arriving(REVISED))
PREDICATES = st.sampled_from(
    (
        "k = 1",
        "k IN (1, 2) AND v >= 1",
        "v BETWEEN 1 AND 2 AND s = 'a'",
        "s LIKE 'a%'",
        "k + v > 2",
        "TRUE",
        "Ve < 7",
        "Ve - Vs > 3 AND k = 1",
        "Oe > 5",
        "Vs > 2 AND k IS NOT NULL",
        "ID = '1' OR v = 2",
    )
)


def tell(believed: Believed, changes: list[Change], since: dict[str, int], step: int) -> None:
    """Apply what the naive engine says of the events of one type."""
    for change in changes:
        message = change.message
        if isinstance(message, Insert):
            believed[message.lineage_key] = message.event
            since[message.lineage_key] = step
        elif isinstance(message, Retract):
            shorter = _shortened(believed.pop(message.lineage_key), message)
            if shorter is not None:
                believed[message.lineage_key] = shorter


def _shortened(row: Event, message: Retract) -> Event | None:
    oe = row.occurrence_end if message.occurrence_end is None else message.occurrence_end
    ve = row.valid_end if message.valid_end is None else message.valid_end
    if message.removes or oe <= row.occurrence_start or ve < row.valid_start:
        return None
    return replace(row, occurrence_end=oe, valid_end=ve)


def apply(views: dict[str, View], routed: Routed) -> None:
    """What subscribers do with what they are told: as strict as can be."""
    for row in routed:
        view = views[row["subscription"]]
        name = (row["type"], row["id"], row["Os"])
        if row["change"] == "insert":
            assert name not in view
            view[name] = row
        elif row["change"] == "shorten":
            assert view[name]["Ve"] >= row["Ve"]
            assert view[name]["Oe"] >= row["Oe"]
            view[name] = row
        else:
            del view[name]


def seen(view: View) -> set[tuple[object, ...]]:
    return {
        (row["id"], row["Vs"], row["Ve"], row["Os"], row["Oe"], Payload({name: row[name] for name in ("k", "v", "s")}))
        for row in view.values()
    }


def started(level: ConsistencyLevel) -> cedr.Subscriptions:
    return cedr.Subscriptions(REVISABLE, consistency=level)


def again(segments: dict[str, bytes], subscriptions: cedr.Subscriptions) -> cedr.Subscriptions:
    """As after a restart from what was saved."""
    for name, kept in subscriptions.state().items():
        segments.pop(name, None)
        if kept is not None:
            segments[name] = kept
    fresh = started(subscriptions.level)
    fresh.restore(segments)
    return fresh


LEVELS = st.sampled_from((cedr.MIDDLE, cedr.MIDDLE, cedr.STRONG, ConsistencyLevel(cedr.Bound(2), cedr.MIDDLE.memory)))


@given(ARRIVALS, LEVELS, st.lists(st.tuples(st.sampled_from("AB"), PREDICATES), min_size=1, max_size=5), st.data())
def test_a_subscriber_has_what_filtering_the_belief_gives(
    story: tuple[object, Batches], level: ConsistencyLevel, asked: list[tuple[str, str]], data: st.DataObject
) -> None:
    """Subscriptions come and go between steps, and now and then everything is started anew."""
    _, batches = story
    subscriptions = started(level)
    segments: dict[str, bytes] = {}
    engines = {name: Naive(Source(REVISABLE.types[name]), level, REVISABLE) for name in "AB"}
    believed: Mapping[str, Believed] = {"A": {}, "B": {}}
    since: dict[str, dict[str, int]] = {"A": {}, "B": {}}
    trees: dict[str, tuple[str, Expression, int]] = {}
    views: dict[str, View] = {}
    for step, batch in enumerate(batches, start=1):
        for number, (of, where) in enumerate(asked):
            what = data.draw(st.sampled_from(("stay", "stay", "change"))) if step > 1 else "change"
            id_ = f"s{number}"
            if what == "change" and id_ in subscriptions:
                subscriptions.remove(id_)
                del trees[id_], views[id_]
            elif what == "change":
                subscriptions.add(id_, where, type=of)
                trees[id_], views[id_] = (of, read_predicate(where, REVISABLE.types[of]), step), {}
        apply(views, subscriptions.step(batch))
        for name, engine in engines.items():
            tell(believed[name], engine.step(batch, step)[0].to_changes(), since[name], step)
        for id_, (of, tree, first) in trees.items():
            rows = (row for key, row in believed[of].items() if since[of][key] >= first)
            assert seen(views[id_]) == {shown(row) for row in rows if holds(tree, {of: row})}
        if data.draw(st.booleans()):
            subscriptions = again(segments, subscriptions)
    assert [letter.code for letter in subscriptions.dead_letters] == [
        letter.code for letter in engines["A"].dead_letters()
    ]
