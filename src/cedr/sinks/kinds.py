"""The table of all kinds of sinks: what each is called in a job file, and what it needs to be told.

A module is imported when a sink of its kind is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import SinkError
from cedr.sinks.contract import Sink

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of sink."""

    make: Callable[[Options, str], Sink]
    """Makes a sink, not opened yet, of its options and the name of the query."""
    required: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    """What else may be said."""
    paths: tuple[str, ...] = ()
    """Which of them are paths of this machine."""
    secrets: tuple[str, ...] = ()
    """Which of them may hold a password."""
    extra: str = ""
    """The extra that it needs."""
    example: str = ""
    """A setting as a job file has it."""


def sink(kind: str, **options: Any) -> Sink:
    """A sink of a kind, to be given to ``cedr.store`` or ``cedr.write_to``: ``cedr.sink("sqlite", path="answers.db")``.

    The kinds and their options are on the page of delivery promises.  Raises ``SinkError``.
    """
    return make_sink(kind, options, "")


def make_sink(kind: str, options: Options, query: str) -> Sink:
    """A sink of a kind, not opened yet.  Raises ``SinkError`` where there is no such kind, or options do not fit it."""
    if kind not in KINDS:
        detail = f"kinds: {', '.join(KINDS)}"
        raise SinkError(Diagnostic("unknown-sink", f'there is no kind of output "{kind}"', detail=detail))
    of = KINDS[kind]
    known = (*of.required, *of.options)
    wrong = [name for name in options if name not in known]
    if wrong:
        detail = f"{kind} has: {', '.join(known) or 'none'}"
        raise SinkError(Diagnostic("bad-option", f'an output of kind {kind} has no option "{wrong[0]}"', detail=detail))
    missing = [name for name in of.required if options.get(name) in (None, "")]
    if missing:
        primary = f'an output of kind {kind} needs "{missing[0]}"'
        raise SinkError(Diagnostic("bad-option", primary, hint=f"for example: {of.example}"))
    return of.make(options, query)


def _made(module: str, name: str) -> Any:
    return getattr(import_module(f"cedr.sinks.{module}"), name)


def _table(database: str, place: str) -> Callable[[Options, str], Sink]:
    def make(options: Options, query: str) -> Sink:
        opened = _made(f"views.{database.lower()}", database)(options[place])
        made: Sink = _made("views.table", "Table")(
            opened, options.get("table") or query or None, append=bool(options.get("append", False))
        )
        return made

    return make


def _delta(options: Options, query: str) -> Sink:  # noqa: ARG001 - its path is its name
    storage, append = options.get("storage"), bool(options.get("append", False))
    made: Sink = _made("views.delta", "Delta")(options["path"], append=append, storage=storage)
    return made


def _stream(module: str, name: str, place: str) -> Callable[[Options, str], Sink]:
    def make(options: Options, query: str) -> Sink:  # noqa: ARG001 - a file has its own name
        made: Sink = _made(f"streams.{module}", name)(options[place])
        return made

    return make


def _kafka(options: Options, query: str) -> Sink:  # noqa: ARG001 - a topic has its own name
    made: Sink = _made("streams.kafka", "Kafka")(options["servers"], options["topic"], options.get("options"))
    return made


def _console(options: Options, query: str) -> Sink:  # noqa: ARG001 - nothing is to be said
    made: Sink = _made("streams.console", "Console")()
    return made


def _history(options: Options, query: str) -> Sink:  # noqa: ARG001 - the output has its own name
    keep = import_module("cedr.history.keeping").Keep  # by name: history stands above the sinks
    made: Sink = keep(options["path"], key=options.get("key", "id"), keep=options.get("keep"))
    return made


_PUSH: Final = ("envelope", "tries", "pause", "workers", "drain")


def _pushed(receiver: Callable[[Options], Any]) -> Callable[[Options, str], Sink]:
    def make(options: Options, query: str) -> Sink:  # noqa: ARG001 - the outbox has its own name
        chosen = {name: options[name] for name in _PUSH if name in options}
        made: Sink = _made("push.sink", "Push")(receiver(options), options["outbox"], **chosen)
        return made

    return make


def _webhook(options: Options) -> Any:
    more = {name: options[name] for name in ("headers", "timeout") if name in options}
    return _made("push.receivers", "Webhook")(options["url"], **more)


def _command(options: Options) -> Any:
    more = {name: options[name] for name in ("timeout",) if name in options}
    return _made("push.receivers", "Command")(options["command"], **more)


def _function(options: Options) -> Any:
    told = options["function"]
    return _made("push.receivers", "Function")(told if callable(told) else _named(str(told)))


def _named(told: str) -> Any:
    """A function by module and name, such as ``alerts:send``."""
    module, _, name = told.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        hint = 'name it as "module:function"; the module must be on the path of Python'
        raise SinkError(Diagnostic("bad-option", f'there is no function "{told}": {error}', hint=hint)) from None


KINDS: Final[Mapping[str, Kind]] = {
    "console": Kind(_console, example='kind = "console"'),
    "jsonl": Kind(
        _stream("jsonlines", "JsonLines", "path"), ("path",), paths=("path",), example='path = "changes.jsonl"'
    ),
    "parquet": Kind(
        _stream("parquet", "ParquetFolder", "path"), ("path",), paths=("path",), example='path = "changes"'
    ),
    "kafka": Kind(
        _kafka,
        ("servers", "topic"),
        ("options",),
        secrets=("options",),
        extra="kafka",
        example='servers = "localhost:9092"',
    ),
    "sqlite": Kind(
        _table("Sqlite", "path"), ("path",), ("table", "append"), paths=("path",), example='path = "answers.db"'
    ),
    "duckdb": Kind(
        _table("DuckDb", "path"),
        ("path",),
        ("table", "append"),
        paths=("path",),
        extra="duckdb",
        example='path = "answers.duckdb"',
    ),
    "postgres": Kind(
        _table("Postgres", "connection"),
        ("connection",),
        ("table", "append"),
        secrets=("connection",),
        extra="postgres",
        example='connection = "host=localhost dbname=answers"',
    ),
    "delta": Kind(
        _delta,
        ("path",),
        ("append", "storage"),
        paths=("path",),
        secrets=("storage",),
        extra="delta",
        example='path = "answers.delta"',
    ),
    "history": Kind(_history, ("path",), ("key", "keep"), paths=("path",), example='path = "history"'),
    "webhook": Kind(
        _pushed(_webhook),
        ("url", "outbox"),
        ("headers", "timeout", *_PUSH),
        paths=("outbox",),
        secrets=("url", "headers"),
        example='url = "https://example.org/alerts"',
    ),
    "command": Kind(
        _pushed(_command),
        ("command", "outbox"),
        ("timeout", *_PUSH),
        paths=("outbox",),
        example='command = "mail -s alert me@example.org"',
    ),
    "python": Kind(
        _pushed(_function), ("function", "outbox"), _PUSH, paths=("outbox",), example='function = "alerts:send"'
    ),
}
"""Every kind by its name."""
