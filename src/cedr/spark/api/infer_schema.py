"""Infers the columns of files: from the footer of a Parquet file, or from the first lines.

Readings: R2, R20.  A column has the type of nearly all of its values.  So one value that does not fit makes a dead
letter, and does not turn a column of numbers into texts.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import types as st

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.spark.map_task.formats import values
from cedr.spark.map_task.formats.lines import local_path, packed

_LINES: Final = 1_000
"""The most lines that are examined."""
_BYTES: Final = 1 << 18
_ENOUGH: Final = 0.9
"""The share of the values of a column that must have its type."""


def inferred_schema(session: Any, path: str, form: str, separator: str, *, header: bool) -> st.StructType:
    """The columns of files.  Raises ``StreamError`` if there is no file to infer them from."""
    if form == "parquet":
        try:
            found: st.StructType = session.read.parquet(path).schema
        except AnalysisException as error:
            raise _nothing(path) from error
        return found
    lines = first_lines(session, path)
    if not lines:
        raise _nothing(path)
    return csv_schema(lines, separator, header=header) if form == "csv" else json_schema(session, path, lines)


def has_header(session: Any, path: str, separator: str, asked: Sequence[str]) -> bool:
    """Whether the first line of CSV files has the given names; True if there is no file yet."""
    lines = first_lines(session, path, 1)
    return not lines or names_in(next(csv.reader(lines[:1], delimiter=separator)), asked)


def names_in(found: Iterable[str], asked: Iterable[str]) -> bool:
    """Whether all names are there, ignoring case."""
    there = {name.strip().lower() for name in found}
    return all(name.lower() in there for name in asked)


def first_lines(session: Any, path: str, count: int = _LINES) -> list[str]:
    """The first lines of files that are not empty; none if there is no file."""
    texts = _here(path)
    if texts is None:
        try:
            texts = [row["value"] or "" for row in session.read.text(path).limit(count + 1).collect()]
        except AnalysisException:
            return []
    return [text.removeprefix("\ufeff") for text in texts if text.strip()][:count]


def _here(path: str) -> list[str] | None:
    """The first lines of a file, or of one in a folder, on this machine; None if only Spark can read it."""
    place = Path(local_path(path))
    try:
        if place.is_dir():
            place = min(each for each in place.iterdir() if each.is_file() and each.name[0] not in "._")
        with pa.input_stream(str(place), compression="detect" if packed(str(place)) else None) as file:
            data: bytes = file.read(_BYTES)
    except (OSError, ValueError):
        return None
    lines = data.decode("utf-8", "replace").splitlines()
    return lines if len(data) < _BYTES else lines[:-1]


def csv_schema(lines: Sequence[str], separator: str, *, header: bool) -> st.StructType:
    """The columns of lines of CSV.

    >>> csv_schema(["id;n;at", "a;1;2026-01-05 08:00", "b;2;2026-01-05"], ";", header=True).simpleString()
    'struct<id:string,n:bigint,at:timestamp>'
    """
    rows = list(csv.reader(lines, delimiter=separator))
    names = [name.strip() for name in rows[0]] if header else [f"_c{place}" for place in range(len(rows[0]))]
    body = rows[1:] if header else rows
    columns = ([row[place] for row in body if place < len(row) and row[place] != ""] for place in range(len(names)))
    return st.StructType([st.StructField(name, _type_of(texts)) for name, texts in zip(names, columns, strict=True)])


def _type_of(texts: Sequence[str]) -> st.DataType:
    """The first type that nearly all texts have."""
    for test, of in _TESTS:
        if texts and sum(map(test, texts)) >= _ENOUGH * len(texts):
            return of
    return st.StringType()


def json_schema(session: Any, path: str, lines: Iterable[str]) -> st.StructType:
    """The columns of JSON objects, one on each line; Spark infers nested ones."""
    found: dict[str, list[Any]] = {}
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        for name, part in (value if isinstance(value, Mapping) else {}).items():
            if isinstance(part, Mapping | list):
                schema: st.StructType = session.read.json(path).schema
                return schema
            found.setdefault(name, []).append(part)
    return st.StructType([st.StructField(name, _type_of_values(parts)) for name, parts in found.items()])


def _type_of_values(parts: Sequence[Any]) -> st.DataType:
    given = [part for part in parts if part is not None]
    kinds: tuple[tuple[Callable[[Any], bool], st.DataType], ...] = (
        (lambda part: isinstance(part, bool), st.BooleanType()),
        (lambda part: isinstance(part, int) and not isinstance(part, bool), st.LongType()),
        (lambda part: isinstance(part, int | float) and not isinstance(part, bool), st.DoubleType()),
        (lambda part: isinstance(part, str) and _is_time(part), st.TimestampType()),
    )
    for test, of in kinds:
        if given and sum(map(test, given)) >= _ENOUGH * len(given):
            return of
    return st.StringType()


def _reads(read: Callable[[str], object]) -> Callable[[str], bool]:
    def test(text: str) -> bool:
        try:
            read(text)
        except (ValueError, OverflowError):
            return False
        return True

    return test


def _is_time(text: str) -> bool:
    """Whether a text is a timestamp with month and day: a year alone is more often a number or a name."""
    return len(text) >= 8 and "-" in text[4:8] and _reads(lambda each: values.instant(each, "UTC"))(text)


_TESTS: Final[tuple[tuple[Callable[[str], bool], st.DataType], ...]] = (
    (lambda text: text.lower() in ("true", "false"), st.BooleanType()),
    (_reads(lambda text: values.whole(text, pa.int64())), st.LongType()),
    (_reads(values.number), st.DoubleType()),
    (_is_time, st.TimestampType()),
)


def _nothing(path: str) -> StreamError:
    hint = "say what the columns are: schema="
    return StreamError(Diagnostic("cannot-read", f'nothing at "{path}" tells what the columns are', hint=hint))
