"""Beliefs, instant by instant: the bitemporal table of every operator against its unitemporal meaning at each instant.

Paper: Section 3.3.2 (the shredded canonical form), Section 6.  Readings: R9, R10, R28.  The believed versions are found
here anew, instant by instant, not by the runs of the oracle; each operator is then evaluated on plain tables of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cedr.model.event import Event, Payload
from cedr.model.schema import EventType
from cedr.model.time import FOREVER, Time
from cedr.plan import logical
from cedr.plan.logical import Node
from cedr.semantics.evaluate import evaluate
from cedr.testing.histories import History, revised_histories, small_catalog, tables_of
from tests.properties import plans
from tests.properties.plans import Drawn

CATALOG = small_catalog("A", "B", revisable=FOREVER)
HISTORIES = revised_histories(CATALOG, min_size=2, max_size=5, max_time=6)
INSTANTS = range(-3, 22)

KEEPS_OS = (logical.Select, logical.Project, logical.Union, logical.Rename, logical.SetValid, logical.Query)
"""R10: "selection, projection and union keep the input's Os"; a name and a lifetime change no belief either."""
NO_LINEAGE = (logical.AlterLifetime, logical.GroupBy, logical.Distinct, logical.Session, logical.Coalesce)
"""Rows whose Os waits for no contributor: they have none, or (AlterLifetime) are the event itself."""

Table = list[Event]


def believed(table: Table, instant: Time) -> Table:
    """R9: a version from its Os to its Oe, a first one with Os <= Vs from the beginning of time."""
    found = []
    for row in table:
        first = all(row.occurrence_start <= other.occurrence_start for other in table if other.id == row.id)
        always = first and row.occurrence_start <= row.valid_start
        if (always or row.occurrence_start <= instant) and instant < row.occurrence_end:
            found.append(row)
    return found


def stated(table: Table, instant: Time) -> Table:
    return [row for row in table if row.occurrence_start <= instant < row.occurrence_end]


def plain(row: Event) -> Event:
    return replace(row, occurrence_start=row.valid_start, occurrence_end=FOREVER)


def content(row: Event) -> Hashable:
    """All that a reader sees of a row but when it is believed."""
    bound = frozenset((name, part.reference, part.valid, part.payload) for name, part in row.bindings)
    lineage = tuple(c.reference for c in row.contributors)
    return row.id, row.valid, row.root_time, lineage, row.payload, bound


def expected(node: Node, inputs: list[Table], instant: Time) -> Counter[Hashable]:
    """R10: of the meaning at the instant, what has begun and whose contributors have been stated."""
    if isinstance(node, KEEPS_OS):
        return Counter(map(content, on_tables(node, [stated(table, instant) for table in inputs])))
    first = {row.reference: min(r.occurrence_start for r in t if r.id == row.id) for t in inputs for row in t}
    rows = on_tables(node, [[plain(row) for row in believed(table, instant)] for table in inputs])

    def begun(row: Event) -> bool:
        lineage = () if isinstance(node, NO_LINEAGE) else row.contributors
        return instant >= max([row.valid_start, *(first[c.reference] for c in lineage if c.reference in first)])

    return Counter(content(row) for row in rows if begun(row))


def on_tables(node: Node, inputs: list[Table]) -> Table:
    """A single operator on given tables."""
    names = [f"input {number}" for number in range(len(inputs))]
    leaves = [logical.Source(EventType(name)) for name in names]
    return evaluate(plans.with_inputs(node, leaves), dict(zip(names, inputs, strict=True)))


def check(plan: Node, history: History) -> None:
    tables = tables_of(history)
    for node in logical.walk(plan):
        if isinstance(node, logical.Source):
            continue
        inputs = [evaluate(part, tables) for part in logical.inputs(node)]
        rows = evaluate(node, tables)
        assert all(row.occurrence_start < row.occurrence_end for row in rows)
        for instant in INSTANTS:
            assert Counter(map(content, stated(rows, instant))) == expected(node, inputs, instant), (node, instant)


@given(plans.patterns(depth=1), HISTORIES)
def test_one_operator(drawn: Drawn, history: History) -> None:
    """Readings: R9, R10, R28."""
    check(drawn.node, history)


@given(plans.patterns(depth=2), HISTORIES)
def test_nested_operators_compose_through_their_tables(drawn: Drawn, history: History) -> None:
    """Readings: R9, R10, R28."""
    check(drawn.node, history)


@given(plans.relations(), HISTORIES)
def test_algebra(node: Node, history: History) -> None:
    """Readings: R9, R10, R29, R30, R31."""
    check(node, history)


@given(st.one_of(plans.patterns(depth=2).map(lambda drawn: drawn.node), plans.relations()), HISTORIES)
def test_rows_hold_over_maximal_runs(node: Node, history: History) -> None:
    """Reading: R10: what a projection does not show makes no new row; runs of one row do not meet."""
    rows = evaluate(logical.Query("Q", logical.Project(node, ()), EventType("Q")), tables_of(history))
    assert all(row.payload == Payload() for row in rows)
    ends = Counter((content(row), row.occurrence_end) for row in rows)
    starts = Counter((content(row), row.occurrence_start) for row in rows)
    assert not ends & starts
    assert max(ends.values(), default=1) == 1


def rows_by_identity(rows: Iterable[Event]) -> Counter[Hashable]:
    return Counter((row.id, row.occurrence_start) for row in rows)


@given(st.one_of(plans.patterns(depth=2).map(lambda drawn: drawn.node), plans.relations()), HISTORIES)
def test_versions_of_one_row_follow_each_other(node: Node, history: History) -> None:
    """Readings: R4, R8: no two rows of a table have one ID and one Os, and versions of one ID do not overlap."""
    rows = evaluate(node, tables_of(history))
    assert max(rows_by_identity(rows).values(), default=1) == 1
    for instant in INSTANTS:
        alive = Counter(row.id for row in stated(rows, instant))
        assert max(alive.values(), default=1) == 1
