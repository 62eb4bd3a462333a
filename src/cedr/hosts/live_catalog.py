"""``cedr.run`` of a catalog: its queries in one pipeline, and their coming and going while it runs.

Paper: Section 5, Figure 7.  Readings: R43 (each query at its own level), R44 (add, replace, remove).

    running = cedr.run(catalog, messages)
    for query, level, change in running: …
    running.add("EVENT New WHEN …")
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
from typing import TYPE_CHECKING, Any

from cedr.consistency.measures import Measures
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.hosts.catalog import Catalog, Part
from cedr.hosts.queries import parse_level
from cedr.hosts.receiving import Received, emitted, emitted_async
from cedr.model.event import Event
from cedr.model.level import ConsistencyLevel
from cedr.model.time import Time

if TYPE_CHECKING:
    from cedr.hosts.catalog_graph import CatalogGraph
    from cedr.hosts.running_catalog import QueryChange, RunningCatalog


class _RunningQueries(Received):
    """A catalog that runs: what can be asked of it and done to it between two messages."""

    def __init__(self, running: RunningCatalog, warnings: Iterable[Diagnostic] = ()) -> None:
        super().__init__(running, warnings)
        self._standing: RunningCatalog = running

    @property
    def catalog(self) -> Catalog:
        """The queries as they are now; a copy."""
        return self._standing.catalog.copy()

    @property
    def queries(self) -> list[str]:
        """The names of the queries that run."""
        return self._standing.names

    def levels(self, query: str) -> list[ConsistencyLevel]:
        """The levels of a query."""
        of, found = self._standing.outputs, self._standing.running.levels
        name = of[self._standing.place(query)].name.rpartition("/")[0]
        return [level for each, level in zip(of, found, strict=True) if each.name.rpartition("/")[0] == name]

    def guarantee(self, query: str, of: int = 0) -> Time:
        """g' of a query: up to this occurrence time what it emitted is final.  Reading: R36."""
        return self._standing.running.guarantee[self._standing.place(query, of)]

    def said(self, query: str, of: int = 0) -> list[Event]:
        """The rows that a query emitted and did not retract, as far as they are still held."""
        return self._standing.running.said(self._standing.place(query, of))

    def measures(self) -> dict[str, list[Measures]]:
        """What each query has cost so far, for each of its levels; those with one ``run`` share operators."""
        found: dict[str, list[Measures]] = {}
        for output, measures in zip(self._standing.outputs, self._standing.running.measures(), strict=True):
            found.setdefault(self._standing.query_of(output), []).append(measures)
        return found

    def graph(self) -> CatalogGraph:
        """What runs now as a graph: which operators there are, and which queries share them."""
        from cedr.hosts.catalog_graph import graph_of_pipeline

        return graph_of_pipeline(self._standing.running, list(map(self._standing.query_of, self._standing.outputs)))

    def switch(self, query: str, level: ConsistencyLevel | str, *, of: int = 0, at_sync_point: bool = False) -> None:
        """Go on with a query at another level.  Reading: R38."""
        chosen = parse_level(level) if isinstance(level, str) else level
        self._standing.running.switch(chosen, of=self._standing.place(query, of), at_sync_point=at_sync_point)

    # -- queries come and go ------------------------------------------------------------------------------------------

    def add(self, *parts: Part, retained: bool = False) -> dict[str, Time]:
        """Add queries, from the next batch on; the time t1 from which each emits rows.  Reading: R44.

        Their history is the messages that come from now on; with ``retained`` it is all that the pipeline still knows,
        and rows with Vs before t1 are not emitted: what bears on them may be forgotten.  Raises ``HostError`` where no
        such time exists, and ``LanguageError`` where the queries do not fit; then nothing has changed.
        """
        return self._standing.add(*parts, retained=retained)

    def replace(self, *parts: Part) -> dict[str, Time]:
        """Put queries in the place of those of the same names, from the next batch on; t1 of each.  Reading: R44.

        The rows from t1 on that the old one emitted and the new one means, too, stay as they are; the others are
        retracted and inserted with the next batch.  Older rows stay for good.  What reads a replaced query is replaced
        with it.
        """
        return self._standing.replace(*parts)

    def remove(self, *names: str, retracting: bool = False) -> None:
        """Remove queries: with the next batch the guarantee of everything is the last thing that they emit.

        With ``retracting`` what is not final is retracted first.  A query that others read goes only with them.
        Reading: R44.
        """
        self._standing.remove(*names, retracting=retracting)

    # -- state --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, bytes | None]:
        """What has changed of the state since the last call, in named segments; the catalog is one of them."""
        return self._standing.state()

    def restore(self, segments: dict[str, bytes]) -> None:
        """Go on where another run of the same catalog was, with the queries that it had then.

        Before the first message.
        """
        self._standing.restore(segments)


class LiveCatalog(_RunningQueries):
    """A running catalog: iterate over it for what its queries emit."""

    def __init__(self, running: RunningCatalog, messages: Iterable[Any], warnings: Iterable[Diagnostic] = ()) -> None:
        super().__init__(running, warnings)
        self._changes: Generator[QueryChange] = emitted(running, messages)

    def __iter__(self) -> Generator[QueryChange]:
        return self._changes

    def __next__(self) -> QueryChange:
        return next(self._changes)


class AsyncLiveCatalog(_RunningQueries):
    """A running catalog over an asynchronous source: iterate over it with ``async for``."""

    def __init__(self, running: RunningCatalog, messages: AsyncIterable[Any]) -> None:
        super().__init__(running)
        self._changes: AsyncGenerator[QueryChange] = emitted_async(running, messages)

    def __aiter__(self) -> AsyncGenerator[QueryChange]:
        return self._changes

    async def __anext__(self) -> QueryChange:
        return await anext(self._changes)
