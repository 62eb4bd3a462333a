"""A query that others read by its name means what it means alone.  Readings: R22, R27, R32."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from cedr.language.parse import parse
from cedr.language.syntax import File, TypeReference
from cedr.language.syntax import Query as SyntaxQuery
from cedr.model.event import Event
from cedr.model.modes import Selection
from cedr.plan.compile import compile_file
from cedr.plan.logical import Query, walk
from cedr.semantics.evaluate import Oracle
from cedr.testing import strategies as some
from cedr.testing.histories import History, small_catalog
from cedr.testing.patterns import pattern_bodies

CATALOG = small_catalog("A", "B")


READER = parse("EVENT R WHEN ANY(N AS x, B AS y) WHERE CorrelationKey(k, EQUAL)").statements[0]
"""It gives its keys to whoever takes them."""


@st.composite
def read_by_key(draw: st.DrawFn) -> File:
    """A named query that may count or choose across keys, and a reader that has a key."""
    family = draw(st.sampled_from(("SEQUENCE", "ALL", "ATMOST", "ANY")))
    body = draw(pattern_bodies(("A", "B"), depth=1, named=True, family=family))
    operator = body.pattern.expression
    if not isinstance(operator, TypeReference) and not any(
        p.selection is Selection.LAST for p in getattr(operator, "parameters", ())
    ):
        body = replace(body, pattern=replace(body.pattern, expression=replace(operator, disjoint=True)))
    return File((SyntaxQuery("N", body), READER))


@settings(max_examples=4 * settings.default.max_examples)
@given(st.one_of(some.compositions(CATALOG), read_by_key()), some.histories(CATALOG, min_size=3, max_size=7))
def test_whoever_reads_it(file: File, history: History) -> None:
    """Its rows do not depend on the WHERE of the reader."""
    queries = compile_file(file, CATALOG).queries
    *_, last = queries.values()
    streams: dict[str, list[Event]] = {name: [] for name in "AB"}
    for row in history:
        streams[row.stream].append(row)
    oracle = Oracle(streams)
    for node in walk(last.plan):
        if isinstance(node, Query):
            own = Counter(map(_shown, oracle.table(queries[node.name].plan)))
            assert Counter(map(_shown, oracle.table(node))) == own


def _shown(row: Event) -> tuple[object, ...]:
    return row.valid, row.occurrence, tuple(row.payload.items())
