"""From the sources and queries of a job to event types, compiled queries, and what is read of each source.

Readings: R20, R37 (types inferred from data), R50.  Types that are not declared are those of the first rows that a
source has.  They are noted in the checkpoint: a later run, and rows that come later, have the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from cedr.connect.files import unreadable
from cedr.data.frames import Frame
from cedr.data.opening import LocalEvents
from cedr.data.origins import Origin, Raw
from cedr.data.sources import Source
from cedr.data.values import ARROW
from cedr.data.words import Words, constant
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.event_types import declared_types, merged
from cedr.hosts.preparing import prepare
from cedr.jobs.file.description import JobFile
from cedr.language.check import uses_of
from cedr.language.syntax import Query
from cedr.model.schema import DataType, EventType, EventTypes, Shape
from cedr.plan.analyses.reads import reads_of, types_read
from cedr.plan.compile import CompiledQuery, Program, compile_file

_NOT_YET: Final = ("no-messages", "later-than-disorder")
"""What is no news of a part of the rows."""
_ROWS: Final = 20_000
"""So many of the first rows tell the types of columns."""

Needed = Mapping[str, Mapping[str, DataType]]


@dataclass(frozen=True, slots=True)
class Compiled:
    """The queries that run, the event types, and what is needed of each type."""

    program: Program
    queries: tuple[CompiledQuery, ...]
    types: EventTypes
    needed: Needed
    timestamps: bool
    columns: Mapping[str, Sequence[str]]
    """The columns of each source, as they were at first."""
    warnings: tuple[Diagnostic, ...] = ()

    def facts(self) -> dict[str, Any]:
        """What is noted in the checkpoint."""
        kinds = {
            event_type.name: {
                "attributes": {name: of.name for name, of in event_type.attributes.items()},
                "revisable": event_type.revisable,
                "shapes": {name: _shape_as_data(shape) for name, shape in event_type.shapes.items()},
            }
            for event_type in self.types
        }
        return {"types": kinds, "timestamps": self.timestamps, "columns": dict(self.columns)}


class Sample:
    """The first rows of an origin, read once, for several who look at them."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._raw: Raw | None = None

    @property
    def name(self) -> str:
        """That of the origin."""
        return self._origin.name

    def names(self) -> list[str]:
        """Its columns."""
        return self._origin.names()

    def types(self) -> dict[str, pa.DataType]:
        """Their types, as far as they are known."""
        return self._origin.types()

    def read(self, columns: Sequence[str]) -> Raw:
        """Some columns of the first rows."""
        if self._raw is None:
            whole = self._origin.read(self._origin.names())
            table = whole.table.slice(0, _ROWS)
            dropped = tuple(row for row in whole.dropped if row < _ROWS)
            self._raw = Raw(table, whole.places, list(whole.rejected), whole.warnings, whole.untyped, dropped)
        raw = self._raw
        asked = raw.table.select([name for name in columns if name in raw.table.column_names])
        return replace(raw, table=asked, rejected=list(raw.rejected))


def run_functions(paths: Iterable[Path]) -> None:
    """Run the Python files that declare functions of one's own.  Raises ``StreamError`` where one cannot be run."""
    for path in paths:
        spec = spec_from_file_location(f"cedr_job_{path.stem}", path)
        if spec is None or spec.loader is None or not path.exists():
            raise StreamError(unreadable(str(path), "the functions", FileNotFoundError()))
        try:
            spec.loader.exec_module(module_from_spec(spec))
        except Exception as error:
            primary = f'"{path}" raised {type(error).__name__}: {error}'
            raise StreamError(Diagnostic("broken-functions", primary, hint="run it with python to see more")) from None


def running_names(job: JobFile) -> list[str]:
    """The queries that run: those that are named, or all that no other one reads."""
    if job.running:
        return list(job.running)
    outputs = [name for output in job.outputs for name in output.queries]
    queries = [each for each in job.queries.statements if isinstance(each, Query)]
    read = {name for each in queries for name in uses_of(each)}
    return [each.name for each in queries if each.name not in read or each.name in outputs]


def undeclared(job: JobFile) -> set[str]:
    """The event types that queries read and whose attributes nothing tells but the data."""
    declared = {event_type.name for event_type in declared_types(job.queries) if not event_type.open}
    queries = {each.name: each for each in job.queries.statements if isinstance(each, Query)}
    return {name for each in queries.values() for name in uses_of(each)} - queries.keys() - declared


