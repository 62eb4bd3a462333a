"""``cedr.match``: Spark gives the pairs that ``Subscriptions.match`` gives on one machine.  Readings: R2, R20, R41."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

import cedr
from cedr.spark.matching import match_events
from cedr.spark.matching.match_events import Frozen, _thawed
from tests.spark.streaming import Stream

TYPES = "TYPE T (symbol STRING, price FLOAT, size INTEGER); TYPE Q (symbol STRING, bid FLOAT)"
SCHEMA = "kind string, at long, name string, symbol string, price double, size long, bid double"
Given = tuple[Any, ...]


def predicates(drawn: random.Random, count: int) -> dict[str, tuple[str, str]]:
    """Filters of several forms: some are looked up, some are verified, some read the header."""
    forms = {
        "T": (
            "symbol = 'S{a}' AND price > {b}.5",
            "price BETWEEN {b} AND {c}",
            "size IN ({a}, {b}) OR symbol LIKE 'S{a}%'",
            "price * size > {c} AND NOT symbol = 'S{a}'",
            "Vs >= {c} AND symbol IS NOT NULL",
            "ID = 'e{c}'",
        ),
        "Q": ("bid < {b}", "symbol = 'S{a}'", "symbol IS NULL"),
    }
    found = {}
    for number in range(count):
        kind = drawn.choice("TTTQ")
        a, b, c = drawn.randrange(6), drawn.randrange(8), drawn.randrange(60)
        found[f"{kind.lower()}{number}"] = (kind, drawn.choice(forms[kind]).format(a=a, b=b, c=b + c))
    return found


def rows(drawn: random.Random, count: int) -> list[Given]:
    def some(value: object) -> Any:
        return None if drawn.random() < 0.1 else value

    return [
        (
            drawn.choice("TTQ"),
            number + 1,
            f"e{number}",
            some(f"S{drawn.randrange(6)}"),
            some(drawn.randrange(16) / 2),
            some(drawn.randrange(8)),
            some(drawn.randrange(16) / 2),
        )
        for number in range(count)
    ]


def subscribed(known: dict[str, tuple[str, str]]) -> cedr.Subscriptions:
    subscriptions = cedr.Subscriptions(TYPES)
    subscriptions.add_all([(id_, where, kind) for id_, (kind, where) in known.items()])
    return subscriptions


def local(subscriptions: cedr.Subscriptions, given: Sequence[Given]) -> list[tuple[str, str]]:
    """The pairs that the local filter gives."""
    found = []
    for kind, attributes in (("T", ("symbol", "price", "size")), ("Q", ("symbol", "bid"))):
        own = [row for row in given if row[0] == kind]
        places = {"symbol": 3, "price": 4, "size": 5, "bid": 6}
        payload = {name: [row[places[name]] for row in own] for name in attributes}
        batch = cedr.EventBatch(kind, [row[2] for row in own], np.array([row[1] for row in own]), payload=payload)
        pairs = subscriptions.match(batch)
        found += [
            (who, own[row][2]) for who, row in zip(pairs.subscriptions.to_pylist(), pairs.events.tolist(), strict=True)
        ]
    return sorted(found)


def events_of(frame: Any) -> cedr.Events:
    return cedr.events(frame, type="kind", time="at", id="name")


def pairs_in(found: Sequence[Any]) -> list[tuple[str, str]]:
    return sorted((row["subscription"], row["id"]) for row in found)


def test_bounded_events_give_the_pairs_of_one_machine(spark: SparkSession) -> None:
    drawn = random.Random(7)
    subscriptions, given = subscribed(predicates(drawn, 150)), rows(drawn, 200)
    subscriptions.remove(*[each.id for each in list(subscriptions)[::7]])
    found = cedr.match(events_of(spark.createDataFrame(given, SCHEMA).repartition(2)), subscriptions).collect()
    expected = local(subscriptions, given)
    assert len(expected) > 500
    assert pairs_in(found) == expected
    by_name = {row[2]: row for row in given}
    for row in found:
        kind, at, _, symbol, price, size, bid = by_name[row["id"]]
        own = (symbol, price, size, None) if kind == "T" else (symbol, None, None, bid)
        assert (row["type"], row["Vs"], row["Ve"]) == (kind, at, cedr.FOREVER)
        assert (row["symbol"], row["price"], row["size"], row["bid"]) == own


def test_a_stream_gives_them_once_and_goes_on_with_other_subscriptions(spark: SparkSession, tmp_path: Path) -> None:
    drawn = random.Random(11)
    given = rows(drawn, 120)
    stream = Stream(spark, tmp_path, SCHEMA)
    first = subscribed(predicates(drawn, 60))
    stream.put(given[:40])
    stream.put(given[40:80])
    stream.run(cedr.match(events_of(stream.frame), first, columns=["id", "subscription"], dead_letters=True))
    expected = local(first, given[:80])
    first.add("late", "symbol IS NOT NULL OR symbol IS NULL", type="Q")
    stream.put(given[80:])
    stream.run(cedr.match(events_of(stream.frame), first, columns=["id", "subscription"], dead_letters=True))
    expected = sorted(expected + local(first, given[80:]))
    assert pairs_in(stream.written()) == expected
    assert any(who == "late" for who, _ in expected)


def test_what_cannot_be_used_is_a_dead_letter(spark: SparkSession) -> None:
    """As on one machine: the same codes, and everything else is matched."""

    def grumble(values: Any) -> Any:
        if (values == 3).any():
            message = "three"
            raise ValueError(message)
        return values

    cedr.function("INTEGER", returns="INTEGER", name="GRUMBLE")(grumble)
    subscriptions = cedr.Subscriptions("TYPE T (n INTEGER)")
    subscriptions.add_all({"all": "n >= 0", "own": "GRUMBLE(n) > 0"})
    given = [
        ("T", "a", 1, None, 1),
        ("T", "b", 2, None, 3),
        ("X", "c", 3, None, 1),
        (None, "d", 4, None, 1),
        ("T", None, 5, None, 1),
        ("T", "f", None, None, 1),
        ("T", "g", 7, 2, 1),
        ("T", "h", 8, 9, 2),
    ]
    frame = spark.createDataFrame(given, "kind string, id string, time long, until long, n int")
    events = cedr.events(frame, type="kind", id="id", valid_end="until")
    found = cedr.match(events, subscriptions, dead_letters=True)
    pairs = [row for row in found.collect() if row["code"] is None]
    assert pairs_in(pairs) == [("all", "a"), ("all", "b"), ("all", "h"), ("own", "a"), ("own", "h")]
    letters = {row["code"]: row for row in cedr.dead_letters(found).collect()}
    assert sorted(letters) == [
        "null-id",
        "null-time",
        "subscription-failed",
        "unknown-type",
        "valid-end-before-start",
    ]
    assert 'the subscription "own" failed: GRUMBLE raised ValueError: three' in letters["subscription-failed"]["reason"]
    assert '"b"' in letters["subscription-failed"]["message"]
    assert pairs_in(cedr.match(events, subscriptions).collect()) == pairs_in(pairs)


def test_files_lose_nothing_that_cannot_be_read(spark: SparkSession, tmp_path: Path) -> None:
    """A value that is no number is a dead letter or an error, never NULL."""
    subscriptions = cedr.Subscriptions("TYPE T (n INTEGER)")
    subscriptions.add("none", "n IS NULL OR n > 1")
    (tmp_path / "t.csv").write_text("id,time,n\na,1,2\nb,2,many\nc,3,\n,4,5\n")
    events = cedr.files(spark, tmp_path / "t.csv", "id string, time long, n long", type="T", id="id")
    found = cedr.match(events, subscriptions, dead_letters=True)
    rows = found.collect()
    assert pairs_in([row for row in rows if row["code"] is None]) == [("none", "a"), ("none", "c")]
    assert sorted(row["code"] for row in rows if row["code"]) == ["null-id", "unreadable-line"]
    with pytest.raises(cedr.StreamError, match="unreadable-line"):
        cedr.match(events, subscriptions).collect()


def test_times_are_timestamps_where_those_of_the_events_are(spark: SparkSession) -> None:
    """Reading: R50.  Whatever the zone of the session is."""
    subscriptions = cedr.Subscriptions("TYPE T (type STRING, at TIMESTAMP)")
    subscriptions.add("late", "Vs >= TIMESTAMP '2026-01-01 12:00:00Z' AND at > TIMESTAMP '2026-01-01 00:00:00Z'")
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    given = [("a", noon, noon, "x"), ("b", noon - timedelta(seconds=1), noon, "y")]
    frame = spark.createDataFrame(given, "id string, time timestamp, at timestamp, type string")
    (row,) = cedr.match(cedr.events(frame, type="'T'", id="id", attributes=["at", "type"]), subscriptions).collect()
    assert (row["id"], row["Vs"].astimezone(UTC), row["Ve"]) == ("a", noon, None)
    assert (row["at"].astimezone(UTC), row["type"], row["payload_type"]) == (noon, "T", "x")


def test_columns_name_what_the_result_has(spark: SparkSession) -> None:
    subscriptions = cedr.Subscriptions("TYPE T (n INTEGER, s STRING)")
    subscriptions.add("one", "n = 1")
    events = cedr.events(spark.createDataFrame([("a", 1, 1, "x")], "id string, time long, n int, s string"), type="T")
    assert cedr.match(events, subscriptions, columns=["s", "subscription"]).columns == ["s", "subscription"]
    with pytest.raises(cedr.HostError, match='no column "m"'):
        cedr.match(events, subscriptions, columns=["m"])


def test_wrong_input_is_an_error_before_anything_starts(spark: SparkSession) -> None:
    subscriptions = cedr.Subscriptions("TYPE T (n INTEGER)")
    subscriptions.add("one", "n = 1")
    frame = spark.createDataFrame([("a", 1, "1", "insert")], "id string, time long, n string, change string")
    with pytest.raises(cedr.StreamError, match="wrong-data"):
        cedr.match(frame, subscriptions)
    with pytest.raises(cedr.StreamError, match="wrong-column-type"):
        cedr.match(cedr.events(frame, type="T", id="id"), subscriptions)
    with pytest.raises(cedr.StreamError, match="unknown-column"):
        cedr.match(cedr.events(frame.drop("n"), type="T", id="id"), subscriptions)
    with pytest.raises(cedr.StreamError, match="unknown-event-type"):
        cedr.match(cedr.events(frame, type="Other", id="id"), subscriptions)
    whole = frame.selectExpr("id", "time", "int(n) AS n", "change")
    with pytest.raises(cedr.StreamError, match="no-retractions"):
        cedr.match(cedr.events(whole, type="T", id="id", change="change"), subscriptions)


def test_a_process_thaws_subscriptions_once() -> None:
    subscriptions = cedr.Subscriptions("TYPE T (n INTEGER)")
    subscriptions.add("one", "n = 1")
    frozen = Frozen.of(subscriptions.book)
    subscriptions.add("two", "n = 2")
    again = Frozen(frozen.digest, bytes(frozen.book))
    match_events._THAWED.clear()
    assert _thawed(frozen) is _thawed(again)
    assert [each.id for each in _thawed(frozen)] == ["one"]
    assert len(_thawed(Frozen.of(subscriptions.book))) == 2
