"""Every operator of the dataflow with a small plan: the conformance suite takes each through all clauses.

A new operator is tested by being listed here; ``test_every_operator_is_listed`` finds one that is not.
"""

from __future__ import annotations

from cedr.model.time import FOREVER
from cedr.plan import logical
from cedr.plan.compile import compile_text
from cedr.plan.logical import Node
from cedr.testing import strategies as some

PLAIN = some.small_catalog("A", "B", "C")
REVISABLE = some.small_catalog("A", "B", "C", revisable=FOREVER)

KEYED = "WHERE CorrelationKey(k, EQUAL)"
PATTERNS = {
    "SEQUENCE": f"SEQUENCE(A AS a, B AS b, 4) {KEYED}",
    "SEQUENCE of three": "SEQUENCE(A AS a, B AS b, C AS c, 5) WHERE {a.v <= c.v}",
    "SEQUENCE with choices": "SEQUENCE(FIRST A AS a, LAST B AS b, 4)",
    "SEQUENCE that consumes": "SEQUENCE(A AS a CONSUME, B AS b, 4)",
    "ATLEAST": "ATLEAST(2, A AS a, B AS b, C AS c, 4)",
    "ATLEAST with choices": "ATLEAST(2, LAST A AS a, B AS b, C AS c, 3)",
    "EXACTLY": "EXACTLY(2, A AS a, B AS b, C AS c, 3)",
    "EXACTLY one": f"EXACTLY(1, A AS a, B AS b, 3) {KEYED}",
    "EXACTLY with choices": "EXACTLY(2, FIRST A AS a, B AS b, C AS c, 3)",
    "ALL": f"ALL(A AS a, B AS b, 4) {KEYED}",
    "ANY": "ANY(A AS a, B AS b)",
    "ATMOST": "ATMOST(1, A AS a, B AS b, 3)",
    "UNLESS": f"UNLESS(A AS a, B AS b, 4) {KEYED}",
    "UNLESS over SEQUENCE": f"UNLESS(SEQUENCE(A AS a, B AS b, 4), C AS c, 3) {KEYED}",
    "UNLESS'": "UNLESS(SEQUENCE(A AS a, B AS b, 4), C AS c, 1, 5)",
    "NOT": "NOT(C AS c, SEQUENCE(A AS a, B AS b, 4))",
    "CANCEL-WHEN": "CANCEL-WHEN(SEQUENCE(A AS a, B AS b, 4), C AS c)",
    "UNLESS, disjoint": "UNLESS(A AS a, B AS b, 4) DISJOINT",
    "selection": "SEQUENCE(A AS a, B AS b, 4) WHERE {a.v = 1}",
    "slice": "SEQUENCE(A AS a, B AS b, 4) @ [1, 3] # [2, 4]",
    "projection": "SEQUENCE(A AS a, B AS b, 4) OUTPUT a.v + b.v AS total",
    "VALID WITH LAST": "SEQUENCE(A AS a, B AS b, 4) VALID WITH LAST",
    "VALID FOREVER": "UNLESS(A AS a, B AS b, 4) VALID FOREVER",
    "an open end is read": "UNLESS(A AS a, B AS b, 4) WHERE {a.Ve > b.Vs} OUTPUT a.Ve AS e",
}
"""By name: a pattern whose plan holds the operator."""

