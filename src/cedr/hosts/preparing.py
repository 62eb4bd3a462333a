"""From a query and sources of rows to a compiled query and the columns that it reads.

Readings: R20 (types), R37 (inferred types), R50 (units of time).  A query is compiled twice: to learn which
attributes it reads, and, once these are read and their types known, to be run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from os import PathLike

from cedr.data.arriving import Arriving
from cedr.data.loading import Loaded, Loading
from cedr.data.opening import LocalEvents
from cedr.data.rejected import Rejects
from cedr.data.results import Shape
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.event_types import declared_types, merged
from cedr.hosts.noticing import noticed
from cedr.hosts.queries import Parsed, catalog_of, choose
from cedr.hosts.units import check_units
from cedr.language.check import uses_of
from cedr.language.syntax import File, Query
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.time import FOREVER
from cedr.plan.analyses.reads import reads_of_all, types_read
from cedr.plan.compile import CompiledQuery, Program, compile_file
from cedr.plan.logical import Node


@dataclass
class Prepared:
    """A compiled query, and the rows that it is asked of."""

    program: Program
    query: CompiledQuery
    types: EventTypes
    _arriving: Arriving
    _load: Callable[[], Arriving]
    rejects: Rejects
    warnings: list[Diagnostic] = field(default_factory=list)

    @property
    def arriving(self) -> Arriving:
        """The rows; those that were handed over for good are read again."""
        if self._arriving.spent:
            self._arriving = self._load()
        return self._arriving

    @cached_property
    def shape(self) -> Shape:
        """What is known of the rows of the result."""
        primitive = frozenset(types_read(self.query.plan))
        timestamps = any(loaded.timestamps for loaded in self.arriving.sources)
        return Shape(self.query.name, self.query.output, primitive, timestamps)


def prepare(
    query: Parsed,
    given: LocalEvents,
    catalog: EventTypes | str | PathLike[str] | None,
    event: str | None,
    bad_rows: float,
    *,
    every: bool = False,
) -> Prepared:
    """Infer the types, compile the query, read what it needs.  Raises ``StreamError``, ``LanguageError``.

    With ``every`` what all the queries need is read.
    """
    texts = _Texts(query, catalog)
    loose = _loose(given, texts.types_named(), texts)
    program = texts.compiled(merged(loose, texts.declared))
    asked = list(program.queries.values()) if every else [choose(program, event)]
    needed = _needed([each.plan for each in asked], loose, texts.declared)

    def load() -> list[Loaded]:
        return [Loading(source, needed).load() for source in given.sources]

    loaded = load()
    rejects = Rejects([each for one in loaded for each in one.rejected])
    rejects.check(sum(one.count for one in loaded), bad_rows)
    types = merged(loose, _inferred(loaded, loose, texts.revisable), texts.declared)
    program = texts.compiled(types)
    chosen = choose(program, event)
    found = Prepared(program, chosen, types, Arriving(loaded), lambda: Arriving(load()), rejects)
    found.warnings += [*program.warnings, *(each for one in loaded for each in one.warnings)]
    for each in program.queries.values() if every else [chosen]:
        check_units(each, texts.file, found.arriving)
        found.warnings += noticed(each, found.arriving)
    return found


class _Texts:
    """A query as it was given, to be compiled against one catalog after the other."""

    def __init__(self, query: Parsed, catalog: EventTypes | str | PathLike[str] | None) -> None:
        self.declared = catalog_of(catalog)
        self.file: File | None = None
        self.revisable: dict[str, int] = {}
        """For how long events may be revised, of types whose attributes are those of their data."""
        self._program: Program | None = query if isinstance(query, Program) else None
        if isinstance(query, Program):
            self.declared = merged(self.declared, EventTypes({t.name: t for t in query.types if not t.open}))
            return
        self.file = query
        own = declared_types(self.file)
        self.declared = merged(self.declared, EventTypes({t.name: t for t in own if not t.open}))
        self.revisable = {t.name: t.revisable for t in own if t.open}

    def compiled(self, types: EventTypes) -> Program:
        """The program; one that was compiled before stays as it is."""
        if self._program is not None:
            return self._program
        assert self.file is not None
        return compile_file(self.file, types)

    def types_named(self) -> set[str]:
        """The event types that its queries read, but for those that are queries themselves."""
        if self._program is not None:
            return {name for each in self._program.queries.values() for name in types_read(each.plan)}
        assert self.file is not None
        queries = {each.name: each for each in self.file.statements if isinstance(each, Query)}
        return {name for each in queries.values() for name in uses_of(each)} - queries.keys()

    def mentioned(self) -> frozenset[str]:
        """All names in the text: a column of the header that is among them is an attribute too."""
        return frozenset() if self.file is None else frozenset(_names(self.file))


def _names(node: object) -> Iterator[str]:
    """Every text that a tree holds."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, tuple | list):
        for each in node:
            yield from _names(each)
    elif is_dataclass(node) and not isinstance(node, type):
        for each in fields(node):
            if each.name not in ("span", "source"):
                yield from _names(getattr(node, each.name))


