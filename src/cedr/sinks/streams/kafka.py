"""Change rows into a topic of Kafka: the key is the ID, the value a line of JSON.

A batch is one transaction of Kafka, and with it the number of the batch is committed, as an offset of a group of our
own: both are there or neither.  Whoever reads committed records sees each change once.  Messages about one ID are in
one partition, in order.  Somebody else who writes for the same output is fenced off.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa

from cedr.diagnostics.exceptions import SinkError
from cedr.sinks.contract import Output
from cedr.sinks.errors import failed
from cedr.sinks.extras import package
from cedr.sinks.streams.lines import as_data, as_line

_WAITS: Final = 30.0
"""So many seconds the broker may take to answer."""


class Kafka:
    """A sink that is a topic."""

    promise = "exactly once for those who read committed records; about one id in order"

    traceless = True
    """The broker forgets the number a week after a job has stopped."""

    def __init__(self, servers: str, topic: str, options: Mapping[str, Any] | None = None) -> None:
        """``options`` are those of librdkafka, such as ``{"security.protocol": "SASL_SSL", …}``."""
        self._servers, self._topic, self._options = servers, topic, dict(options or {})
        self._place = f'the topic "{topic}" at {servers}'
        self._name = ""
        self._batch: int | None = None
        self._producer: Any = None
        self._group: Any = None

    def open(self, output: Output) -> None:
        """Connect, and ask what is committed."""
        self._name = output.name
        self._connect()

    def stored(self) -> int | None:
        """The last batch that was committed; the broker forgets it a week after a job has stopped."""
        return self._batch

    def write(self, batch: int, changes: pa.Table) -> None:
        """Send a batch as one transaction."""
        if self._producer is None:  # the last try failed, perhaps after it was committed
            self._connect()
        if self._batch is not None and batch <= self._batch:
            return
        kafka = package("confluent_kafka", "kafka")
        try:
            self._producer.begin_transaction()
            for row in as_data(changes):
                self._send(str(row.get("id") or ""), as_line(row).encode(), batch)
            number = kafka.TopicPartition(self._topic, 0, batch + 1)
            self._producer.send_offsets_to_transaction([number], self._group.consumer_group_metadata(), _WAITS)
            self._producer.commit_transaction(_WAITS)
        except (kafka.KafkaException, BufferError) as error:
            self._give_up()
            raise failed(self._place, _told(error)) from None
        except BaseException:
            self._give_up()
            raise
        self._batch = batch

    def close(self) -> None:
        """Let go of the connections; what was begun and not committed is given up."""
        self._give_up()

    def _send(self, key: str, value: bytes, batch: int) -> None:
        """Hand a record to the producer, which sends it; where its queue is full, wait for it."""
        while True:
            try:
                self._producer.produce(self._topic, value, key, headers={"cedr-batch": str(batch)})
            except BufferError:
                self._producer.poll(0.1)
            else:
                return

    def _connect(self) -> None:
        kafka = package("confluent_kafka", "kafka")
        common = {"bootstrap.servers": self._servers, "log_level": 0, **self._options}
        own = f"cedr-{self._topic}-{self._name}"
        try:
            self._group = kafka.Consumer({**common, "group.id": own, "enable.auto.commit": False})
            self._have_topic(common)
            self._producer = kafka.Producer({**common, "transactional.id": own, "enable.idempotence": True})
            self._producer.init_transactions(_WAITS)
            (found,) = self._group.committed([kafka.TopicPartition(self._topic, 0)], timeout=_WAITS)
        except kafka.KafkaException as error:
            self._give_up()
            raise failed(self._place, _told(error), "is the broker there, and are the options right?") from None
        except SinkError:
            self._give_up()
            raise
        self._batch = found.offset - 1 if found.offset > 0 else None

    def _have_topic(self, common: Mapping[str, Any]) -> None:
        """Make the topic where there is none, as the broker makes them."""
        if self._topic in self._group.list_topics(timeout=_WAITS).topics:
            return
        admin = package("confluent_kafka.admin", "kafka")
        client = admin.AdminClient(dict(common))  # it must live until the answer is there
        client.create_topics([admin.NewTopic(self._topic)])[self._topic].result(_WAITS)

    def _give_up(self) -> None:
        """End the transaction, if there is one, and the connections; the next batch connects anew."""
        producer, group, self._producer, self._group = self._producer, self._group, None, None
        kafka = package("confluent_kafka", "kafka")
        if producer is not None:
            with suppress(kafka.KafkaException):  # none was begun, or the broker ends it when the next producer comes
                producer.abort_transaction(_WAITS)
        if group is not None:
            group.close()


def _told(error: BaseException) -> str:
    first = error.args[0] if error.args else error
    return str(first.str()) if hasattr(first, "str") else str(error)
