"""``cedr.files``: events in files, which workers read without Spark if that gives the same result.

Reading: R2.  Rows that Spark reads pass through the JVM one by one before they become columns again.  A worker that
reads its files with Arrow has columns from the start.  A DataFrame describes the files as usual; Spark reads them
through it if a query needs that.  Several workers read a large file, one part each.  Spark lists the files with their
lengths, so that nobody has to open a file to split it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from glob import iglob
from operator import or_
from os import PathLike, fspath
from typing import Any, Final
from urllib.parse import unquote, urlparse

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql import types as st

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
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
"""The least bytes of a part of a file."""
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
"""The parts of a header that a worker can read, and their columns in the layout."""
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
    """The paths of files, and their format."""

    paths: DataFrame
    """Columns ``path`` and ``length``; if files are split, also ``part`` and ``parts``."""
    form: FileForm
    forgiving: bool | None
    """Whether a fault of a file becomes a dead letter; None: if the query has ``dead_letters=True``."""


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
    """The rows of CSV, JSON or Parquet files as messages; ``words`` are the arguments of ``cedr.events``.

    ``format`` is csv, json or parquet; leave it out if the path shows it, as ``tx.csv`` and ``tx.json.gz`` do.
    ``schema`` is a schema of Spark; without it the columns come from the footer of a Parquet file, or from the first
    thousand lines.  JSON files have an object on each line.  CSV files have ``separator`` between columns.  With
    ``header=True`` they have a first line of names, with ``header=False`` none; without ``header`` a file has one if
    its first line has the names of the columns that you name.  With ``streaming`` files that appear later are read too,
    ``files_per_batch`` at a time.

    Large files are split between workers.  This takes a stream some time in every batch, whatever its size; so a stream
    does it only if a file that exists at its start is large, or as ``split`` says.

    Workers read files on local disks, or mounted on all workers under one path.  A file, line or value that they cannot
    read becomes a dead letter if the query has ``dead_letters=True``, and an error otherwise; ``unreadable`` is
    "dead-letter" or "fail" and overrides this.  ``zone`` is the zone of texts without one, by default that of the
    session, as in Spark.  Raises ``StreamError`` as ``cedr.events`` does.
    """
    place = _located(fspath(path))
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


def _located(place: str) -> str:
    """A path as it is meant here: Spark's JVM keeps the folder in which it was started."""
    return os.path.abspath(place) if any(iglob(place)) else place


def _format_of(path: str) -> str:
    """The format that the name of a path shows.  Raises ``StreamError`` if it shows none."""
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
    """The options of Spark's reader."""
    options: dict[str, Any] = {} if files_per_batch is None else {"maxFilesPerTrigger": files_per_batch}
    if words.get("zone") is not None and bare.name != "parquet":
        options["timeZone"] = words["zone"]
    if bare.name == "csv":
        asked = [name for name in (words.get("time", "time"), words.get("id")) if isinstance(name, str)]
        head = has_header(session, path, bare.separator, asked) if bare.head is None else bare.head
        options |= {"sep": bare.separator, "header": head, "escape": '"'}
    return options


def _large(reader: Any, path: str) -> bool:
    """Whether a file that exists now would be split."""
    try:
        longest = reader.load(path).agg(F.max("length")).collect()[0][0]
    except AnalysisException:  # there is no file yet
        return False
    return longest is not None and longest >= 2 * _LEAST


def _there(frame: DataFrame, name: str, most: int) -> list[tuple[str, int, int, int]]:
    """The files of a bounded DataFrame, a row for each part; none if one of them is not on this machine.

    Spark has listed the files already; to ask it for their lengths would take a job.
    """
    found: list[tuple[str, int, int, int]] = []
    for file in sorted(frame.inputFiles()):
        location = urlparse(file)
        if location.scheme != "file":
            return []
        path = unquote(location.path)
        try:
            length = os.path.getsize(path)
        except OSError:
            return []
        parts = 1 if name != "parquet" and packed(path) else min(most, max(1, length // _LEAST))
        found += ((f"file:{path}", length, part, parts) for part in range(parts))
    return found


def _parts(listed: DataFrame, name: str, most: int) -> DataFrame:
    """The files of a stream, a row for each part; a compressed file has one part."""
    count = F.least(F.lit(most), F.greatest(F.lit(1), F.floor(F.col("length") / _LEAST))).cast("int")
    if name != "parquet":
        whole = reduce(or_, (F.col("path").endswith(end) for end in PACKED))
        count = F.when(whole, F.lit(1)).otherwise(count)
    counted = listed.select("path", "length", count.alias("parts"))
    return counted.select("path", "length", F.explode(F.sequence(F.lit(0), F.col("parts") - 1)).alias("part"), "parts")


def _form(source: EventSource, words: Mapping[str, Any], bare: FileForm) -> FileForm | None:
    """The format for workers; None if they cannot read such files."""
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
    """The files of a query as rows with their paths, if workers can read them; otherwise None."""
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
    """Whether one column determines the bucket of an event, and workers hash its type as Spark does."""
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