def _loose(given: LocalEvents, named: set[str], texts: _Texts) -> EventTypes:
    """The types of the data, as far as they are known without reading it; attributes of CSV and JSON are ANY."""
    mentioned = texts.mentioned()
    found: dict[str, dict[str, DataType]] = {}
    fixed = {source: source.constant_type for source in given.sources}
    for source, constant in fixed.items():
        for name in [constant] if constant is not None else sorted(named):
            known = found.setdefault(name, {})
            for attribute, of in source.attributes(mentioned).items():
                known[attribute] = of if known.get(attribute, of) is of else DataType.ANY
    if not named & found.keys() and named:
        read, there = ", ".join(sorted(named)), ", ".join(sorted(found))
        primary = f"the query reads events of type {read}, and the data are of type {there}"
        hint = 'type="…" names the type of all rows, or the column that tells it'
        raise StreamError(Diagnostic("no-event-type", primary, hint=hint))
    missing = {name: EventType(name, open=True) for name in named - found.keys()}
    shapes = {name: shape for source in given.sources for name, shape in source.shapes().items()}
    types = {
        name: EventType(name, of, shapes={each: shape for each, shape in shapes.items() if each in of})
        for name, of in found.items()
    }
    return EventTypes({**types, **missing})


def _needed(plans: Iterable[Node], loose: EventTypes, declared: EventTypes) -> dict[str, Mapping[str, DataType]]:
    """The types that are read, each with the attributes that are needed of it; ANY where the type is to be inferred."""
    found: dict[str, Mapping[str, DataType]] = {}
    for name, attributes in reads_of_all(plans).items():
        told = declared.types.get(name)
        there = loose.types[name].attributes if name in loose.types else {}
        wanted = there if told is None else told.attributes
        read = {each: of for each, of in wanted.items() if attributes is None or each in attributes}
        if told is not None and not loose.types.get(name, told).open:
            _check_columns(name, read, there)
        found[name] = read
    return found


def _check_columns(name: str, read: Mapping[str, DataType], there: Mapping[str, DataType]) -> None:
    missing = [attribute for attribute in read if attribute not in there]
    if missing:
        detail = f"the columns are: {', '.join(there) or 'none'}"
        primary = f'there is no column for the attribute "{missing[0]}" of {name}'
        raise StreamError(Diagnostic("unknown-column", primary, detail=detail))


def _inferred(loaded: list[Loaded], loose: EventTypes, declared: Mapping[str, int]) -> EventTypes:
    """The types as the values have them; revisable where the data may hold revisions.  Reading: R37."""
    found: dict[str, EventType] = {}
    for one in loaded:
        revised = FOREVER if {"occurrence_start", "occurrence_end"} & one.clocks.keys() else 0
        for part in one.parts:
            name = part.type.name
            before = found.get(name, loose.types[name])
            attributes = {**before.attributes, **_together(before, part.type.attributes, first=name not in found)}
            allowed = declared.get(name, 0) or max(revised, before.revisable)
            found[name] = EventType(name, attributes, allowed, shapes={**before.shapes, **part.type.shapes})
    return EventTypes(found)


def _together(before: EventType, attributes: Mapping[str, DataType], *, first: bool) -> dict[str, DataType]:
    """Attributes of one type in several sources: where they differ they are ANY."""
    if first:
        return dict(attributes)
    return {name: of if before.attributes.get(name, of) is of else DataType.ANY for name, of in attributes.items()}
