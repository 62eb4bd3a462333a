"""The kinds of sources: their settings in a job file, and how each is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cedr.connect.delivery import Delivery, Disorder
from cedr.connect.machines import Fleet, Story
from cedr.data.words import Words, words_of
from cedr.language.tokens import duration_of
from cedr.sources import generator
from cedr.sources.contract import JobSource, refused

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source."""

    options: tuple[str, ...]
    """Its settings, beside the words that describe columns."""
    required: tuple[str, ...]
    example: str
    opened: Callable[[str, Options, Words], JobSource]
    words: Words | None = None
    """The words that are so anyhow."""


def kind_of(given: Options) -> str | None:
    """The kind of a source: as it says, or as its settings show."""
    told = given.get("kind")
    if told is not None:
        return str(told)
    return next((kind for word, kind in _SHOWN.items() if word in given), None)


def open_source(name: str, kind: str, options: Options, words: Options) -> tuple[JobSource, Words]:
    """Open a source.  Raises ``StreamError`` where a setting is wrong, or nothing is there."""
    of = KINDS[kind]
    checked = of.words if of.words is not None else words_of(words)
    return of.opened(name, options, checked), checked


def _files(name: str, options: Options, words: Words) -> JobSource:
    from cedr.sources.files import Files

    return Files(name, str(options["path"]), words, watches=options.get("watch"))


def _standard_input(name: str, options: Options, words: Words) -> JobSource:  # noqa: ARG001 - it has none
    from cedr.sources.lines import StandardInput

    return StandardInput(name)


def _socket(name: str, options: Options, words: Words) -> JobSource:  # noqa: ARG001 - its columns are those of JSON
    from cedr.sources.lines import Socket

    host, mark, port = str(options["address"]).rpartition(":")
    if not mark or not port.isdecimal():
        raise refused(name, "bad-setting", f'"{options["address"]}" is no address', hint='address = "127.0.0.1:9999"')
    return Socket(name, host or "127.0.0.1", int(port))


def _generator(name: str, options: Options, words: Words) -> JobSource:  # noqa: ARG001 - its words are its own
    numbers: dict[str, Any] = {each: options[each] for each in ("events", "machines", "seed") if each in options}
    shares = {each: options[each] for each in _SHARES if each in options}
    times = {each: _duration(name, each, options[each]) for each in _TIMES if each in options}
    if "span" in options:
        numbers["span"] = _duration(name, "span", options["span"])
    for each, value in (*numbers.items(), *shares.items()):
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise refused(name, "bad-setting", f'"{each}" must be a number, not {value!r}')
    return generator.Generated(name, Delivery(Fleet(Story(**numbers)), Disorder(**shares, **times)))


_SHARES: Final = ("late", "lost", "twice", "corrected", "retracted")
_TIMES: Final = ("delay", "within", "guarantees")


def _duration(name: str, word: str, value: Any) -> int:
    found = duration_of(str(value))
    if found is None:
        raise refused(name, "bad-duration", f'"{word}" is {value!r}, which is not a length of time')
    return found


def _kafka(name: str, options: Options, words: Words) -> JobSource:
    from cedr.sources.kafka import Kafka

    asked = {*words.columns().values(), *(words.attributes or ()), *options.get("fields", ())}
    return Kafka(name, options, asked)


def _delta(name: str, options: Options, words: Words) -> JobSource:  # noqa: ARG001 - its columns have types
    from cedr.sources.delta import Delta

    return Delta(name, options)


def _postgres(name: str, options: Options, words: Words) -> JobSource:  # noqa: ARG001 - its columns have types
    from cedr.sources.postgres import Postgres

    return Postgres(name, options)


def _only_spark(name: str, options: Options, words: Words) -> JobSource:  # noqa: ARG001 - it opens nothing
    hint = 'host = "spark", at the top of the job file'
    raise refused(name, "unknown-source", "only the host spark reads what Spark opens", hint=hint)


KINDS: Final[Mapping[str, SourceKind]] = {
    "files": SourceKind(("path", "watch"), ("path",), 'path = "tx.csv"', _files),
    "stdin": SourceKind((), (), 'kind = "stdin"', _standard_input),
    "socket": SourceKind(("address",), ("address",), 'address = "127.0.0.1:9999"', _socket),
    "kafka": SourceKind(
        ("servers", "topics", "value", "fields", "start", "config"),
        ("servers", "topics"),
        'servers = "127.0.0.1:9092", topics = "payments"',
        _kafka,
    ),
    "delta": SourceKind(("table", "storage"), ("table",), 'table = "payments.delta"', _delta),
    "postgres": SourceKind(
        ("connection", "rows", "cursor"),
        ("connection", "rows", "cursor"),
        'connection = "${DATABASE}", rows = "customers", cursor = "updated_at"',
        _postgres,
    ),
    "spark": SourceKind(("format", "path", "schema", "options"), ("format",), 'format = "avro"', _only_spark),
    "generator": SourceKind(
        (
            "events", "machines", "seed", "span", "late", "lost", "twice", "corrected", "retracted", "delay", "within",
            "guarantees",
        ),
        (),
        "events = 1000",
        _generator,
        generator.WORDS,
    ),
}  # fmt: skip
"""Every kind of source by its name."""
_SHOWN: Final = {
    "path": "files",
    "address": "socket",
    "topics": "kafka",
    "connection": "postgres",
}
"""Settings that show the kind."""
