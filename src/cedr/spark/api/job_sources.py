"""The sources of a job as events of Spark, bounded or as streams, and batches of its change streams for sinks.

Files are read by ``cedr.files``; Kafka, Delta and whatever else Spark has a format for, by Spark's own readers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from cedr.data.files import data_files
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.queries import AnyQuery
from cedr.model.schema import DataType
from cedr.plan.compile import CompiledQuery
from cedr.spark.api.files import files
from cedr.spark.plan.planning import Options, compiled
from cedr.spark.sources.events import DataFrame, Events, events

_TYPES: Final = {
    DataType.INTEGER: "bigint",
    DataType.FLOAT: "double",
    DataType.STRING: "string",
    DataType.BOOLEAN: "boolean",
    DataType.DATE: "date",
    DataType.TIMESTAMP: "timestamp",
}
_OF_RECORDS: Final = {
    "kafka_key": "CAST(key AS string)",
    "kafka_topic": "topic",
    "kafka_partition": "partition",
    "kafka_offset": "offset",
    "kafka_timestamp": "unix_millis(timestamp)",
}
TakesBatch = Callable[[pa.Table, int], None]


@dataclass(frozen=True, slots=True)
class SparkSource:
    """A source of a job with what its columns are."""

    name: str
    kind: str
    options: Mapping[str, Any]
    words: Mapping[str, Any]
    attributes: Mapping[str, DataType]
    """The declared attributes of all types."""
    types: frozenset[str] = frozenset()
    """The declared types."""


def job_events(session: Any, sources: Sequence[SparkSource], *, streaming: bool) -> Events:
    """All sources together.  Raises ``StreamError`` for one that Spark cannot open."""
    found: Events | None = None
    for source in sources:
        words = {"provider": f"'{source.name}'", **source.words}
        try:
            opened = _opened(session, source, words, streaming=streaming)
        except AnalysisException as error:
            primary = f"source {source.name}: Spark cannot open it"
            detail = str(error).splitlines()[0]
            hint = "name its package: [spark] config = { 'spark.jars.packages' = … }"
            raise StreamError(Diagnostic("cannot-read", primary, detail=detail, hint=hint)) from error
        found = opened if found is None else found | opened
    assert found is not None
    return found


def _opened(session: Any, source: SparkSource, words: Mapping[str, Any], *, streaming: bool) -> Events:
    options = source.options
    if source.kind == "files":
        told = {each: value for each, value in words.items() if each != "encoding"}
        if "format" not in told and "://" not in options["path"]:
            told["format"] = data_files(options["path"], None)[0].format  # a folder does not show it by its name
        return files(session, options["path"], streaming=streaming, **told)
    reader = session.readStream if streaming else session.read
    if source.kind == "kafka":
        topics = options["topics"]
        named = topics if isinstance(topics, str) else ",".join(topics)
        settings = {f"kafka.{name}": str(value) for name, value in options.get("config", {}).items()}
        start = {"startingOffsets": options.get("start", "earliest")}
        records = reader.format("kafka").options(**settings, **start).option("subscribe", named)
        frame = records.option("kafka.bootstrap.servers", options["servers"]).load()
        return events(_records(frame, source, words), **words)
    if source.kind == "delta":
        return events(reader.format("delta").load(options["table"]), **words)
    reader = reader.format(options["format"]).options(**{k: str(v) for k, v in options.get("options", {}).items()})
    if "schema" in options:
        reader = reader.schema(options["schema"])
    return events(reader.load(options["path"]) if "path" in options else reader.load(), **words)


def _records(frame: DataFrame, source: SparkSource, words: Mapping[str, Any]) -> DataFrame:
    """The values of records as columns: those of the declared types and of the header."""
    columns = {name: _TYPES.get(of, "string") for name, of in source.attributes.items()}
    for name in _HEADER:
        told = words.get(name)
        if not isinstance(told, str) or told in columns or told.startswith("'") or told in _OF_RECORDS:
            continue
        if name != "type" or told not in source.types:  # else it is the type of all rows
            columns[told] = "bigint" if words.get("time_unit") and name in _TIMES else "string"
    schema = ", ".join(f"`{name}` {of}" for name, of in columns.items())
    value = F.from_json(F.col("value").cast("string"), schema)
    parts = [value.alias("value"), *(F.expr(text).alias(name) for name, text in _OF_RECORDS.items())]
    return frame.select(*parts).select("value.*", *_OF_RECORDS)


_TIMES: Final = ("time", "valid_end", "occurrence_start", "occurrence_end", "guarantee")
_HEADER: Final = (*_TIMES, "type", "id", "key", "change")


def compiled_on(queries: AnyQuery, found: Events, name: str) -> CompiledQuery:
    """A query with the types of its events as Spark knows them."""
    options = Options(None, name, None, (), 1, changes=True, letters=False)
    chosen, _, _ = compiled(queries, found, options)
    return chosen


def start_stream(frame: DataFrame, place: str, name: str, take: TakesBatch, *, available: bool) -> Any:
    """Run a change stream into a function that takes each batch as Arrow rows, with its number from 1."""

    def batch(rows: DataFrame, number: int) -> None:
        take(rows.toArrow(), number + 1)

    writer = frame.writeStream.foreachBatch(batch).queryName(name).option("checkpointLocation", place)
    return (writer.trigger(availableNow=True) if available else writer).start()
