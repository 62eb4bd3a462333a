"""Change rows into a topic of a real broker: once each, whatever crashes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer

from cedr.diagnostics.exceptions import SinkError
from cedr.model.level import MIDDLE
from cedr.sinks.kinds import make_sink
from cedr.sinks.streams import kafka as sink_of_kafka
from tests.jobs import broker as brokers
from tests.sinks.runs import RUNS

pytestmark = pytest.mark.slow
RUN = RUNS["aggregate"]
STEPS = list(RUN.steps(MIDDLE))
SEQS = [seq for step in STEPS for seq in step.table.column("seq").to_pylist()]


class Crash(BaseException):
    """The process is gone."""


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    found = brokers.jars()
    if isinstance(found, str):
        pytest.skip(found)
    with brokers.broker(found) as running:
        yield running.servers


def read(servers: str, topic: str) -> list[dict[str, Any]]:
    """All committed records, up to the last guarantee, which ends the run."""
    options = {"bootstrap.servers": servers, "group.id": "reader", "auto.offset.reset": "earliest"}
    consumer = Consumer({**options, "isolation.level": "read_committed"})
    consumer.subscribe([topic])
    found: list[dict[str, Any]] = []
    for _ in range(600):
        record = consumer.poll(0.1)
        if record is not None and record.error() is None:
            found.append(json.loads(record.value() or b"{}"))
        if len(found) >= len(SEQS) and record is None:
            break
    consumer.close()
    return found


def test_each_change_is_in_the_topic_once(servers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a crash before and behind the commit of some batches; all batches come again after each."""
    real: Callable[..., Any] = sink_of_kafka.as_line
    for number in range(3):
        sink: Any = make_sink("kafka", {"servers": servers, "topic": "changes"}, "Q")
        sink.open(RUN.output)
        count = 0

        def dying(row: Any, number: int = number) -> str:
            nonlocal count
            count += 1
            if number < 2 and count > 25:
                raise Crash
            return str(real(row))

        with monkeypatch.context() as patched:
            patched.setattr(sink_of_kafka, "as_line", dying)
            try:
                for step in STEPS:
                    sink.write(step.batch, step.table)
            except Crash:
                assert number < 2
        if number == 1:
            assert sink.stored() is not None
        sink.close()
    rows = read(servers, "changes")
    assert sorted(row["seq"] for row in rows) == SEQS
    sink = make_sink("kafka", {"servers": servers, "topic": "changes"}, "Q")
    sink.open(RUN.output)
    assert sink.stored() == STEPS[-1].batch
    sink.close()


def test_a_broker_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_of_kafka, "_WAITS", 0.5)
    options = {"sasl.password": "never-shown"}
    sink = make_sink("kafka", {"servers": "127.0.0.1:9", "topic": "t", "options": options}, "Q")
    with pytest.raises(SinkError) as refused:
        sink.open(RUN.output)
    assert refused.value.diagnostics[0].code == "sink-failed"
    assert "never-shown" not in str(refused.value)
