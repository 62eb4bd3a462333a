"""Queries on tables that are written as text, for the definitions of Sections 4 and 6."""

from __future__ import annotations

from cedr.model.annotated import AnnotatedTable
from cedr.model.event import Event
from cedr.model.history import HistoryTable
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Guarantee
from cedr.plan.compile import compile_text
from cedr.semantics.evaluate import evaluate, latest
from cedr.testing.tables import events_table
from tests.semantics.stepping import engine, message


def rows(query: str, **streams: str) -> list[Event]:
    """The latest belief of a query on streams given as tables."""
    program = compile_text(query, EventTypes(open=True))
    plan = list(program.queries.values())[-1].plan
    return latest(evaluate(plan, {name: events_table(text, name) for name, text in streams.items()}))


def output(query: str, level: ConsistencyLevel, arrived: str) -> list[Change]:
    """What a query says about messages written as lines, one a step."""
    running = engine(query, level)
    lines = [line.strip() for line in arrived.strip().splitlines()]
    return [change for time, line in enumerate(lines, 1) for change in running.step([message(line)], time)]


def table(changes: list[Change]) -> HistoryTable:
    """The output as a history table; CEDR time counts the entries (R40)."""
    return HistoryTable.from_messages([c.message for c in changes if not isinstance(c.message, Guarantee)])


def annotated(changes: list[Change]) -> AnnotatedTable:
    """The output as an annotated history table."""
    return table(changes).annotated()
