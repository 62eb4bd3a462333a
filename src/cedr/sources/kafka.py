"""A source of Kafka topics: the records of each partition in order, by offsets that the job keeps itself.

Reading: R33.  Each partition is a provider by itself: records are in order within a partition, and one that lags behind
is waited for.  No consumer group is used: where the job stands is part of its checkpoint, not of the broker.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from cedr.data.files import DataFile
from cedr.data.frames import Frame
from cedr.data.json_files import JsonFiles
from cedr.data.origins import Origin
from cedr.diagnostics.exceptions import CedrError
from cedr.sources.contract import Chunk, Offset, missing_extra, refused

_PATIENCE: Final = 15.0
"""Seconds for an answer of the broker."""
FIELDS: Final = ("kafka_key", "kafka_topic", "kafka_partition", "kafka_offset", "kafka_timestamp", "kafka_headers")
"""Columns beside those of the record; ``kafka_timestamp`` is in milliseconds."""
PROVIDER: Final = "kafka_provider"
Ranges = dict[str, list[int]]


class Kafka:
    """Some topics of a cluster."""

    single = True
    pushed = False
    provider_column: str | None = PROVIDER
    finished = False

    def __init__(self, name: str, options: Mapping[str, Any], fields: Collection[str]) -> None:
        """``fields``: the columns of ``FIELDS`` that are asked for."""
        self.name = name
        topics = options["topics"]
        self._topics = [topics] if isinstance(topics, str) else list(topics)
        self._raw = options.get("value", "json") == "raw"
        self._latest = options.get("start", "earliest") == "latest"
        self._fields = [each for each in FIELDS if each in fields]
        self._end: dict[str, int] = {}
        self._wrong: str | None = None
        try:
            import confluent_kafka
        except ModuleNotFoundError:
            raise missing_extra(name, "confluent-kafka", "kafka") from None
        self._kafka = confluent_kafka
        settings = {
            "bootstrap.servers": str(options["servers"]),
            "group.id": f"cedr-{name}",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            **{
                key: value if isinstance(value, bool | int) else str(value)
                for key, value in _flat(options.get("config", {}))
            },
        }
        try:
            self._consumer = confluent_kafka.Consumer({**settings, "error_cb": self._heard}, logger=_Silent())
        except confluent_kafka.KafkaException as error:
            raise refused(name, "bad-setting", f"Kafka takes not all settings: {_reason(error)}") from None
        self._partitions = self._found()

    def providers(self) -> Sequence[str]:
        """Each partition."""
        return [f"{self.name}:{each}" for each in self._partitions]

    def resume(self, end: Offset, done: Collection[str]) -> None:  # noqa: ARG002 - the contract
        """Go on at the offset of each partition."""
        self._end = dict(end or {})

    def next(self, most: int) -> Chunk | None:
        """The records that have come, about the same number of each partition."""
        self._partitions = self._found()
        share = max(1, most // max(1, len(self._partitions)))
        ranges: Ranges = {}
        for each in self._partitions:
            low, high = self._asked(self._consumer.get_watermark_offsets, self._place(each), _PATIENCE)
            begin = self._end.get(each)
            if begin is None:
                begin = self._end[each] = high if self._latest else low
            if begin < low:
                hint = "keep records for longer, or start anew with another checkpoint"
                primary = f"{low - begin:,} records of {each} were deleted by the broker before they were read"
                raise refused(self.name, "source-changed", primary, hint=hint)
            if begin > high:
                primary = f"{each} ends at offset {high:,}, and {begin:,} was reached before: the topic was made anew"
                raise refused(self.name, "source-changed", primary, hint="start anew with another checkpoint")
            if high > begin:
                ranges[each] = [begin, min(high, begin + share)]
        if not ranges:
            return None
        self._end = {**self._end, **{each: end for each, (_, end) in ranges.items()}}
        return Chunk(ranges, dict(self._end))

    def read(self, chunk: Chunk) -> Origin:
        """The records between these offsets."""
        records = [record for each, (begin, end) in chunk.what.items() for record in self._records(each, begin, end)]
        shown = ", ".join(f"{each} from offset {begin:,}" for each, (begin, _) in chunk.what.items())
        if self._raw:
            return Frame(self._table(records), shown)
        return JsonFiles([DataFile(shown, "json", content=b"\n".join(self._line(each) for each in records))])

    def close(self) -> None:
        """Leave the cluster."""
        self._consumer.close()

    # -- records ------------------------------------------------------------------------------------------------------

    def _records(self, partition: str, begin: int, end: int) -> list[Any]:
        """All records of a range; some offsets have none, where the broker compacts or marks transactions."""
        place = self._place(partition)
        place.offset = begin
        self._consumer.assign([place])
        found: list[Any] = []
        silent = 0.0
        while True:
            batch = self._consumer.consume(min(10_000, end - begin), 0.2)
            for record in batch:
                error = record.error()
                if error is not None and error.code() != self._kafka.KafkaError._PARTITION_EOF:
                    raise self._lost(error)
                if error is None and (record.offset() or 0) < end:
                    found.append(record)
            at: Any = self._consumer.position([place])[0]
            if at.offset >= end or (found and found[-1].offset() == end - 1):
                return found
            silent = 0.0 if batch else silent + 0.2
            if silent > _PATIENCE:
                primary = f"{partition} gives nothing from offset {begin:,} on"
                raise self._lost(primary)

    def _line(self, record: Any) -> bytes:
        """A record as a line of JSON, with the fields that were asked for."""
        value = record.value()
        line = b"null" if value is None else value.replace(b"\n", b" ").replace(b"\r", b" ").strip()
        if not line.startswith(b"{"):
            return bytes(line) or b"null"
        told = json.dumps(self._told(record))[:-1].encode()
        return told + (b"," if line[1:].strip() != b"}" else b"") + bytes(line[1:])

    def _told(self, record: Any) -> dict[str, Any]:
        given: dict[str, Callable[[], Any]] = {
            "kafka_key": lambda: _text(record.key()),
            "kafka_topic": record.topic,
            "kafka_partition": record.partition,
            "kafka_offset": record.offset,
            "kafka_timestamp": lambda: record.timestamp()[1],
            "kafka_headers": lambda: {name: _text(value) for name, value in record.headers() or ()},
        }
        told = {name: given[name]() for name in self._fields}
        return {PROVIDER: f"{self.name}:{record.topic()}/{record.partition()}", **told}

    def _table(self, records: Sequence[Any]) -> pa.Table:
        """Records whose value is a text by itself."""
        rows = [{"value": _text(each.value()), **self._told(each)} for each in records]
        for row in rows:
            if "kafka_headers" in row:
                row["kafka_headers"] = json.dumps(row["kafka_headers"])
        return pa.Table.from_pylist(rows)

    # -- the cluster --------------------------------------------------------------------------------------------------

    def _found(self) -> list[str]:
        """All partitions of the topics."""
        found = []
        for topic in self._topics:
            metadata = self._asked(self._consumer.list_topics, topic, _PATIENCE).topics[topic]
            if metadata.error is not None or not metadata.partitions:
                raise refused(self.name, "cannot-read", f'there is no topic "{topic}"')
            found += [f"{topic}/{number}" for number in sorted(metadata.partitions)]
        return found

    def _place(self, partition: str) -> Any:
        topic, _, number = partition.rpartition("/")
        return self._kafka.TopicPartition(topic, int(number))

    def _asked(self, question: Callable[..., Any], *about: Any) -> Any:
        try:
            return question(*about)
        except self._kafka.KafkaException as error:
            raise self._lost(error.args[0]) from None

    def _lost(self, error: Any) -> CedrError:
        reason = self._wrong or _reason(error)
        hint = "is the broker running, and are servers and security settings right? The next run goes on from here"
        return refused(self.name, "cannot-connect", f"Kafka does not answer: {reason}", hint=hint)

    def _heard(self, error: Any) -> None:
        """The client tells of failures by the way: the first one is the reason."""
        if self._wrong is None and error.code() in (
            self._kafka.KafkaError._AUTHENTICATION,
            self._kafka.KafkaError.SASL_AUTHENTICATION_FAILED,
            self._kafka.KafkaError._SSL,
        ):
            self._wrong = _reason(error)


class _Silent:
    """The client logs what it also raises."""

    def log(self, *_: object, **__: object) -> None:
        """Nothing."""


def _reason(error: Any) -> str:
    told = error.args[0] if isinstance(error, Exception) and error.args else error
    return told.str() if hasattr(told, "str") else str(told)


def _text(value: bytes | str | None) -> str | None:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _flat(config: Mapping[str, Any], start: str = "") -> list[tuple[str, Any]]:
    """Settings by their dotted names: TOML makes tables of bare dotted keys."""
    found: list[tuple[str, Any]] = []
    for name, value in config.items():
        found += _flat(value, f"{start}{name}.") if isinstance(value, dict) else [(f"{start}{name}", value)]
    return found
