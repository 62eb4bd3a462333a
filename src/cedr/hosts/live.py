"""``cedr.run``: a standing query on messages as they come; what it says, as it says it.

Paper: Section 5, Figure 7.  Readings: R33 (the server's clock), R35 (levels), R38 (switching), R40 (batches).

    for change in cedr.run(query, messages):
        print(change.kind, change.event)

Iterator in, iterator out: nothing is read before it is needed, nothing is kept but the state of the query.  An
asynchronous iterable gives an asynchronous iterator.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar, Unpack, overload

from cedr.connect.messages import MessageFile
from cedr.consistency.measures import Measures
from cedr.data.arriving import Arriving
from cedr.data.rejected import SHARE
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError, StreamError
from cedr.hosts.catalog import Catalog
from cedr.hosts.choice import DEFAULT, live_host_named
from cedr.hosts.declared_data import given_data
from cedr.hosts.feed import file_lines
from cedr.hosts.host import StandingQuery, sensible_batch
from cedr.hosts.live_catalog import AsyncLiveCatalog, LiveCatalog
from cedr.hosts.noticing import on_stream
from cedr.hosts.preparing import prepare
from cedr.hosts.queries import AnyQuery, choose, folder_of, parse_level, parsed
from cedr.hosts.receiving import Received, emitted, emitted_async
from cedr.hosts.standing import Said, Standing, compiled
from cedr.model.event import Event
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.schema import EventType, EventTypes
from cedr.model.stream import Change
from cedr.model.time import Time
from cedr.plan.compile import CompiledQuery, Program

__all__ = ["AsyncLive", "Live", "Said", "run"]

T = TypeVar("T")
Level = ConsistencyLevel | str
Levels = list[ConsistencyLevel] | list[str] | list[ConsistencyLevel | str] | tuple[ConsistencyLevel | str, ...]


class _Running(Received):
    """A running query: what can be asked of it and done to it between two messages."""

    def __init__(self, query: CompiledQuery, standing: Standing, warnings: Iterable[Diagnostic] = ()) -> None:
        super().__init__(standing, warnings)
        self.query = query
        self._standing: Standing = standing

    @property
    def name(self) -> str:
        """The name of the query."""
        return self.query.name

    @property
    def type(self) -> EventType:
        """What its rows look like."""
        return self.query.output

    @property
    def levels(self) -> list[ConsistencyLevel]:
        """The level at which the next batch is taken, for each level asked for."""
        return list(self._running.levels)

    def guarantee(self, of: int = 0) -> Time:
        """g': up to this occurrence time what was said is final.  Reading: R36."""
        return self._running.guarantee[of]

    def at_sync_point(self, of: int = 0) -> bool:
        """Whether nothing that was said is provisional.  Reading: R38."""
        return self._running.at_sync_point(of)

    def said(self, of: int = 0) -> list[Event]:
        """The rows said and not taken back that are still held."""
        return self._running.said(of)

    def measures(self) -> list[Measures]:
        """What each level has cost so far."""
        return list(self._running.measures())

    def switch(self, level: Level, *, of: int = 0, at_sync_point: bool = False) -> None:
        """Go on at another level: with the next batch, or from the next sync point of the output.  Reading: R38.

        ``of`` is the place among the levels that were asked for.
        """
        self._running.switch(_level(level), of=of, at_sync_point=at_sync_point)

    def state(self) -> dict[str, bytes | None]:
        """What has changed of the state since the last call, in named segments; None is a segment that is gone.

        Keep them by name: all that are kept at one moment, given to ``restore``, go on from that moment.  What was
        given to the query since is to be given again; ``received`` says how far it had come.
        """
        return self._standing.state()

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Go on where another run of the same query was; before the first message."""
        self._standing.restore(segments)

    @property
    def _running(self) -> StandingQuery:
        return self._standing.running


class Live(_Running, Generic[T]):
    """A running query: iterate over it for what it says."""

    def __init__(
        self, query: CompiledQuery, standing: Standing, messages: Iterable[Any], warnings: Iterable[Diagnostic] = ()
    ) -> None:
        super().__init__(query, standing, warnings)
        self._said: Generator[T] = emitted(standing, messages)

    def __iter__(self) -> Generator[T]:
        return self._said

    def __next__(self) -> T:
        return next(self._said)


class AsyncLive(_Running, Generic[T]):
    """A running query over an asynchronous source: iterate over it with ``async for``."""

    def __init__(
        self,
        query: CompiledQuery,
        standing: Standing,
        messages: AsyncIterable[Any],
        warnings: Iterable[Diagnostic] = (),
    ) -> None:
        super().__init__(query, standing, warnings)
        self._said: AsyncGenerator[T] = emitted_async(standing, messages)

    def __aiter__(self) -> AsyncGenerator[T]:
        return self._said

    async def __anext__(self) -> T:
        return await anext(self._said)


class _Options(TypedDict, total=False):
    """What may be said beside the levels, and the words that describe data."""

    catalog: EventTypes | str | PathLike[str] | None
    providers: Iterable[str]
    batch: int | None
    clock: Callable[[], Time] | None
    host: str | None
    bad_rows: float
    type: str | None
    time: str | None
    time_unit: str | None
    time_format: str | None
    zone: str | None
    truncate: bool | None
    id: str | None
    valid_end: str | None
    occurrence_start: str | None
    occurrence_end: str | None
    key: str | None
    change: str | None
    guarantee: str | None
    arrival: str | None
    provider: str | None
    attributes: Iterable[str] | None
    disorder: str | int | timedelta | None
    stable_key: bool | None
    format: str | None
    separator: str | None
    header: bool | None
    encoding: str | None


@overload
def run(  # type: ignore[overload-overlap]  # a catalog is a query, too
    query: Catalog,
    messages: AsyncIterable[Any],
    *,
    consistency: Level | Levels | None = None,
    event: None = None,
    **options: Unpack[_Options],
) -> AsyncLiveCatalog: ...
@overload
def run(
    query: Catalog,
    messages: Any = None,
    *,
    consistency: Level | Levels | None = None,
    event: None = None,
    **options: Unpack[_Options],
) -> LiveCatalog: ...
@overload
def run(
    query: AnyQuery,
    messages: AsyncIterable[Any],
    *,
    consistency: Levels,
    event: str | None = None,
    **options: Unpack[_Options],
) -> AsyncLive[Said]: ...
@overload
def run(
    query: AnyQuery,
    messages: AsyncIterable[Any],
    *,
    consistency: Level | None = None,
    event: str | None = None,
    **options: Unpack[_Options],
) -> AsyncLive[Change]: ...
@overload
def run(
    query: AnyQuery, messages: Any, *, consistency: Levels, event: str | None = None, **options: Unpack[_Options]
) -> Live[Said]: ...
@overload
def run(
    query: AnyQuery,
    messages: Any,
    *,
    consistency: Level | None = None,
    event: str | None = None,
    **options: Unpack[_Options],
) -> Live[Change]: ...
def run(  # noqa: PLR0913 - one for each choice
    query: AnyQuery,
    messages: Any = None,
    *,
    consistency: Level | Levels | None = None,
    event: str | None = None,
    catalog: EventTypes | str | PathLike[str] | None = None,
    providers: Iterable[str] = (),
    batch: int | None = None,
    clock: Callable[[], Time] | None = None,
    host: str | None = None,
    bad_rows: float = SHARE,
    **words: Any,
) -> Live[Any] | AsyncLive[Any] | LiveCatalog | AsyncLiveCatalog:
    """Run a query on messages or data as they come, and give what it emits, one ``Change`` at a time.

    ``messages`` is any iterable: of messages as objects or as dictionaries of the JSON Lines form, of ``EventBatch``
    objects, or of lists of these, each list a batch with one CEDR time; or the path of such a file, read line by line.
    Of an asynchronous iterable the result is iterated over with ``async for``.  It may also be data, as
    ``cedr.evaluate`` takes it, with ``words`` that describe it; such data is read first, and then fed batch by batch.

    The queries of a ``cedr.Catalog`` run in one pipeline, each at its own level, and give ``(query, level, change)``;
    with ``event`` one of them does.

    ``consistency`` is a level or several; with several the query emits at each of them, as ``(level, change)``.
    ``batch`` messages or rows are taken at a time, by default one message or a thousandth of the rows.  CEDR time
    counts the batches unless ``clock`` tells it; it always rises.  ``providers`` names who is waited for before
    anything is guaranteed (R33).

    Event types are those that the text and ``catalog`` declare, and those of data.  Nothing is inferred from messages
    that have not come: where nothing is declared any type and attribute is taken as it comes, and no event may be
    revised (R37).
    """
    if batch is not None and batch < 1:
        raise StreamError(Diagnostic("batch-not-positive", f"a batch has at least one message, not {batch}"))
    levels = [] if consistency is None else [consistency] if isinstance(consistency, Level) else list(consistency)
    asked = [_level(level) for level in levels]
    several = isinstance(query, Catalog) and event is None
    feed = _fed(query, messages, words, catalog, event, (bad_rows, batch, several))
    timing: dict[str, Any] = {"batch": batch or 1, "clock": clock}
    if isinstance(query, Catalog) and several:
        if host not in {None, DEFAULT}:
            raise _one_by_one(str(host))
        return _run_catalog(query, feed, asked, providers, timing)
    chosen = choose(feed.program, event)
    asked = asked or [chosen.consistency or MIDDLE]
    running = live_host_named(DEFAULT if host is None else host).start(chosen.plan, asked, feed.types, providers)
    labelled = bool(levels) and not isinstance(consistency, Level)
    standing = Standing(running, feed.types, labelled=labelled, **timing)
    standing.unreadable = feed.unreadable
    if isinstance(feed.messages, AsyncIterable):
        return AsyncLive(chosen, standing, feed.messages, feed.warnings)
    told = [] if feed.arriving is None else [each for level in asked for each in on_stream(feed.arriving, level)]
    return Live(chosen, standing, feed.messages, [*feed.warnings, *told])


class _Fed(NamedTuple):
    """Compiled queries, and what they are fed with."""

    program: Program
    types: EventTypes
    messages: Iterable[Any] | AsyncIterable[Any]
    warnings: Sequence[Diagnostic] = ()
    unreadable: tuple[Diagnostic, ...] = ()
    arriving: Arriving | None = None


def _fed(
    query: AnyQuery,
    messages: Any,
    words: Mapping[str, Any],
    catalog: EventTypes | str | PathLike[str] | None,
    event: str | None,
    reading: tuple[float, int | None, bool],
) -> _Fed:
    """``reading``: how many rows may be bad, how many make a batch, and whether all queries run."""
    text, (bad_rows, batch, every) = parsed(query), reading
    if isinstance(messages, AsyncIterable | Iterator):
        _no_words(words)
    given = None if isinstance(messages, AsyncIterable) else given_data(text, messages, words, folder_of(query))
    if given is None:
        program, types = compiled(text, catalog, messages.types if isinstance(messages, MessageFile) else None)
        return _Fed(program, types, messages if isinstance(messages, AsyncIterable) else _items(messages))
    prepared = prepare(text, given, catalog, event, bad_rows, every=every)
    arriving = prepared.arriving
    steps = arriving.steps(arriving.cuts(batch or sensible_batch(arriving.count)))
    unreadable = tuple(prepared.rejects.summary())
    batches = (messages for _, messages in steps)
    return _Fed(prepared.program, prepared.types, batches, prepared.warnings, unreadable, arriving)


def _run_catalog(
    catalog: Catalog, feed: _Fed, asked: list[ConsistencyLevel], providers: Iterable[str], timing: dict[str, Any]
) -> LiveCatalog | AsyncLiveCatalog:
    from cedr.hosts.running_catalog import RunningCatalog

    def levels(query: CompiledQuery) -> list[ConsistencyLevel]:
        return asked or [query.consistency or MIDDLE]

    running = RunningCatalog(catalog, feed.program, levels, feed.types, providers, **timing)
    running.unreadable = feed.unreadable
    if isinstance(feed.messages, AsyncIterable):
        return AsyncLiveCatalog(running, feed.messages)
    return LiveCatalog(running, feed.messages, feed.warnings)


def _one_by_one(host: str) -> HostError:
    primary = f'the queries of a catalog run together on the host {DEFAULT} only, not on "{host}"'
    return HostError(Diagnostic("unknown-host", primary, hint='run them one by one: event="…"'))


def _no_words(words: Mapping[str, Any]) -> None:
    """Words describe data that are there; of what comes one by one nobody knows when it ends."""
    for name in (name for name, value in words.items() if value is not None):
        primary = f"{name}= describes data that are there; what comes one by one is given as messages"
        message = '{"insert": {"type": "TX", "id": "1", "vs": "2026-01-01T00:00:00Z", "payload": {…}}}'
        hint = f"{message}; or give a list of rows"
        raise StreamError(Diagnostic("bad-word", primary, hint=hint))


def _items(messages: Any) -> Iterable[Any]:
    if isinstance(messages, MessageFile):
        return (message for _, message in messages.messages)
    return file_lines(messages) if isinstance(messages, str | PathLike) else messages


def _level(given: Level) -> ConsistencyLevel:
    return parse_level(given) if isinstance(given, str) else given
