"""``cedr.run`` of a catalog: changes by query, queries that come and go, and restarts with the catalog in the state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

import cedr

TYPES = "TYPE A (k INTEGER); TYPE B (k INTEGER)"
PAIRS = "EVENT Pairs WHEN SEQUENCE(A AS a, B AS b, 9) WHERE CorrelationKey(k, EQUAL) OUTPUT a.k AS k"
TWICE = "EVENT Twice WHEN SEQUENCE(Pairs AS p, B AS q, 9) WHERE p.k = q.k OUTPUT p.k AS k CONSISTENCY STRONG"
CATALOG = cedr.Catalog(TYPES, PAIRS, TWICE)


def insert(kind: str, time: int) -> dict[str, Any]:
    return {"insert": {"type": kind, "id": f"{kind}{time}", "vs": time, "payload": {"k": 1}}}


def guarantee(time: int) -> dict[str, Any]:
    return {"guarantee": time}


MESSAGES = [insert("A", 1), insert("B", 2), guarantee(3), insert("B", 5), insert("A", 6), guarantee(9), insert("B", 12)]


def told(changes: Iterable[cedr.QueryChange]) -> list[tuple[str, str, object]]:
    return [(query, change.kind, change.event and change.event.id) for query, _, change in changes]


def test_each_query_emits_what_it_emits_alone() -> None:
    found = told(cedr.run(CATALOG, MESSAGES))
    for name in CATALOG:
        alone = [(name, c.kind, c.event and c.event.id) for c in cedr.run(CATALOG, MESSAGES, event=name)]
        assert [each for each in found if each[0] == name] == alone


def test_levels_are_those_of_the_queries_or_the_ones_that_are_asked_for() -> None:
    running = cedr.run(CATALOG, [])
    assert [level.name for name in CATALOG for level in running.levels(name)] == ["MIDDLE", "STRONG"]
    both = cedr.run(CATALOG, MESSAGES, consistency=["WEAK", "STRONG"])
    assert {(query, level.name) for query, level, _ in both} == {(q, n) for q in CATALOG for n in ("WEAK", "STRONG")}


def test_data_with_words() -> None:
    rows = [{"kind": kind, "time": time, "k": 1} for kind, time in (("A", 1), ("B", 2), ("B", 4))]
    running = cedr.run(CATALOG, rows, type="kind", time="time")
    assert ("Pairs", "insert") in {(query, change.kind) for query, _, change in running}


def test_an_asynchronous_source() -> None:
    async def feed() -> AsyncIterator[dict[str, Any]]:
        for message in MESSAGES:
            yield message

    async def read() -> list[cedr.QueryChange]:
        return [change async for change in cedr.run(CATALOG, feed())]

    assert told(asyncio.run(read())) == told(cedr.run(CATALOG, MESSAGES))


def test_only_the_local_host_runs_them_together() -> None:
    with pytest.raises(cedr.HostError, match="one by one"):
        cedr.run(CATALOG, MESSAGES, host="oracle")


class Feed:
    """Messages, and what is done to the running catalog before some of them."""

    def __init__(self, messages: list[dict[str, Any]], **done: Any) -> None:
        self.running = cedr.run(CATALOG, self._messages(messages))
        self.done = done

    def _messages(self, messages: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        for number, message in enumerate(messages):
            if f"at{number}" in self.done:
                self.done[f"at{number}"](self.running)
            yield message


def test_a_query_that_is_added_knows_what_comes() -> None:
    feed = Feed(MESSAGES, at1=lambda running: running.add("EVENT Bs WHEN ANY(B AS b)", PAIRS.replace("Pairs", "Late")))
    found = told(feed.running)
    assert [each[0] for each in found].count("Bs") == 5, "three rows, two guarantees"
    assert [kind for query, kind, _ in found if query == "Late"] == ["guarantee", "guarantee", "insert"]
    assert feed.running.queries == ["Pairs", "Twice", "Bs", "Late"]


def test_a_query_that_begins_with_what_is_known() -> None:
    feed = Feed(MESSAGES, at2=lambda running: running.add(PAIRS.replace("Pairs", "Late"), retained=True))
    found = told(feed.running)
    late = [each[1:] for each in found if each[0] == "Late"]
    pairs = [each[1:] for each in found if each[0] == "Pairs"]
    assert late == pairs


def test_what_does_not_fit_changes_nothing() -> None:
    running = cedr.run(CATALOG, MESSAGES)
    for change, code in (
        (lambda: running.add(PAIRS), "duplicate-name"),
        (lambda: running.add("EVENT X WHEN ANY(Unknown)"), "unknown-event-type"),
        (lambda: running.remove("Pairs"), "query-in-use"),
        (lambda: running.replace(PAIRS.replace("AS k", "AS other")), "reader-does-not-fit"),
    ):
        with pytest.raises(cedr.LanguageError) as caught:
            change()
        assert caught.value.diagnostics[0].code == code
    assert running.catalog.to_text() == CATALOG.to_text()
    assert told(running) == told(cedr.run(CATALOG, MESSAGES))


def test_history_that_is_gone() -> None:
    never = "EVENT First WHEN SEQUENCE(FIRST A AS a CONSUME, B AS b CONSUME, 3) DISJOINT"
    caught: list[str] = []

    def add(running: cedr.LiveCatalog) -> None:
        try:
            running.add(never, retained=True)
        except cedr.HostError as error:
            caught.append(error.diagnostics[0].code)

    feed = Feed([*MESSAGES, guarantee(90), insert("A", 95), guarantee(99), insert("B", 100)], at9=add)
    list(feed.running)
    assert caught == ["history-is-gone"]
    assert feed.running.queries == ["Pairs", "Twice"]


def test_a_replacement_keeps_what_both_mean() -> None:
    wider = PAIRS.replace("9)", "9)").replace("a.k AS k", "a.k AS k") + " @ [0, 50]"
    feed = Feed(MESSAGES, at2=lambda running: running.replace(wider))
    found = told(feed.running)
    assert [kind for query, kind, _ in found if query == "Pairs"].count("retract") == 0
    assert [each for each in found if each[0] == "Pairs"] == [
        each for each in told(cedr.run(CATALOG, MESSAGES)) if each[0] == "Pairs"
    ]
    other = Feed(MESSAGES, at2=lambda running: running.replace(PAIRS.replace("a.k AS k", "a.k + 1 AS k")))
    kinds = [kind for query, kind, _ in told(other.running) if query == "Pairs"]
    assert kinds[:3] == ["insert", "retract", "insert"]


def test_a_replacement_with_another_plan_keeps_ids_and_keys() -> None:
    """R44: the rows stay under their ID and K, and are retracted under them."""
    nested = PAIRS.replace("SEQUENCE(A AS a, B AS b, 9)", "ALL(A AS a, B AS b, 9)")
    feed = Feed(
        [insert("A", 1), insert("B", 2), insert("B", 3), {"retract": {"k": "B/B2@2", "oe": 2}}],
        at2=lambda running: running.replace(nested),
    )
    changes = [change for query, _, change in feed.running if query == "Pairs"]
    first, *_, last = changes
    assert last.kind == "retract"
    assert first.message.lineage_key == last.message.lineage_key  # type: ignore[union-attr]
    assert first.event is not None
    assert last.event is not None
    assert first.event.id == last.event.id


@pytest.mark.parametrize("retracting", [False, True])
def test_a_query_that_goes(retracting: bool) -> None:
    feed = Feed(MESSAGES, at4=lambda running: running.remove("Twice", "Pairs", retracting=retracting))
    changes = [(query, change) for query, _, change in feed.running]
    pairs = [change for query, change in changes if query == "Pairs"]
    assert isinstance(pairs[-1].message, cedr.Guarantee)
    assert pairs[-1].message.time == cedr.FOREVER - 1
    assert [change.kind for change in pairs].count("retract") == retracting, "the row of 5: that of 2 is final"
    assert feed.running.queries == []


def test_restarts_have_the_queries_that_ran() -> None:
    expected = told(Feed(MESSAGES, at3=_changes, at5=lambda running: running.remove("Bs")).running)
    found: list[tuple[str, str, object]] = []
    segments: dict[str, bytes] = {}
    for number, message in enumerate(MESSAGES):
        running = cedr.run(CATALOG, [message])
        if segments:
            running.restore(segments)
        if number == 3:
            _changes(running)
        if number == 5:
            running.remove("Bs")
            _keep(segments, running)  # it leaves with the next batch, whatever happens before
            running = cedr.run(CATALOG, [message])
            running.restore(segments)
        found += told(running)
        _keep(segments, running)
    assert found == expected


def _changes(running: cedr.LiveCatalog) -> None:
    running.add("EVENT Bs WHEN ANY(B AS b)")
    running.add(PAIRS.replace("Pairs", "Late"), retained=True)


def _keep(segments: dict[str, bytes], running: cedr.LiveCatalog) -> None:
    for name, segment in running.state().items():
        if segment is None:
            segments.pop(name, None)
        else:
            segments[name] = segment


def test_the_state_of_another_catalog_is_refused() -> None:
    running = cedr.run(CATALOG, MESSAGES)
    list(running)
    segments = {name: segment for name, segment in running.state().items() if segment is not None}
    with pytest.raises(cedr.HostError, match="another catalog"):
        cedr.run(cedr.Catalog(TYPES, PAIRS), []).restore(segments)
    alone = cedr.run(TYPES + ";" + PAIRS, MESSAGES)
    list(alone)
    with pytest.raises(cedr.HostError, match="not that of a catalog"):
        cedr.run(CATALOG, []).restore({name: each for name, each in alone.state().items() if each is not None})


def test_equal_parts_are_held_once() -> None:
    running = cedr.run(CATALOG, MESSAGES, consistency="MIDDLE")
    list(running)
    measures = running.measures()
    assert measures["Pairs"][0].run == measures["Twice"][0].run
    assert running.guarantee("Pairs") == 9
    with pytest.raises(cedr.HostError, match="unknown-query"):
        running.guarantee("Unknown")
