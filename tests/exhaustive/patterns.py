"""The patterns that are tried on all small histories: every operator, mode and some nestings, with and without key."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cedr.model.schema import DataType, EventType, EventTypes
from cedr.plan.compile import compile_text
from cedr.plan.logical import Node

TYPES = "AB"
CATALOG = EventTypes({name: EventType(name, {"k": DataType.INTEGER, "v": DataType.INTEGER}) for name in TYPES})

KEY = "CorrelationKey(k, EQUAL)"


@dataclass(frozen=True)
class Case:
    """A pattern, and how many histories are kept apart that run side by side.

    By a key; by predicates in which no key can be seen; or not at all: then each history runs alone.
    """

    pattern: str
    where: str = ""

    @property
    def together(self) -> bool:
        return bool(self.where)

    @property
    def text(self) -> str:
        return f"EVENT Q WHEN {self.pattern}" + (f" WHERE {self.where}" if self.where else "")

    @cached_property
    def plan(self) -> Node:
        return compile_text(self.text, CATALOG).queries["Q"].plan

    def __str__(self) -> str:
        return self.text.removeprefix("EVENT Q WHEN ")


PAIRS = (
    "SEQUENCE(A x, B y, 2)",
    "SEQUENCE(A x, A y, 2)",
    "SEQUENCE(FIRST A x, B y, 2)",
    "SEQUENCE(LAST A x, B y, 2)",
    "SEQUENCE(A x, FIRST B y, 2)",
    "SEQUENCE(A x, LAST B y, 2)",
    "SEQUENCE(LAST A x, FIRST A y, 3)",
    "SEQUENCE(FIRST A x, FIRST B y, 3)",
    "SEQUENCE(FIRST A x CONSUME, B y CONSUME, 3)",
    "SEQUENCE(A x CONSUME, FIRST B y, 3)",
    "SEQUENCE(A x, A y CONSUME, 3)",
    "ALL(A x, B y, 2)",
    "ALL(A x, A y, 2)",
    "ALL(FIRST A x, B y, 2)",
    "ALL(A x, LAST B y, 2)",
    "ALL(A x CONSUME, B y CONSUME, 3)",
    "ATLEAST(2, A x, B y, 2)",
    "ATLEAST(2, FIRST A x CONSUME, A y, 2)",
    "EXACTLY(1, A x, B y, 2)",
    "EXACTLY(1, A x, A y, 2)",
    "EXACTLY(2, A x, B y, 2)",
    "UNLESS(A x, B y, 2)",
    "UNLESS(A x, A y, 3)",
    "UNLESS(A x, B y, 1, 2)",
)
"""Two variables x and y: a predicate keeps histories apart as well as a key does."""

TRIPLES = (
    "SEQUENCE(A x, B y, A z, 3)",
    "SEQUENCE(A x, LAST A y, FIRST B z, 3)",
    "SEQUENCE(FIRST A x CONSUME, A y, B z CONSUME, 3)",
    "ATLEAST(2, A x, B y, A z, 2)",
    "ATLEAST(2, FIRST A x, B y, A z, 2)",
    "ATLEAST(2, A x, LAST B y, LAST A z, 2)",
    "ATLEAST(2, A x CONSUME, B y, FIRST A z, 3)",
    "EXACTLY(1, A x, B y, A z, 2)",
    "EXACTLY(2, A x, B y, A z, 2)",
    "EXACTLY(2, FIRST A x, B y, A z, 2)",
    "EXACTLY(2, A x, LAST B y, LAST A z, 2)",
    "EXACTLY(2, A x CONSUME, B y, FIRST A z, 3)",
    "ALL(A x, B y, A z, 3)",
    "UNLESS(SEQUENCE(A x, B y, 2), A z, 2)",
    "UNLESS(SEQUENCE(A x, B y, 2), A z, 1, 2)",
    "UNLESS(SEQUENCE(A x, B y, 2), B z, 2, 2)",
    "UNLESS(SEQUENCE(A x, LAST B y, 2), A z, 2)",
    "UNLESS(A x, SEQUENCE(B y, A z, 2), 3)",
    "NOT(B z, SEQUENCE(A x, A y, 3))",
    "NOT(A z, SEQUENCE(A x, B y, 3))",
    "NOT(B z, SEQUENCE(LAST A x, FIRST A y, 3))",
    "NOT(B z, SEQUENCE(A x CONSUME, A y CONSUME, 3))",
    "CANCEL-WHEN(SEQUENCE(A x, A y, 3), B z)",
    "CANCEL-WHEN(SEQUENCE(A x, A y, 3), B z FROM ROOT)",
    "CANCEL-WHEN(SEQUENCE(FIRST A x CONSUME, A y, 3), B z)",
    "ALL(SEQUENCE(A x, B y, 2), A z, 3)",
)
"""Three variables x, y and z."""

KEYED = (
    "SEQUENCE(A x, B y, 2) DISJOINT",
    "SEQUENCE(A x, A y, 3) DISJOINT",
    "ALL(A x, B y, 2) DISJOINT",
    "ATLEAST(1, A x, B y, 2)",
    "ATLEAST(2, A x, B y, A z, 2) DISJOINT",
    "EXACTLY(1, A x, B y, 2) DISJOINT",
    "EXACTLY(2, A x, B y, A z, 2) DISJOINT",
    "EXACTLY(1, UNLESS(A x, B y, 2), A z, 2)",
    "UNLESS(EXACTLY(1, A x, B y, 2), A z, 2)",
    "ANY(A x, B y)",
    "ANY(A x, B y) DISJOINT",
    "ATMOST(1, A x, B y, 2)",
    "ATMOST(2, A x, B y WEIGHT 2, 3)",
    "ATMOST(1, A x, A y, 2)",
    "ATMOST(1, A x, B y, 2) DISJOINT",
    "UNLESS(A x, B y, 2) DISJOINT",
    "UNLESS(A x, B y, 1, 2) DISJOINT",
    "NOT(B z, SEQUENCE(A x, A y, 3)) DISJOINT",
    "CANCEL-WHEN(SEQUENCE(A x, A y, 3), B z) DISJOINT",
    "CANCEL-WHEN(UNLESS(A x, B y, 1, 2), A z)",
    "SEQUENCE(UNLESS(A x, B y, 2), A z, 3)",
    "UNLESS(A x, UNLESS(B y, A z, 1), 2)",
    "UNLESS(UNLESS(A x, B y, 2), A z, 3)",
    "SEQUENCE(A x, ANY(A y, B z), 2)",
    "ATMOST(1, SEQUENCE(A x, B y, 2), 3)",
    "ALL(ATMOST(1, A x, 2), B y, 2)",
    "NOT(SEQUENCE(A z, B u, 2), SEQUENCE(A x, B y, 3))",
    "CANCEL-WHEN(SEQUENCE(A x, B y, 3), UNLESS(A z, B u, 2))",
    "UNLESS(ATLEAST(2, A x, B y, A z, 2), B u, 2)",
)
"""Of these only a key keeps histories apart; or it is enough."""

ALONE = (
    "SEQUENCE(A x, B y, 2)",
    "SEQUENCE(A x, B y, 2) DISJOINT",
    "ATMOST(1, A x, B y, 2)",
    "UNLESS(A x, B y, 2) DISJOINT",
)
"""Over the whole stream: one history a run."""

TIED_PAIRS = tuple(
    pattern.replace(")", " WITH TIES)")
    for pattern in PAIRS
    if pattern.startswith(("SEQUENCE", "ALL", "ATLEAST", "EXACTLY"))
)
"""The same WITH TIES: their histories hold equal times."""

TIED_TRIPLES = (
    "SEQUENCE(A x, B y, A z, 3 WITH TIES)",
    "SEQUENCE(A x, A y, A z, 2 WITH TIES)",
    "SEQUENCE(A x, LAST A y, FIRST B z, 3 WITH TIES)",
    "SEQUENCE(FIRST A x, LAST B y, A z, 3 WITH TIES)",
    "SEQUENCE(A x, FIRST A y, LAST A z, 3 WITH TIES)",
    "SEQUENCE(FIRST A x CONSUME, A y, B z CONSUME, 3 WITH TIES)",
    "ATLEAST(2, A x, B y, A z, 2 WITH TIES)",
    "ATLEAST(2, FIRST A x, B y, A z, 2 WITH TIES)",
    "ATLEAST(2, A x, LAST B y, LAST A z, 2 WITH TIES)",
    "ATLEAST(2, A x CONSUME, B y, FIRST A z, 3 WITH TIES)",
    "EXACTLY(2, A x, B y, A z, 2 WITH TIES)",
    "EXACTLY(2, FIRST A x, B y, A z, 2 WITH TIES)",
    "ALL(A x, B y, A z, 3 WITH TIES)",
    "UNLESS(SEQUENCE(A x, B y, 2 WITH TIES), A z, 2)",
    "UNLESS(SEQUENCE(A x, A y, 2 WITH TIES), B z, 2)",
    "UNLESS(SEQUENCE(A x, B y, 2 WITH TIES), A z, 1, 2)",
    "UNLESS(ALL(A x, B y, 2 WITH TIES), B z, 2, 2)",
    "UNLESS(A x, SEQUENCE(B y, A z, 2 WITH TIES), 3)",
    "NOT(B z, SEQUENCE(A x, A y, 3 WITH TIES))",
    "NOT(A z, SEQUENCE(A x, B y, 3 WITH TIES))",
    "NOT(B z, SEQUENCE(LAST A x, FIRST A y, 3 WITH TIES))",
    "CANCEL-WHEN(SEQUENCE(A x, A y, 3 WITH TIES), B z)",
    "ALL(SEQUENCE(A x, B y, 2 WITH TIES), A z, 3)",
    "SEQUENCE(SEQUENCE(A x, B y, 2), A z, 3 WITH TIES)",
    "ALL(SEQUENCE(A x, B y, 2 WITH TIES), A z, 3 WITH TIES)",
)

TIED_KEYED = (
    "SEQUENCE(A x, B y, 2 WITH TIES) DISJOINT",
    "SEQUENCE(A x, A y, 3 WITH TIES) DISJOINT",
    "ALL(A x, B y, 2 WITH TIES) DISJOINT",
    "ATLEAST(1, A x, B y, 2 WITH TIES)",
    "ATLEAST(2, A x, B y, A z, 2 WITH TIES) DISJOINT",
    "NOT(B z, SEQUENCE(A x, A y, 3 WITH TIES)) DISJOINT",
    "UNLESS(ALL(A x, B y, 2 WITH TIES), A z, 2) DISJOINT",
    "SEQUENCE(UNLESS(A x, B y, 2), A z, 3 WITH TIES)",
    "SEQUENCE(ANY(A x, B y), A z, 2 WITH TIES)",
)

CASES = (
    *(Case(pattern, KEY) for pattern in (*PAIRS, *TRIPLES, *KEYED)),
    *(Case(pattern, "x.k - y.k = 0") for pattern in PAIRS),
    *(Case(pattern, "x.k - y.k = 0 AND x.k - z.k = 0 AND y.k - z.k = 0") for pattern in TRIPLES),
    *(Case(pattern) for pattern in ALONE),
    *(Case(pattern, KEY) for pattern in (*TIED_PAIRS, *TIED_TRIPLES, *TIED_KEYED)),
    *(Case(pattern, "x.k - y.k = 0") for pattern in TIED_PAIRS),
    *(Case(pattern, "x.k - y.k = 0 AND x.k - z.k = 0 AND y.k - z.k = 0") for pattern in TIED_TRIPLES),
    *(Case(pattern) for pattern in ("SEQUENCE(A x, A y, 2 WITH TIES)", "ALL(A x, B y, 2 WITH TIES) DISJOINT")),
)
