"""The queries of a catalog as one standing query: outputs by name, and what of them is in the state.

Readings: R43 (each query at its own level), R44 (queries come and go between two steps).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

from cedr.consistency.emitter import Output
from cedr.consistency.encoding import as_bytes, from_bytes, level_as_json, level_from_json
from cedr.consistency.pipeline import Pipeline
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.catalog import Catalog, Part
from cedr.hosts.event_types import merged
from cedr.hosts.standing import Standing
from cedr.language.render import render
from cedr.language.syntax import File, Statement
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Message
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.compile import CompiledQuery, Program, compile_file
from cedr.runtime.dataflow.build import AT_FIRST, Birth

if TYPE_CHECKING:
    from cedr.consistency.batch import EventBatch

_SEGMENT = "cedr.catalog"
"""The segment of the state that is ours: the texts, and when each query began."""
VERSION = 1


class QueryChange(NamedTuple):
    """What a query of a catalog emitted at one of its levels."""

    query: str
    level: ConsistencyLevel
    change: Change


Levels = Callable[[CompiledQuery], Sequence[ConsistencyLevel]]
"""The levels of a query."""


class RunningCatalog(Standing):
    """The queries of a catalog in one pipeline, fed message by message."""

    running: Pipeline

    def __init__(
        self,
        catalog: Catalog,
        program: Program,
        levels: Levels,
        types: EventTypes,
        providers: Iterable[str],
        **words: Any,
    ) -> None:
        self.catalog, self.types = catalog.copy(), types
        self._given, self._level, self._providers = catalog.to_text(), levels, tuple(providers)
        self._leaving: dict[str, Statement] = {}
        """Queries that leave with the next batch."""
        self.outputs = [each for query in program.queries.values() for each in self._of(query)]
        super().__init__(self._started(), types, labelled=True, **words)

    def _of(self, query: CompiledQuery, birth: Birth = AT_FIRST, start: Time = BEGINNING) -> list[Output]:
        """An output for each level of a query."""
        levels = self._level(query)
        return [Output(_name(query.name, of), query.plan, level, birth, start) for of, level in enumerate(levels)]

    def _started(self) -> Pipeline:
        return Pipeline(self.outputs, (), self.types, self._providers)

    def place(self, query: str, of: int = 0) -> int:
        """The place of an output among all.  Raises ``HostError``."""
        names = [output.name for output in self.outputs]
        if _name(query, of) not in names:
            detail = f"queries: {', '.join(self.names) or 'none'}"
            raise HostError(Diagnostic("unknown-query", f'no query "{query}" runs here', detail=detail))
        return names.index(_name(query, of))

    @staticmethod
    def query_of(output: Output) -> str:
        """The query of an output."""
        return _query(output.name)

    @property
    def names(self) -> list[str]:
        """The queries that run."""
        return list(dict.fromkeys(_query(output.name) for output in self.outputs))

    def _told(self, batch: Sequence[Message | EventBatch]) -> Sequence[QueryChange]:
        outputs = self.outputs
        self.outputs = [each for each in outputs if _query(each.name) not in self._leaving]
        self._leaving.clear()
        return [
            QueryChange(_query(output.name), each.level, change)
            for output, each in zip(outputs, self.running.step(batch, self.cedr_time), strict=True)
            if len(each)
            for change in each.to_changes()
        ]

    # -- queries come and go ------------------------------------------------------------------------------------------

    def add(self, *parts: Part, retained: bool) -> dict[str, Time]:
        """Add queries; since when each emits rows.  Reading: R44."""
        changed = self.catalog.copy()
        names = changed.add(*parts)
        still = [name for name in names if name in self._leaving]
        if still:
            primary = f'query "{still[0]}" leaves with the next batch, and cannot come again before that'
            hint = "replace it instead of removing and adding it"
            raise HostError(Diagnostic("query-in-use", primary, hint=hint))
        program = self._compiled(changed)
        starts = {name: self._start(program.queries[name], retained=retained) for name in names}
        self._take(changed)
        birth = self.running.birth(retained=retained)
        added = [each for name in names for each in self._of(program.queries[name], birth, starts[name])]
        self.outputs += added
        self.running.add(added)
        return starts

    def replace(self, *parts: Part) -> dict[str, Time]:
        """Put queries in the place of those of the same names; since when each is what it is now.  Reading: R44."""
        changed = self.catalog.copy()
        replaced = changed.replace(*parts)
        program = self._compiled(changed)
        names = [name for name in changed.order if name in replaced or self._reads_any(changed, name, replaced)]
        names = [name for name in names if name in self.names]
        starts = {}
        for name in names:
            old = [output.name for output in self.outputs if _query(output.name) == name]
            final = max(self.running.final_up_to(each) for each in old)
            starts[name] = max(self._start(program.queries[name], retained=True), plus(final, 1))
        self._take(changed)
        birth = self.running.birth(retained=True)
        come = {each.name: each for name in names for each in self._of(program.queries[name], birth, starts[name])}
        self.outputs = [come.get(output.name, output) for output in self.outputs]
        self.running.replace([come[output.name] for output in self.outputs if output.name in come])
        return starts

    def remove(self, *names: str, retracting: bool) -> None:
        """Remove queries: they leave with the next batch.  Reading: R44."""
        changed = self.catalog.copy()
        changed.remove(*names)
        self._leaving |= {name: self.catalog.statement(name) for name in names if name in self.names}
        self._take(changed)
        outputs = [output.name for output in self.outputs if _query(output.name) in names]
        self.running.remove(outputs, retracting=retracting)

    def _reads_any(self, catalog: Catalog, name: str, others: Iterable[str]) -> bool:
        """Whether a query reads one of some others, directly or not."""
        below = catalog.reads(name)
        return any(each in others or self._reads_any(catalog, each, others) for each in below)

    def _start(self, query: CompiledQuery, *, retained: bool) -> Time:
        start = self.running.known_since(query.plan) if retained else BEGINNING
        if start == FOREVER:
            primary = f'query "{query.name}" would need events that are forgotten, however late it begins'
            hint = "let it begin with what comes from now on: retained=False"
            raise HostError(Diagnostic("history-is-gone", primary, hint=hint))
        return start

    def _compiled(self, catalog: Catalog) -> Program:
        known = merged(self.types, catalog.types)
        return compile_file(catalog.to_file(), EventTypes(known.types, open=self.types.open))

    def _take(self, catalog: Catalog) -> None:
        """Take over a catalog that fits: nothing has changed before."""
        self.catalog = catalog
        for event_type in catalog.types:
            self.types.types.setdefault(event_type.name, event_type)
        self.feed.learn(self.types)

    # -- state --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, bytes | None]:
        """The segments of the queries, and our own: the texts, and when each query began."""
        outputs = [[each.name, level_as_json(each.level), *each.birth, each.start] for each in self.outputs]
        text = render(File((*self.catalog.to_file().statements, *self._leaving.values())))
        own = {"version": VERSION, "given": self._given, "text": text, "outputs": outputs}
        return {**super().state(), _SEGMENT: as_bytes({**own, "leaving": list(self._leaving)})}

    def _restore(self, segments: Mapping[str, bytes]) -> None:
        """Go on with the queries that ran, also where they are no longer those that were given."""
        if _SEGMENT not in segments:
            raise HostError(Diagnostic("checkpoint-changed", "the state is not that of a catalog"))
        own = from_bytes(segments[_SEGMENT])
        if own["version"] != VERSION:
            primary = f"the catalog in the state has version {own['version']}, this program reads version {VERSION}"
            raise HostError(Diagnostic("unknown-state-version", primary))
        if self._given not in (own["given"], own["text"]):
            primary = "the state is that of another catalog"
            hint = "go on with the catalog that it was, and change that while it runs: add, replace, remove"
            raise HostError(Diagnostic("checkpoint-changed", primary, hint=hint))
        self._given, self.catalog = own["given"], Catalog(own["text"]) if own["text"].strip() else Catalog()
        program = self._compiled(self.catalog)
        self._take(self.catalog)
        self.outputs = [
            Output(name, program.queries[_query(name)].plan, level_from_json(level), Birth(*birth), start)
            for name, level, *birth, start in own["outputs"]
        ]
        self._leaving = {name: self.catalog.statement(name) for name in own["leaving"]}
        self.catalog.remove(*self._leaving)
        self.running = self._started()
        super()._restore({name: kept for name, kept in segments.items() if name != _SEGMENT})


def _name(query: str, of: int) -> str:
    """The name of an output in the state."""
    return f"{quote(query, safe='')}/{of}"


def _query(name: str) -> str:
    """The query of an output."""
    return unquote(name.rpartition("/")[0])
