"""From the text of a query to its plan: parse, check, lower."""

from __future__ import annotations

from dataclasses import dataclass

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.language.check import CheckedFile, CheckedQuery, check
from cedr.language.parse import parse
from cedr.language.syntax import File
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventType, EventTypes
from cedr.model.time import Time
from cedr.plan import logical
from cedr.plan.lower import Lowering


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A query that can be evaluated: its plan, what it gives, and what its text asks for."""

    name: str
    plan: logical.Query
    output: EventType
    consistency: ConsistencyLevel | None = None
    bitemporal: bool = False
    as_of: Time | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """All queries of a text, in its order, with the event types they are checked against."""

    queries: dict[str, CompiledQuery]
    types: EventTypes
    warnings: tuple[Diagnostic, ...] = ()


def compile_text(text: str, catalog: EventTypes | None = None, name: str = "<query>") -> Program:
    """Compile the text of a file.  Raises ``LanguageError`` with everything that is wrong."""
    return compile_file(parse(text, name), catalog)


def compile_file(file: File, catalog: EventTypes | None = None) -> Program:
    """Compile a tree, of the parser or of the Python builder."""
    checked = check(file, catalog)
    return Program(_compiled(checked), checked.types, checked.warnings)


def _compiled(checked: CheckedFile) -> dict[str, CompiledQuery]:
    lowering = Lowering(checked)
    return {q.query.name: _query(q, lowering.query(q.query.name)) for q in checked.queries}


def _query(checked: CheckedQuery, plan: logical.Query) -> CompiledQuery:
    query = checked.query
    return CompiledQuery(
        query.name,
        plan,
        checked.output,
        query.consistency,
        bitemporal=query.occurrence_slice is not None,
        as_of=query.as_of,
    )
