"""The algebra does not see how changes of state are packaged; AlterLifetime does.

Paper: Definitions 10 and 11, Section 6.  Reading: R29.  An output that is a relation must have an identical star.
Where it is a bag (a projection or a union may make duplicates) the definition "could be crafted to handle bag
semantics": as many of each payload alive at each instant.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from cedr.model.event import Event, Payload
from cedr.model.history import HistoryTable
from cedr.model.modes import JoinKind
from cedr.plan import logical
from cedr.plan.logical import Column, Node
from cedr.plan.windows import altered
from cedr.semantics.evaluate import evaluate
from cedr.testing.difference import assert_same_table
from tests.properties import plans
from tests.properties.plans import COLUMNS, COUNT, INTEGER, aggregate_of, attribute, equal, integer, leaf, source
from tests.properties.relations import one_lifetime_twice, packaged_twice

INSTANTS = range(-1, 12)
Packaged = tuple[list[Event], list[Event]]


def star(node: Node, rows: list[Event], others: list[Event]) -> HistoryTable:
    """*(O(R))."""
    return HistoryTable.from_events(evaluate(node, {"A": rows, "B": others})).coalesced()


def state(table: HistoryTable, instant: int) -> Counter[Payload | None]:
    return Counter(row.payload for row in table if row.valid.holds(instant))


def is_relation(table: HistoryTable) -> bool:
    return all(max(state(table, instant).values(), default=1) == 1 for instant in INSTANTS)


def both() -> Node:
    """The join of A and B on k, as a relation."""
    joined = logical.Join(leaf("A", "x"), leaf("B", "y"), equal("x", "y"), place="/JOIN")
    columns = (*COLUMNS, *(Column(f"y{c.name}", attribute("y", c.name), c.type) for c in COLUMNS))
    return logical.Project(joined, columns)


def left_join(kind: JoinKind) -> Node:
    joined = logical.Join(leaf("A", "x"), leaf("B", "y"), equal("x", "y"), kind, place="/JOIN")
    return logical.Project(joined, (*COLUMNS, Column("yv", attribute("y", "v"), INTEGER)))


def projected(node: Node) -> Node:
    return logical.Project(node, COLUMNS)


OPERATORS: dict[str, Node] = {
    "projection": logical.Project(leaf("A", "x"), COLUMNS[:2]),
    "renaming": logical.Project(leaf("A", "x"), tuple(Column(c.name * 2, c.expression, c.type) for c in COLUMNS)),
    "selection": logical.Select(source("A"), plans.Binary(">", attribute("", "v"), integer(0))),
    "join": both(),
    "left join": left_join(JoinKind.LEFT),
    "anti join": left_join(JoinKind.ANTI),
    "union": logical.Union(source("A"), source("B"), place="/UNION"),
    "difference": logical.Difference(source("A"), source("B"), place="/EXCEPT"),
    "distinct": logical.Distinct(logical.Project(leaf("A", "x"), COLUMNS[:1]), place="/DISTINCT"),
    "count": logical.GroupBy(leaf("A", "x"), COLUMNS[:1], (COUNT,), place="/GROUP"),
    "max": logical.GroupBy(leaf("A", "x"), (), (aggregate_of("MAX", "v"),), place="/GROUP"),
    "sum": logical.GroupBy(leaf("A", "x"), COLUMNS[2:], (aggregate_of("SUM", "v"),), place="/GROUP"),
    "median": logical.GroupBy(leaf("A", "x"), COLUMNS[:1], (aggregate_of("MEDIAN", "v"),), place="/GROUP"),
    "top": projected(logical.Top(leaf("A", "x"), (), 2, attribute("x", "v"), place="/TOP")),
    "top by group": projected(logical.Top(leaf("A", "x"), (attribute("x", "k"),), 1, attribute("x", "v"), True)),
    "coalesce": logical.Coalesce(source("A"), place="/COALESCED"),
}


@pytest.mark.parametrize("name", OPERATORS)
@given(left=packaged_twice("A"), right=packaged_twice("B"))
@settings(max_examples=max(5, settings.default.max_examples // 4))
def test_the_algebra_is_view_update_compliant(name: str, left: Packaged, right: Packaged) -> None:
    """Paper: Definition 11, generalized to several inputs.  Reading: R29."""
    one, other = (star(OPERATORS[name], a, b) for a, b in zip(left, right, strict=True))
    assert all(state(one, instant) == state(other, instant) for instant in INSTANTS)
    if is_relation(one):
        assert_same_table(one, other)


WINDOWS = {
    "moving": altered(source("A"), "MOVING", 1),
    "hopping": altered(source("A"), "HOPPING", 3, 2),
    "tumbling": altered(source("A"), "TUMBLING", 2, 2),
    "inserts": altered(source("A"), "INSERTS"),
    "deletes": altered(source("A"), "DELETES"),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_alter_lifetime_is_not(name: str) -> None:
    """Paper: Definition 11: "windows, and the separation of inserts and deletes, are not view update compliant"."""

    def differs(packaged: Packaged) -> bool:
        one, other = (star(WINDOWS[name], rows, []) for rows in packaged)
        return any(state(one, instant) != state(other, instant) for instant in INSTANTS)

    found = find(one_lifetime_twice(), differs, settings=settings(max_examples=300, derandomize=True, database=None))
    assert differs(found)
    assert sorted(map(len, found)) == [1, 2]  # one lifetime, whole and chopped: nothing smaller can differ


@given(packaged_twice("A"))
def test_packagings_have_one_star(packaged: Packaged) -> None:
    """Paper: Definition 10: what is chopped coalesces to what it was; the counterexamples above are none of R and S."""
    one, other = (HistoryTable.from_events(rows).coalesced() for rows in packaged)
    assert_same_table(one, other)


@given(packaged_twice("A"), st.integers(1, 4))
def test_a_window_after_the_star_is_compliant(packaged: Packaged, length: int) -> None:
    """Paper: Definition 11: what AlterLifetime sees after ``COALESCED`` no longer depends on the packaging."""
    node = altered(logical.Coalesce(source("A"), place="/COALESCED"), "MOVING", length)
    assert_same_table(*(star(node, rows, []) for rows in packaged))
