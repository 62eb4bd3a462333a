"""``cedr.run``: iterator in, iterator out.  Readings: R33, R35, R36, R37, R38, R40."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import cedr
from cedr.hosts.live import AsyncLive, Live, Said

PAIR = "EVENT Pair WHEN SEQUENCE(A AS a, B AS b, 10) WHERE {a.key = b.key} OUTPUT a.key AS key"
ALERT = "EVENT Alert WHEN UNLESS(A AS a, B AS b, 10) WHERE {a.key = b.key} OUTPUT a.key AS key"
HOSTS = pytest.mark.parametrize("host", ["oracle", "local"])


def row(stream: str, id: str, vs: int, **more: Any) -> dict[str, Any]:  # noqa: A002 - the paper's word
    return {"insert": {"type": stream, "id": id, "vs": vs, "payload": {"key": 1}, **more}}


MESSAGES = [row("A", "a1", 1), row("B", "b1", 5), row("B", "b2", 11), row("B", "b3", 12), {"guarantee": 20}]


def told(live: Live[cedr.Change]) -> list[tuple[int, str]]:
    return [(change.cedr_time, change.kind) for change in live]


@HOSTS
def test_what_is_said_is_what_the_change_stream_is(host: str) -> None:
    """R40: one message a step; CEDR times 1, 2, 3."""
    said = list(cedr.run(PAIR, MESSAGES, host=host))
    expected = cedr.evaluate(PAIR, MESSAGES, host="oracle").changes()
    assert [(c.kind, c.cedr_time) for c in said] == [("insert", 2), ("insert", 3), ("guarantee", 5)]
    assert [c.message for c in said if c.kind == "guarantee"] == [cedr.Guarantee(20)]
    assert [c.event.id for c in said if c.event] == [c.event.id for c in expected if c.event]


@HOSTS
def test_nothing_is_read_before_it_is_needed(host: str) -> None:
    read: list[int] = []

    def source() -> Iterator[dict[str, Any]]:
        for number, message in enumerate(MESSAGES):
            read.append(number)
            yield message

    live = cedr.run(PAIR, source(), host=host)
    assert read == []
    assert next(live).kind == "insert"
    assert read == [0, 1]
    assert live.received == 2
    assert live.cedr_time == 2
    assert told(live) == [(3, "insert"), (5, "guarantee")]


@HOSTS
def test_messages_are_objects_dictionaries_columns_lists_or_a_file(host: str, tmp_path: Path) -> None:
    expected = [("insert", 5), ("insert", 11), ("guarantee", 20)]
    objects = [
        cedr.insert(cedr.primitive("A", "a1", 1, payload={"key": 1})),
        cedr.EventBatch("B", ["b1", "b2", "b3"], [5, 11, 12], payload={"key": [1, 1, 1]}),
        [cedr.Guarantee(20)],
    ]
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join(map(json.dumps, MESSAGES)))
    for given in (MESSAGES, objects, [MESSAGES], path, str(path), iter(MESSAGES)):
        live = cedr.run(PAIR, given, host=host)
        assert [(c.kind, c.event.valid_start if c.event else c.message.time) for c in live] == expected  # type: ignore[union-attr]
        assert live.dead_letters == ()


@HOSTS
def test_a_list_is_a_batch_with_one_cedr_time(host: str) -> None:
    """R40: what is inserted and retracted within a batch never leaves it."""
    restart = row("B", "b1", 5, k="K")
    apart = cedr.run(ALERT, [row("A", "a1", 1), restart, {"guarantee": 20}], host=host)
    together = cedr.run(ALERT, [[row("A", "a1", 1), restart], {"guarantee": 20}], host=host)
    assert told(apart) == [(1, "insert"), (2, "retract"), (3, "guarantee")]
    assert told(together) == [(2, "guarantee")]


@HOSTS
def test_messages_are_taken_some_at_a_time(host: str) -> None:
    live = cedr.run(PAIR, MESSAGES, batch=2, host=host)
    assert told(live) == [(1, "insert"), (2, "insert"), (3, "guarantee")]
    mixed = cedr.run(PAIR, [MESSAGES[0], MESSAGES[1:3], *MESSAGES[3:]], batch=3, host=host)
    assert told(mixed) == [(2, "insert"), (2, "insert"), (3, "guarantee")]  # a list ends what was collected before it


def test_a_batch_has_a_message() -> None:
    with pytest.raises(cedr.StreamError) as caught:
        cedr.run(PAIR, MESSAGES, batch=0)
    assert caught.value.diagnostics[0].code == "batch-not-positive"


@HOSTS
def test_a_clock_tells_cedr_time_and_it_always_rises(host: str) -> None:
    """R33: B in CEDR time is on this clock."""
    readings = iter([100, 100, 50, 400, 500])
    live = cedr.run(PAIR, MESSAGES, clock=lambda: next(readings), host=host)
    assert told(live) == [(101, "insert"), (102, "insert"), (500, "guarantee")]
    waiting = cedr.run(
        PAIR,
        MESSAGES[:4],
        clock=count(0, 10).__next__,
        consistency="BLOCKING 15 OF CEDR TIME MEMORY FOREVER",
        host=host,
    )
    assert told(waiting) == [(30, "insert")]


@HOSTS
def test_several_levels_speak_side_by_side(host: str) -> None:
    """R35."""
    live = cedr.run(PAIR, MESSAGES, consistency=["STRONG", cedr.MIDDLE], host=host)
    assert live.levels == [cedr.STRONG, cedr.MIDDLE]
    found = [(level, change.kind, change.cedr_time) for level, change in live]
    assert [each for each in found if each[0] == cedr.MIDDLE] == [
        (cedr.MIDDLE, "insert", 2),
        (cedr.MIDDLE, "insert", 3),
        (cedr.MIDDLE, "guarantee", 5),
    ]
    assert [each[1:] for each in found if each[0] == cedr.STRONG] == [("insert", 5), ("insert", 5), ("guarantee", 5)]
    assert isinstance(next(iter(cedr.run(PAIR, MESSAGES, consistency=["WEAK"], host=host))), Said)


@HOSTS
def test_the_clause_of_the_query_is_the_default_level(host: str) -> None:
    live = cedr.run(f"{PAIR.replace('OUTPUT a.key AS key', '')} CONSISTENCY STRONG", MESSAGES, host=host)
    assert live.levels == [cedr.STRONG]
    assert told(live) == [(5, "insert"), (5, "insert"), (5, "guarantee")]


@HOSTS
def test_a_level_is_switched_while_the_query_runs(host: str) -> None:
    """R38: what was said stays; what was held is said with the next batch."""
    live = cedr.run(PAIR, MESSAGES, consistency="STRONG", host=host)
    live.switch("MIDDLE")
    assert live.levels == [cedr.MIDDLE]
    assert next(live).cedr_time == 2
    live.switch(cedr.STRONG)
    assert told(live) == [(5, "insert"), (5, "guarantee")]


@HOSTS
def test_a_switch_can_wait_for_a_sync_point(host: str) -> None:
    """R38: at a sync point of the output nothing is provisional."""
    later = [row("A", "a2", 21), row("B", "b4", 22)]
    live = cedr.run(PAIR, [*MESSAGES, *later, {"guarantee": 30}], consistency="MIDDLE", host=host)
    next(live)
    live.switch("STRONG", at_sync_point=True)
    assert live.levels == [cedr.MIDDLE]
    assert not live.at_sync_point()
    assert told(live) == [(3, "insert"), (5, "guarantee"), (8, "insert"), (8, "guarantee")]
    assert live.levels == [cedr.STRONG]
    assert live.at_sync_point()
    assert live.guarantee() == 30


@HOSTS
def test_what_cannot_be_used_is_a_dead_letter_with_its_number(host: str) -> None:
    """R37, R39, R41: and the stream goes on."""
    typed = f"TYPE A (key INTEGER); TYPE B (key INTEGER); {PAIR}"
    wrong = [MESSAGES[0], {"upsert": 1}, row("B", "b9", 5, payload={"key": "x"}), MESSAGES[1], {"guarantee": 7}]
    late = cedr.insert(cedr.primitive("A", "a9", 3, payload={"key": 1}))
    live = cedr.run(typed, [*wrong, late], host=host)
    assert told(live) == [(2, "insert"), (3, "guarantee")]
    found = [(letter.code, letter.span.line if letter.span else 0) for letter in live.dead_letters]
    assert found == [("unknown-message", 2), ("wrong-value", 3), ("broken-guarantee", 6)]
    assert all(letter.severity == "dead letter" for letter in live.dead_letters)


@HOSTS
def test_a_retraction_whose_row_can_no_longer_come_is_counted_as_unknown(host: str) -> None:
    """R37: a row with Os = 7, the guarantee, cannot come any more; one with Os = 8 can, and lacks so far (R41)."""
    retractions = [{"retract": {"k": "A/a9@7", "ve": 20}}, {"retract": {"k": "A/a9@8", "ve": 20}}]
    live = cedr.run(PAIR, [*MESSAGES[:2], {"guarantee": 7}, *retractions], host=host)
    list(live)
    assert [measures.unknown for measures in live.measures()] == [1]
    found = [(letter.code, letter.span.line if letter.span else 0) for letter in live.dead_letters]
    assert found == [("retraction-without-insert", 5)]


def test_a_retraction_of_a_forgotten_row_is_counted_as_unknown() -> None:
    """R37: after the guarantee no pair can begin with the row, so it is gone."""
    live = cedr.run(PAIR, [MESSAGES[0], {"guarantee": 100}], host="local")
    list(live)
    forgotten = cedr.run(PAIR, [{"retract": {"k": "A/a1@1", "ve": 200}}], host="local")
    forgotten.restore({name: kept for name, kept in live.state().items() if kept is not None})
    list(forgotten)
    assert [measures.unknown for measures in (*live.measures(), *forgotten.measures())] == [0, 1]
    assert not forgotten.dead_letters


@HOSTS
def test_objects_are_held_to_their_declared_types(host: str) -> None:
    typed = "TYPE A (key INTEGER, price FLOAT); EVENT Q WHEN ANY(A AS a)"
    good = cedr.insert(cedr.primitive("A", "a1", 1, payload={"key": 1, "price": 2}))  # an integer serves as a float
    bad = cedr.insert(cedr.primitive("A", "a2", 2, payload={"key": "x", "price": 2.0}))
    unknown = cedr.insert(cedr.primitive("A", "a3", 3, payload={"other": 1}))
    live = cedr.run(typed, [good, bad, unknown], host=host)
    (only,) = live
    assert only.event is not None
    assert dict(only.event.payload) == {"a_key": 1, "a_price": 2.0}
    assert [letter.code for letter in live.dead_letters] == ["wrong-value", "unknown-attribute"]


@HOSTS
def test_events_are_revised_where_their_type_says_so(host: str) -> None:
    """R37: nothing is inferred from messages that have not come."""
    versions = [row("A", "a1", 1), row("A", "a1", 1, os=3, ve=9)]
    text = "EVENT Q FROM A AS a OUTPUT a.key AS key"
    plain = cedr.run(text, versions, host=host)
    assert told(plain) == [(1, "insert")]
    assert [letter.code for letter in plain.dead_letters] == ["revision-too-late"]
    declared = cedr.run(f"TYPE A (key INTEGER) REVISABLE; {text}", versions, host=host)
    assert [c.kind for c in declared] == ["insert", "retract", "insert"]
    catalog = cedr.EventTypes({"A": cedr.EventType("A", {"key": cedr.DataType.INTEGER}, revisable=5)})
    assert [c.kind for c in cedr.run(text, versions, catalog=catalog, host=host)] == ["insert", "retract", "insert"]


@HOSTS
def test_providers_named_beforehand_are_waited_for(host: str) -> None:
    """R33: of several providers the smallest guarantee counts."""
    first = [{**row("A", "a1", 1), "source": "s1"}, {**row("B", "b1", 5), "source": "s1"}]
    promised = [*first, {"guarantee": 20, "source": "s1"}]
    alone = cedr.run(PAIR, promised, consistency="STRONG", host=host)
    assert told(alone) == [(3, "insert"), (3, "guarantee")]
    both = cedr.run(
        PAIR, [*promised, {"guarantee": 9, "source": "s2"}], consistency="STRONG", providers=["s1", "s2"], host=host
    )
    assert told(both) == [(4, "insert"), (4, "guarantee")]


@HOSTS
def test_it_tells_what_it_costs(host: str) -> None:
    """Paper: Figure 8."""
    live = cedr.run(PAIR, MESSAGES, consistency=["STRONG", "MIDDLE"], host=host)
    for _ in live:
        pass
    strong, middle = live.measures()
    assert (strong.level, strong.received, strong.inserts, strong.guarantees) == (cedr.STRONG, 5, 2, 1)
    assert (middle.held, middle.retractions, middle.dead_letters) == (0, 0, 0)


@HOSTS
def test_a_query_is_a_text_a_file_built_or_compiled(host: str, tmp_path: Path) -> None:
    path = tmp_path / "pair.cedr"
    path.write_text(PAIR)
    program = cedr.compile(PAIR)
    built = cedr.sequence("A a", "B b", within=10).where("a.key = b.key").output(key="a.key").named("Pair")
    for query in (path, str(path), program, program.queries["Pair"], built):
        live = cedr.run(query, MESSAGES, host=host)
        assert (live.name, list(live.type.attributes)) == ("Pair", ["key"])
        assert told(live) == [(2, "insert"), (3, "insert"), (5, "guarantee")]
    two = f"{PAIR}; EVENT Other WHEN ANY(A AS a)"
    assert cedr.run(two, MESSAGES, event="Pair", host=host).name == "Pair"


async def _slowly(messages: list[Any]) -> AsyncIterator[Any]:
    for message in messages:
        await asyncio.sleep(0)
        yield message


@HOSTS
def test_an_asynchronous_source_gives_an_asynchronous_iterator(host: str) -> None:
    async def follow() -> tuple[list[tuple[int, str]], list[str]]:
        live = cedr.run(PAIR, _slowly(MESSAGES), batch=2, host=host)
        assert isinstance(live, AsyncLive)
        first = await anext(live)
        rest = [change async for change in live]
        levels = cedr.run(PAIR, _slowly(MESSAGES), consistency=["WEAK"], host=host)
        return [(c.cedr_time, c.kind) for c in (first, *rest)], [str(level) async for level, _ in levels]

    said, levels = asyncio.run(follow())
    assert said == [(1, "insert"), (2, "insert"), (3, "guarantee")]
    assert levels == ["WEAK"] * 3


def kept(segments: dict[str, bytes], changed: dict[str, bytes | None]) -> None:
    for name, segment in changed.items():
        if segment is None:
            segments.pop(name, None)
        else:
            segments[name] = segment


def test_a_run_goes_on_where_another_was() -> None:
    """The state after each message is enough to go on with the rest."""
    for cut in range(len(MESSAGES) + 1):
        segments: dict[str, bytes] = {}
        before = cedr.run(ALERT, MESSAGES[:cut])
        said = list(before)
        kept(segments, before.state())
        after = cedr.run(ALERT, iter(MESSAGES[cut:]))
        after.restore(segments)
        assert after.received == cut
        assert [*said, *after] == list(cedr.run(ALERT, MESSAGES))


def test_a_run_that_has_begun_cannot_be_restored() -> None:
    live = cedr.run(PAIR, MESSAGES)
    segments: dict[str, bytes] = {}
    kept(segments, live.state())
    next(live)
    with pytest.raises(cedr.HostError) as caught:
        live.restore(segments)
    assert caught.value.diagnostics[0].code == "restore-too-late"


@pytest.mark.parametrize("use", [lambda live: live.state(), lambda live: live.restore({})], ids=["state", "restore"])
def test_the_oracle_has_no_state_to_store(use: Callable[[Any], object]) -> None:
    with pytest.raises(cedr.HostError) as caught:
        use(cedr.run(PAIR, MESSAGES, host="oracle"))
    assert caught.value.diagnostics[0].code == "no-state"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"host": "moon"}, "unknown-host"),
        ({"event": "Other"}, "unknown-query"),
        ({"consistency": "BEST"}, "unknown-level"),
        ({"consistency": ["STRONG", "BEST"]}, "unknown-level"),
    ],
)
def test_a_wrong_call_is_refused_at_once(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(cedr.CedrError) as caught:
        cedr.run(PAIR, MESSAGES, **arguments)
    assert caught.value.diagnostics[0].code == code
    with pytest.raises(cedr.StreamError):
        cedr.run(PAIR, "nowhere.jsonl")


def test_a_query_of_the_algebra_runs_live() -> None:
    text = "EVENT N FROM A AS a GROUP BY a.key OUTPUT a.key AS key, COUNT(*) AS n"
    live = cedr.run(text, MESSAGES)
    assert told(live) == told(cedr.run(text, MESSAGES, host="oracle"))
    assert live.warnings == ()
