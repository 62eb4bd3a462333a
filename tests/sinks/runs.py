"""Queries that run on drawn histories, with retractions and shortenings, and the change rows of each batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import strategies as st

from cedr.consistency.pipeline import Pipeline
from cedr.data.change_rows import change_rows
from cedr.data.results import Shape
from cedr.hosts.host import said_by
from cedr.language.parse import parse
from cedr.model.event import Event
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Guarantee, Message, Retract, insert
from cedr.model.time import FOREVER
from cedr.plan.analyses.reads import types_read
from cedr.plan.compile import CompiledQuery, compile_file
from cedr.sinks.contract import Output
from cedr.sinks.output import output_of
from cedr.testing import strategies as some
from tests.properties.standing import HISTORIES, LIVE, PLAIN, REVISABLE, REVISED, arriving


class Stepped(NamedTuple):
    """One batch: its number, its change rows, and the same as objects."""

    batch: int
    table: pa.Table
    changes: list[Change]


@dataclass(frozen=True)
class Run:
    """A query and the batches that it is given."""

    query: CompiledQuery
    types: EventTypes
    batches: list[list[Message]]

    @property
    def shape(self) -> Shape:
        return Shape(self.query.name, self.query.output, frozenset(types_read(self.query.plan)), timestamps=False)

    @property
    def output(self) -> Output:
        return output_of(self.query.plan, self.shape)

    def steps(self, level: Any) -> Iterator[Stepped]:
        running = Pipeline(self.query.plan, level, self.types)
        for number, batch in enumerate(self.batches, 1):
            (emitted,) = running.step(batch, number)
            rows, changes = emitted.to_arrow(), emitted.to_changes()
            yield Stepped(number, change_rows(number, number, rows, self.shape, guarantee=emitted.guarantee), changes)


def compiled(text: str, types: EventTypes) -> CompiledQuery:
    return list(compile_file(parse(text), types).queries.values())[-1]


def runs(*, revised: bool = True) -> st.SearchStrategy[Run]:
    """Patterns, the algebra, and each over the other; plain and revised histories, by all kinds of detours.

    The last batch says that nothing more comes.
    """
    types = REVISABLE if revised else PLAIN
    stories = st.one_of(arriving(HISTORIES), arriving(REVISED)) if revised else arriving(HISTORIES, revised=False)
    end: list[Message] = [Guarantee(FOREVER - 1)]
    return st.builds(
        lambda file, story: Run(list(compile_file(file, types).queries.values())[-1], types, [*story[1], end]),
        LIVE,
        stories,
    )


def believed(changes: list[Change]) -> list[Event]:
    """The latest belief after some changes.  Reading: R10."""
    rows = said_by(changes, FOREVER)
    return [row for row in rows if row.occurrence_end == FOREVER]


def _aggregate() -> Run:
    """A count per group whose rows are cut again and again, with an event that is withdrawn."""
    types = some.small_catalog("A", revisable=FOREVER)
    messages = []
    for number in range(40):
        event = Event("A", f"a{number}", number, number + 5, number, FOREVER, number, (), _payload(number))
        messages.append([insert(event)])
        if number % 7 == 3:
            messages.append([Retract(f"A/a{number - 2}@{number - 2}")])
        if number % 9 == 5:
            messages.append([Guarantee(number - 6)])
    messages.append([Guarantee(FOREVER - 1)])
    return Run(
        compiled("EVENT Counts FROM A GROUP BY A.k OUTPUT A.k, COUNT(*) AS n, SUM(A.v) AS total", types),
        types,
        messages,
    )


def _payload(number: int) -> Any:
    return {"k": number % 3, "v": number, "s": f"t{number}"}


RUNS = {"aggregate": _aggregate()}