FROM = {
    "GROUP BY": "FROM A AS a GROUP BY a.k OUTPUT a.k AS k, COUNT(*) AS n, SUM(a.v) AS total",
    "GROUP BY over everything": "FROM A AS a OUTPUT MIN(a.v) AS least, COUNT(a.s) AS n, AVG(a.v) AS mean",
    "GROUP BY of distinct values": "FROM A AS a GROUP BY a.s OUTPUT a.s AS s, COUNT(DISTINCT a.v) AS n",
    "GROUP BY twice": "FROM (FROM A AS a GROUP BY a.k OUTPUT a.k AS k, COUNT(*) AS n) AS x GROUP BY x.n "
    "OUTPUT x.n AS n, COUNT(*) AS groups",
    "GROUP BY, an end is read": "FROM A AS a GROUP BY a.k OUTPUT a.k AS k, MAX(a.Ve) AS last",
    "EXCEPT": "FROM A EXCEPT B",
    "EXCEPT of projections": "FROM (FROM A AS a OUTPUT a.k AS k) AS x EXCEPT (FROM B AS b OUTPUT b.k AS k) AS y",
    "SESSION": "FROM A AS a WINDOW SESSION 3",
    "SESSION by key": "FROM A AS a WINDOW SESSION 2 GROUP BY a.k OUTPUT a.k AS k, COUNT(*) AS n",
    "COALESCED": "FROM A AS a WINDOW COALESCED",
    "COALESCED of projections": "FROM (FROM A AS a OUTPUT a.k AS k) AS x WINDOW COALESCED OUTPUT x.k AS k",
    "DISTINCT": "FROM A AS a OUTPUT DISTINCT a.k AS k, a.v AS v",
    "TOP": "FROM A AS a TOP 1 BY a.v",
    "TOP by group": "FROM A AS a GROUP BY a.k TOP 2 BY a.v DESC OUTPUT a.k AS k, a.v AS v",
    "UNION": "FROM A UNION B",
    "UNION of a query and a type": "FROM (FROM A AS a WHERE a.v = 1 OUTPUT a.k AS k, a.v AS v, a.s AS s) AS x UNION B",
    "UNION of a type with itself": "FROM A UNION A",
    "JOIN": "FROM A AS a JOIN B AS b ON a.k = b.k",
    "JOIN by values": "FROM A AS a JOIN B AS b ON a.v <= b.v AND a.s = b.s",
    "JOIN by a band": "FROM A AS a JOIN B AS b ON a.v BETWEEN b.v - 1 AND b.v",
    "LEFT JOIN by a bound": "FROM A AS a LEFT JOIN B AS b ON a.v < b.v AND a.k <> b.k",
    "JOIN of all": "FROM A AS a JOIN B AS b ON TRUE",
    "JOIN of a type with itself": "FROM A AS a JOIN A AS b ON a.k = b.k WHERE a.v = 1",
    "JOIN by ends": "FROM A AS a JOIN B AS b ON a.k = b.k AND a.Ve <= b.Ve",
    "JOIN where an end is read above": "FROM A AS a JOIN B AS b ON a.k = b.k OUTPUT a.Ve AS e",
    "LEFT JOIN": "FROM A AS a LEFT JOIN B AS b ON a.k = b.k",
    "LEFT JOIN of LEFT JOIN": "FROM A AS a LEFT JOIN B AS b ON a.k = b.k LEFT JOIN C AS c ON b.v = c.v",
    "ANTI JOIN": "FROM A AS a ANTI JOIN B AS b ON a.k = b.k AND a.v <= b.v",
    "JOIN of windows": "FROM (FROM A AS a WINDOW MOVING 2 OUTPUT a.k AS k) AS x JOIN B AS b ON x.k = b.k",
    "MOVING": "FROM A AS a WINDOW MOVING 3",
    "MOVING, nothing bound": "FROM (FROM A AS a OUTPUT a.k AS k) AS x WINDOW MOVING 3 OUTPUT x.k AS k",
    "HOPPING": "FROM A AS a WINDOW HOPPING 5 EVERY 2",
    "TUMBLING": "FROM A AS a WINDOW TUMBLING 3",
    "INSERTS": "FROM A AS a WINDOW INSERTS",
    "DELETES": "FROM A AS a WINDOW DELETES",
    "LIFETIME": "FROM A AS a WINDOW LIFETIME a.Vs - 2, a.v * 2",
    "LIFETIME by both ends": "FROM A AS a WINDOW LIFETIME a.Vs + 1, a.Ve - a.Vs - 2",
    "MOVING where an end is read above": "FROM A AS a WINDOW MOVING 3 OUTPUT a.Ve AS e",
}
"""By name: a query of the algebra."""


def plan_of(name: str, *, revisable: bool = False) -> Node:
    """The plan of a listed operator."""
    catalog = REVISABLE if revisable else PLAIN
    text = FROM[name] if name in FROM else f"WHEN {PATTERNS[name]}"
    plan: Node = compile_text(f"EVENT Q {text}", catalog).queries["Q"].plan
    return plan


def classes() -> set[type[Node]]:
    """The node classes that the listed plans hold."""
    return {type(node) for name in (*PATTERNS, *FROM) for node in logical.walk(plan_of(name))}


def all_classes() -> set[type[Node]]:
    """All node classes but the bases, and those that no query has: a proof's, and that of rows of another plan."""
    known = {kind for kind in vars(logical).values() if isinstance(kind, type) and issubclass(kind, Node)}
    return known - {Node, logical.Pattern, logical.SlidingCount, logical.Made}
