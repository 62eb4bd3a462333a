"""The operators of the algebra that are tried on all small histories: each alone, and a few nestings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cedr.model.schema import DataType, EventType, EventTypes
from cedr.plan.compile import compile_text
from cedr.plan.logical import Node

CATALOG = EventTypes({name: EventType(name, {"k": DataType.INTEGER, "v": DataType.INTEGER}) for name in "AB"})


@dataclass(frozen=True)
class Relation:
    """A FROM query.  Those with a key keep the histories that run side by side apart by the attribute k."""

    query: str

    @property
    def types(self) -> str:
        """The input types that the query reads."""
        return "AB" if "B AS b" in self.query else "A"

    @property
    def together(self) -> bool:
        """Whether histories can run side by side: what tells them apart is part of each row that leaves."""
        return ".k AS k" in self.query

    @property
    def text(self) -> str:
        return f"EVENT Q {self.query}"

    @cached_property
    def plan(self) -> Node:
        return compile_text(self.text, CATALOG).queries["Q"].plan

    def __str__(self) -> str:
        return self.query


ROW = "OUTPUT a.k AS k, a.v AS v"
GROUP = "GROUP BY a.k OUTPUT a.k AS k"
PAIR = "OUTPUT a.k AS k, a.v AS v, b.v AS w"

WINDOWS = (
    "MOVING 2",
    "TUMBLING 2",
    "HOPPING 2 EVERY 1",
    "HOPPING 1 EVERY 2",
    "HOPPING 3 EVERY 2",
    "LIFETIME a.Ve, 2",
    "LIFETIME a.Vs - 1, a.Ve - a.Vs",
    "LIFETIME a.Vs + a.v, 1",
    "INSERTS",
    "DELETES",
)
"""Row by row: each is tried as it is, below a count, and below distinct."""

AGGREGATES = (
    "COUNT(*) AS n",
    "COUNT(DISTINCT a.v) AS n",
    "SUM(a.v) AS n, AVG(a.v) AS m",
    "MIN(a.v) AS n",
    "MAX(a.v) AS n",
    "STDDEV(a.v) AS n, VARIANCE(a.v) AS m",
    "FIRST(a.v) AS n",
    "LAST(a.v) AS n",
    "MEDIAN(a.v) AS n",
    "LIST(a.v) AS n",
    "BOOL_AND(a.v = 1) AS n, BOOL_OR(a.v = 1) AS m",
)

KEYED = (
    f"FROM A AS a WHERE a.v = 1 {ROW}",
    *(f"FROM A AS a WINDOW {window} {ROW}" for window in WINDOWS),
    *(f"FROM A AS a WINDOW {window} {GROUP}, COUNT(*) AS n" for window in WINDOWS),
    f"FROM A AS a WINDOW MOVING 2 {ROW.replace('OUTPUT', 'OUTPUT DISTINCT')}",
    f"FROM A AS a WINDOW COALESCED {ROW}",
    f"FROM A AS a WINDOW SESSION 2 {GROUP}, COUNT(*) AS n",
    f"FROM A AS a WINDOW SESSION 1 {GROUP}, MAX(a.v) AS n",
    *(f"FROM A AS a {GROUP}, {aggregate}" for aggregate in AGGREGATES),
    "FROM A AS a GROUP BY a.k HAVING COUNT(*) > 1 OUTPUT a.k AS k, SUM(a.v) AS n",
    "FROM A AS a GROUP BY a.k, a.v OUTPUT a.k AS k, a.v AS v, COUNT(*) AS n",
    f"FROM A AS a {ROW.replace('OUTPUT', 'OUTPUT DISTINCT')}",
    f"FROM A AS a GROUP BY a.k TOP 1 BY a.v DESC {ROW}",
    f"FROM A AS a GROUP BY a.k TOP 2 BY a.v {ROW}",
    f"FROM A AS a WINDOW MOVING 2 GROUP BY a.k TOP 1 BY a.v {ROW}",
    f"FROM A AS a JOIN B AS b ON a.k = b.k {PAIR}",
    f"FROM A AS a JOIN B AS b ON a.k = b.k AND a.v = b.v {PAIR}",
    f"FROM A AS a JOIN B AS b ON a.k = b.k AND a.v < b.v {PAIR}",
    f"FROM A AS a JOIN B AS b ON a.k = b.k WINDOW MOVING 1 {PAIR}",
    f"FROM A AS a LEFT JOIN B AS b ON a.k = b.k {PAIR}",
    f"FROM A AS a LEFT JOIN B AS b ON a.k = b.k AND a.v = b.v {PAIR}",
    f"FROM A AS a ANTI JOIN B AS b ON a.k = b.k {ROW}",
    f"FROM A AS a ANTI JOIN B AS b ON a.k = b.k AND a.v = b.v {ROW}",
    f"FROM A AS a UNION B AS b {ROW}",
    f"FROM A AS a EXCEPT B AS b {ROW}",
    f"FROM (FROM A AS a GROUP BY a.k OUTPUT a.k AS k, COUNT(*) AS v) AS a JOIN B AS b ON a.k = b.k {PAIR}",
    f"FROM (FROM A AS a EXCEPT B AS b {ROW}) AS a {GROUP}, COUNT(*) AS n",
    f"FROM (FROM A AS a LEFT JOIN B AS b ON a.k = b.k {PAIR}) AS a WINDOW MOVING 1 {GROUP}, SUM(a.w) AS n",
    f"FROM (FROM A AS a GROUP BY a.k, a.v OUTPUT a.k AS k, a.v AS v, COUNT(*) AS n) AS a {GROUP}, MAX(a.n) AS n",
)
"""Histories side by side, kept apart by k."""

ALONE = (
    "FROM A AS a OUTPUT COUNT(*) AS n",
    "FROM A AS a WINDOW SESSION 2 OUTPUT COUNT(*) AS n",
    "FROM A AS a TOP 1 BY a.v OUTPUT a.v AS v",
    "FROM A AS a OUTPUT DISTINCT a.v AS v",
)
"""Over the whole stream: one history a run."""

RELATIONS = tuple(map(Relation, (*KEYED, *ALONE)))
