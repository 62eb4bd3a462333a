"""A job on a real Kafka broker: out of order over partitions, stopped, resumed, the broker started anew, refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

import cedr
from tests.jobs import broker as brokers
from tests.jobs.cases import QUERY, Crash, Store, events, job_text, run, started, store, write_lines
from tests.jobs.test_exactly_once import crashing

__all__ = ["store"]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def broker() -> Iterator[brokers.Broker]:
    found = brokers.jars()
    if isinstance(found, str):
        pytest.skip(found)
    with brokers.broker(found) as running:
        yield running


def topic(broker: brokers.Broker, name: str, rows: list[Any], partitions: int = 3) -> None:
    """A topic with rows dealt out over its partitions, one of which is a long way behind the others."""
    admin = AdminClient({"bootstrap.servers": broker.servers})
    if name not in admin.list_topics(timeout=20).topics:
        for done in admin.create_topics([NewTopic(name, partitions, 1)]).values():
            done.result()
    producer = Producer({"bootstrap.servers": broker.servers})
    for number, row in enumerate(rows):
        value = row if isinstance(row, str | bytes | None) else json.dumps(row)
        headers = {"number": str(number)}
        producer.produce(
            name, value, key=f"k{number}", partition=number % partitions, headers=headers, timestamp=1000 + number
        )
    assert producer.flush(20) == 0


def source(broker: brokers.Broker, name: str, *more: str) -> str:
    return "\n".join([f'servers = "{broker.servers}"', f'topics = "{name}"', *more])


def believed(store: Store, query: str, *names: str) -> list[tuple[Any, ...]]:
    rows = store.believed(query).values()
    return sorted(
        (row["Vs"], cedr.FOREVER if row["Ve"] is None else row["Ve"], *(row[n] for n in names)) for row in rows
    )


def ideal(folder: Path, query: str) -> list[tuple[Any, ...]]:
    path = write_lines(folder / "ideal.jsonl", events(200))
    found = cedr.evaluate(QUERY, path, event=query, host="oracle", type="kind", time="at", id="no", bad_rows=0.5)
    return sorted((row.valid_start, row.valid_end, *row.payload.values()) for row in found.rows)


def test_partitions_kills_and_a_broker_that_starts_anew(broker: brokers.Broker, tmp_path: Path, store: Store) -> None:
    rows = events(200)
    topic(broker, "tickets", rows[:150])
    text = job_text(source(broker, "tickets"), run='batch = 30\nmode = "available"')
    text = text.replace("disorder = 200", "disorder = 700")
    for point in ("read", "step", "stored", "committed"):
        with pytest.raises(Crash):
            run(tmp_path, text, crashing(point, 2))
    running = started(tmp_path, text)
    running.loop.one()
    broker.stop()
    broker.start()
    topic(broker, "tickets", rows[150:])
    running.loop.run(lambda _: None)
    running.loop.close()
    done = run(tmp_path, text.replace("available", "once"))
    assert sum(inlet.rows for inlet in done.inlets) == len(rows)
    assert believed(store, "Unanswered", "ticket") == ideal(tmp_path, "Unanswered")
    assert believed(store, "Busy", "ticket", "n") == ideal(tmp_path, "Busy")


def test_fields_of_a_record_and_records_that_are_no_json(broker: brokers.Broker, tmp_path: Path, store: Store) -> None:
    topic(broker, "fields", [{"a": 1}, "nonsense", None, {}, {"a": 2, "text": "x\ny"}], 1)
    query = "EVENT Q WHEN ANY(E AS e) OUTPUT e.a AS a, e.kafka_key AS name, e.kafka_offset AS n"
    text = f"""
[sources.all]
{source(broker, "fields", 'fields = ["kafka_key", "kafka_offset"]')}
type = "E"
time = "kafka_timestamp"
time_unit = "ms"
[queries]
text = "{query}"
[outputs.all]
kind = "memory"
"""
    run(tmp_path, text + '[run]\nmode = "once"\n')
    rows = [row for row in store.rows["Q"] if row["change"] == "insert"]
    assert sorted((row["a"] or 0, row["name"], row["n"]) for row in rows) == [(0, "k3", 3), (1, "k0", 0), (2, "k4", 4)]
    letters = (tmp_path / "job.checkpoint" / "dead_letters.jsonl").read_text().splitlines()
    assert len(letters) == 2
    raw = text.replace('type = "E"', 'type = "E"\nvalue = "raw"').replace("e.a", "e.value")
    store.rows, store.last = {}, {}
    run(tmp_path, 'checkpoint = "raw"\n' + raw + '[run]\nmode = "once"\n')
    values = {row["a"] for row in store.rows["Q"] if row["change"] == "insert"}
    assert "nonsense" in values


@pytest.mark.usefixtures("store")
def test_what_cannot_be_read_is_a_clear_error(
    broker: brokers.Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cedr.sources.kafka._PATIENCE", 3.0)
    with pytest.raises(cedr.StreamError, match='there is no topic "nowhere"'):
        started(tmp_path, job_text(source(broker, "nowhere")))
    unreachable = job_text(source(broker, "tickets")).replace(broker.servers, "127.0.0.1:9")
    with pytest.raises(cedr.StreamError, match="cannot-connect"):
        started(tmp_path, unreachable)
    wrong = job_text(source(broker, "tickets", 'config = { "no.such.setting" = 1 }'))
    with pytest.raises(cedr.StreamError, match="Kafka takes not all settings"):
        started(tmp_path, wrong)
