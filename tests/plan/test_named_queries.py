"""A query that others read by its name means what it means alone.  Readings: R22, R27, R32."""

from __future__ import annotations

from collections import Counter

from hypothesis import given

from cedr.language.syntax import File
from cedr.model.event import Event
from cedr.plan.compile import compile_file
from cedr.plan.logical import Query, walk
from cedr.semantics.evaluate import Oracle
from cedr.testing import strategies as some
from cedr.testing.histories import History, small_catalog

CATALOG = small_catalog("A", "B")


@given(some.compositions(CATALOG), some.histories(CATALOG, max_size=7))
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