def compiled(job: JobFile, samples: Mapping[str, tuple[Origin | None, Words]]) -> Compiled:
    """Compile the queries of a job; ``samples``: the first rows of each source, None where nothing is there yet.

    Raises ``LanguageError``, ``StreamError``.
    """
    declared = declared_types(job.queries)
    looked = {name: None if origin is None else Sample(origin) for name, (origin, _) in samples.items()}
    sources = [Source(looked[name] or _empty(name, words, declared), words) for name, (_, words) in samples.items()]
    given = LocalEvents(tuple(sources))
    found: dict[str, EventType] = {}
    warnings: dict[str, Diagnostic] = {}
    timestamps: bool | None = None
    for name in running_names(job):
        prepared = prepare(job.queries, given, None, name, 1.0)  # each file is checked when it is read
        for read in types_read(prepared.query.plan):
            found[read] = _joined(found.get(read), prepared.types.types[read])
        kinds = [loaded.timestamps for loaded in prepared.arriving.sources if len(loaded.times)]
        timestamps = kinds[0] if kinds else timestamps
        for each in prepared.warnings:
            if each.code not in _NOT_YET:
                warnings.setdefault(each.primary, each)
    if timestamps is None:
        timestamps = all(words.time_unit != "ticks" for _, words in samples.values())
    columns = {name: origin.names() for name, origin in looked.items() if origin is not None}
    return _with_types(
        job, EventTypes(found), timestamps=timestamps, columns=columns, warnings=tuple(warnings.values())
    )


def compiled_again(job: JobFile, facts: Mapping[str, Any]) -> Compiled:
    """Compile the queries of a job with the types that its checkpoint has noted."""
    types = {
        name: EventType(
            name,
            {each: DataType[of] for each, of in kept["attributes"].items()},
            kept["revisable"],
            shapes={each: _shape_of_data(of) for each, of in kept["shapes"].items()},
        )
        for name, kept in facts["types"].items()
    }
    return _with_types(job, EventTypes(types), timestamps=facts["timestamps"], columns=facts["columns"], warnings=())


def _with_types(
    job: JobFile,
    types: EventTypes,
    *,
    timestamps: bool,
    columns: Mapping[str, Sequence[str]],
    warnings: tuple[Diagnostic, ...],
) -> Compiled:
    own = EventTypes({t.name: t for t in declared_types(job.queries) if not t.open})
    known = merged(types, own)
    program = compile_file(job.queries, known)
    queries = tuple(program.queries[name] for name in running_names(job))
    return Compiled(program, queries, known, _needed(queries, known), timestamps, columns, warnings)


def _needed(queries: Iterable[CompiledQuery], types: EventTypes) -> dict[str, dict[str, DataType]]:
    """The attributes that the queries together need of each type."""
    found: dict[str, dict[str, DataType]] = {}
    for query in queries:
        for name, attributes in reads_of(query.plan).items():
            of = types.types[name].attributes if name in types.types else {}
            own = found.setdefault(name, {})
            own.update({each: kind for each, kind in of.items() if attributes is None or each in attributes})
    return found


def _joined(before: EventType | None, found: EventType) -> EventType:
    """One type as two queries know it: attributes that one of them did not need are ANY there."""
    if before is None:
        return found
    attributes = dict(found.attributes)
    for name, of in before.attributes.items():
        if attributes.get(name, DataType.ANY) is DataType.ANY:
            attributes[name] = of
    return replace(found, attributes=attributes)


def _empty(name: str, words: Words, declared: EventTypes) -> Frame:
    """A source without rows, with the columns that its types and words name."""
    attributes: dict[str, Any] = {}
    told = words.type if words.type is None else constant(words.type) or words.type
    types = [each for each in declared if each.name == told] or list(declared)
    for event_type in types:
        for attribute, of in event_type.attributes.items():
            attributes.setdefault(attribute, pa.array([], ARROW.get(of, pa.string())))
    for column in words.columns().values():
        attributes.setdefault(column, pa.array([], pa.string()))
    if words.type is not None and constant(words.type) is None and words.type not in declared.types:
        attributes.setdefault(words.type, pa.array([], pa.string()))
    return Frame(pa.table(attributes), name)


def _shape_as_data(shape: Shape) -> list[Any]:
    fields = None if shape.fields is None else {name: _shape_as_data(of) for name, of in shape.fields.items()}
    return [shape.type.name, fields, None if shape.element is None else _shape_as_data(shape.element)]


def _shape_of_data(data: Sequence[Any]) -> Shape:
    of, fields, element = data
    known = None if fields is None else {name: _shape_of_data(each) for name, each in fields.items()}
    return Shape(DataType[of], known, None if element is None else _shape_of_data(element))


def nothing_yet(job: JobFile, missing: Iterable[str], there: Iterable[str]) -> StreamError:
    """The error where nothing tells the attributes of a type."""
    names = ", ".join(sorted(missing))
    primary = f"nothing tells the attributes of {names}: the sources have no rows yet"
    hint = f'declare them: [types.{next(iter(sorted(missing)))}] attributes = {{ card = "STRING" }}'
    detail = f"sources without rows: {', '.join(there)}; job: {job.name}"
    return StreamError(Diagnostic("no-data", primary, detail=detail, hint=hint))
