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


def plan_of(name: str, *, revisable: bool = False) -> Node:
    """The plan of a listed operator."""
    catalog = REVISABLE if revisable else PLAIN
    plan: Node = compile_text(f"EVENT Q WHEN {PATTERNS[name]}", catalog).queries["Q"].plan
    return plan


def classes() -> set[type[Node]]:
    """The node classes that the listed plans hold."""
    return {type(node) for name in PATTERNS for node in logical.walk(plan_of(name))}
