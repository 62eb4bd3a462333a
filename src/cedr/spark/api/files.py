"""``cedr.files``: events in files, read by the workers themselves where that gives the same.

Reading: R2.  Rows that Spark reads go through the JVM one by one before they become columns again.  A worker that reads
its files by Arrow has columns from the start.  What such files are to a query is told by a DataFrame as usual, which is
also how they are read where a part of the query needs it.  A large file is read by several workers, a part each; Spark
lists the files, and nobody reads one to say how it is split.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from os import PathLike, fspath
from typing import Any, Final
from urllib.parse import unquote, urlparse

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql import types as st

from cedr.errors import Diagnostic, StreamError
from cedr.model.schema import DataType
from cedr.plan.splitting import Split
from cedr.spark.api.infer_schema import has_header, inferred_schema
from cedr.spark.layout.layout import FileForm, Layout
from cedr.spark.map_task.formats.lines import PACKED, local_path, packed
from cedr.spark.plan.columns import Slots
from cedr.spark.session.cores import cores
from cedr.spark.sources.clocks import readable
from cedr.spark.sources.datatypes import ours
from cedr.spark.sources.events import DataFrame, Events, EventSource, events

_LISTED: Final = "path string, modificationTime timestamp, length long, content binary"
_FORMS: Final = ("csv", "json", "parquet")
_POLICIES: Final = (None, "fail", "dead-letter")
_PART: Final = "path string, length long, part int, parts int"
_LEAST: Final = 8 << 20
"""So many bytes a part of a file has at least."""
_HEADER: Final = {
    "type": "type",
    "time": "vs",
    "id": "id",
    "valid_end": "ve",
    "occurrence_start": "os",
    "occurrence_end": "oe",
    "key": "key",
    "guarantee": "promise",
    "provider": "provider",
}
"""The parts of a header that a worker can read, and the columns in which they travel."""
_SIMPLE: Final = (
    st.StringType,
    st.BooleanType,
    st.ByteType,
    st.ShortType,
    st.IntegerType,
    st.LongType,
    st.FloatType,
    st.DoubleType,
    st.DateType,
    st.TimestampType,
    st.TimestampNTZType,
)
_KEYS: Final = {
    DataType.INTEGER: (st.ByteType, st.ShortType, st.IntegerType, st.LongType),
    DataType.STRING: (st.StringType,),
}


@dataclass(frozen=True)
class EventFiles:
    """Where the files are, and what is in them."""

    paths: DataFrame
    """Columns ``path``, ``length``, and where files are split ``part`` and ``parts``; of a stream, those of a batch."""
    form: FileForm
    forgiving: bool | None
    """Whether what cannot be read is a dead letter; None: where the query is asked for dead letters."""


def files(  # noqa: PLR0913 - one for each choice
    session: Any,
    path: str | PathLike[str],
    schema: st.StructType | str | None = None,
    *,
    format: str | None = None,  # noqa: A002 - Spark's word
    streaming: bool = False,
    separator: str = ",",
    header: bool | None = None,
    files_per_batch: int | None = None,
    split: bool | None = None,
    unreadable: str | None = None,
    **words: Any,
) -> Events:
    """The rows of CSV, JSON or Parquet files as messages; ``words`` are those that ``cedr.events`` takes.

    ``format`` is csv, json or parquet; it may be left out where the path says it, as ``tx.csv`` and ``tx.json.gz`` do.
    ``schema`` tells the columns as Spark does; without it they are taken from the footer of a Parquet file, or from the
    first thousand lines.  JSON files have an object on each line.  CSV files have ``separator`` between columns.  With
    ``header`` they have a first line of names, without it (False) none; where it is left out, a file has one if its
    first line has the names of the columns that are asked for.  With ``streaming`` files that appear later are read
    too, ``files_per_batch`` at a time.

    Large files are split between workers.  To deal out the parts takes a stream some time in every batch, whatever its
    size; so a stream does it only where a file that is there already is large, or as ``split`` says.

    Files on local disks, or mounted on all workers under one path, are read by the workers.  What cannot be read then,
    a file, or a line or value of one, is a dead letter that names it where the query is asked for ``dead_letters``, and
    an error otherwise; ``unreadable`` says "dead-letter" or "fail" whatever the query is asked for.  ``zone`` is that
    of texts without one, by default the session's, as Spark has it.  Raises ``StreamError`` as ``cedr.events`` does.
    """
    place = fspath(path)
    form = format or _format_of(place)
    if form not in _FORMS:
        hint = "read it by Spark, and use cedr.events"
        raise StreamError(Diagnostic("unknown-format", f'files of format "{form}" cannot be read here', hint=hint))
    if unreadable not in _POLICIES:
        primary = f'unreadable= is "{unreadable}"'
        raise StreamError(Diagnostic("unknown-policy", primary, hint='say "dead-letter" or "fail"'))
    if schema is None:
        schema = inferred_schema(session, place, form, separator, header=header is not False)
        header = True if header is None else header
    zone = words.get("zone") or session.conf.get("spark.sql.session.timeZone")
    bare = FileForm(form, separator, header, zone, {}, {}, local_path(place))
    options = _options(session, place, bare, words, files_per_batch if streaming else None)
    reader = session.readStream if streaming else session.read
    found = events(frame := reader.schema(schema).options(**options).format(form).load(place), **words)
    (source,) = found.sources
    known = _form(source, words, bare)
    if known is None or urlparse(place).scheme not in ("", "file"):
        return found
    most = cores(session) if split is not False else 1
    if streaming:
        reader = session.readStream.schema(_LISTED).options(**options)
        listed = reader.format("binaryFile").load(place).select("path", "length")
        if most > 1 and (split or _large(session.read.format("binaryFile"), place)):
            listed = _parts(listed, form, most).coalesce(1).repartition(most)
    else:
        rows = _there(frame, form, most)
        if not rows or any(known.partitioned(row[0]) for row in rows):
            return found
        listed = session.createDataFrame(rows, _PART).repartition(min(len(rows), cores(session)))
    forgiving = None if unreadable is None else unreadable == "dead-letter"
    return Events((replace(source, files=EventFiles(listed, known, forgiving)),))


def _format_of(path: str) -> str:
    """The format that the name of a path tells.  Raises ``StreamError`` where it tells none."""
    name = path.rstrip("/").rpartition("/")[2].lower()
    ends = [end for end in name.split(".")[1:] if f".{end}" not in PACKED]
    found = {"jsonl": "json", "ndjson": "json", "pq": "parquet", "tsv": "csv"}.get(ends[-1], ends[-1]) if ends else ""
    if found not in _FORMS:
        hint = f"say format= one of {', '.join(_FORMS)}"
        raise StreamError(Diagnostic("unknown-format", f'the name "{path}" does not tell the format', hint=hint))
    return found


def _options(
    session: Any, path: str, bare: FileForm, words: Mapping[str, Any], files_per_batch: int | None
) -> dict[str, Any]:
    """What Spark is told, where it reads the files itself."""
    options: dict[str, Any] = {} if files_per_batch is None else {"maxFilesPerTrigger": files_per_batch}
    if words.get("zone") is not None and bare.name != "parquet":
        options["timeZone"] = words["zone"]
    if bare.name == "csv":
        asked = [name for name in (words.get("time", "time"), words.get("id")) if isinstance(name, str)]
        head = has_header(session, path, bare.separator, asked) if bare.head is None else bare.head
        options |= {"sep": bare.separator, "header": head, "escape": '"'}
    return options


def _large(reader: Any, path: str) -> bool:
    """Whether a file that is there now would be split."""
    try:
        longest = reader.load(path).agg(F.max("length")).collect()[0][0]
    except AnalysisException:  # nothing is there yet
        return False
    return longest is not None and longest >= 2 * _LEAST


def _there(frame: DataFrame, name: str, most: int) -> list[tuple[str, int, int, int]]:
    """The files of a bounded DataFrame, a row for each part; none where they are not here.

    Spark has listed them when it was told of the folder: to ask it for their lengths would be a job.
    """
    found: list[tuple[str, int, int, int]] = []
    for file in sorted(frame.inputFiles()):
        told = urlparse(file)
        if told.scheme != "file":
            return []
        path = unquote(told.path)
        try:
            length = os.path.getsize(path)
        except OSError:
            return []
        parts = 1 if name != "parquet" and packed(path) else min(most, max(1, length // _LEAST))
        found += ((f"file:{path}", length, part, parts) for part in range(parts))
    return found


def _parts(listed: DataFrame, name: str, most: int) -> DataFrame:
    """The same of a stream: files as they are listed, a row for each part; what is compressed as a whole has one."""
    count = F.least(F.lit(most), F.greatest(F.lit(1), F.floor(F.col("length") / _LEAST))).cast("int")
    if name != "parquet":
        whole = reduce(or_, (F.col("path").endswith(end) for end in PACKED))
        count = F.when(whole, F.lit(1)).otherwise(count)
    counted = listed.select("path", "length", count.alias("parts"))
    return counted.select("path", "length", F.explode(F.sequence(F.lit(0), F.col("parts") - 1)).alias("part"), "parts")


def _form(source: EventSource, words: Mapping[str, Any], bare: FileForm) -> FileForm | None:
    """How workers read such files; None where they cannot."""
    parts = {part: given for part, given in {"time": "time", **words}.items() if given is not None}
    if source.name is not None:
        del parts["type"]
    named = {_HEADER[part]: given for part, given in parts.items() if part in _HEADER and isinstance(given, str)}
    fields = {field.name: field.dataType for field in source.frame.schema.fields}
    columns = [given for given in named.values() if given in fields]
    plain = len(columns) == len(source.header) and "id" in named and ("type" in named or source.name is not None)
    if not plain or "change" in source.header or "arrival" in source.header:
        return None
    if any(not isinstance(of, _SIMPLE) for of in fields.values()) or len(bare.separator.encode()) != 1:
        return None
    if any(not readable(source.words, of) for of in source.clocks.values()):
        return None
    types = {field: of.simpleString() for field, of in fields.items()}
    header = {part: at for part, at in named.items() if at in fields}
    how = source.words
    return replace(
        bare,
        types=types,
        header=header,
        type=source.name,
        unit=how.unit,
        format=how.format,
        local=how.zone,
        truncate=how.truncate,
    )


def direct(events: Events, layout: Layout, slots: Slots, split: Split) -> DataFrame | None:
    """The files of a query as rows that tell their paths, where the workers can read them; otherwise None."""
    if len(events.sources) != 1 or events.sources[0].files is None or layout.slices is not None:
        return None
    (source,) = events.sources
    if (layout.buckets_from_state or len(layout.tokens) > 1) and not _hashed(source, layout, split):
        return None
    if any(source.payload.get(name) != slots.types[slot] for of in layout.types for name, slot in of.slots.items()):
        return None
    frame = source.files.paths
    return frame.withColumn("cedr", F.unix_micros(F.current_timestamp())) if events.streaming else frame


def _hashed(source: EventSource, layout: Layout, split: Split) -> bool:
    """Whether the bucket of an event is told by one column of a kind that workers hash as Spark does."""
    if not split.by:
        return isinstance(source.identity, (st.StringType, *_KEYS[DataType.INTEGER]))
    attributes = set(split.by.values())
    if len(attributes) > 1 or any(of.name not in split.by for of in layout.types):
        return False
    ((attribute, *fields),) = attributes
    if fields:
        return False
    of = source.payload.get(attribute)
    declared = {
        layout.catalog.types[name].attributes.get(attribute) for name in split.by if name in layout.catalog.types
    }
    kind = declared.pop() if len(declared) == 1 else None
    return of is not None and kind in _KEYS and isinstance(of, _KEYS[kind]) and ours(of) is kind
