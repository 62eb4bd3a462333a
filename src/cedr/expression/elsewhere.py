"""Functions of SQL and of other event languages that do not exist here, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WINDOW = "windows stand in a clause of their own, before GROUP BY: WINDOW"
_NEIGHBOUR = "an earlier event is an event of the pattern: SEQUENCE(LAST A AS before, A AS a, 5 minutes)"
_TIME = "a query knows the times of events only: a.Vs is when a began to hold"

ELSEWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("TUMBLE", "TUMBLE_START", "TUMBLE_END"), f"{_WINDOW} TUMBLING 5 minutes"),
    **dict.fromkeys(("HOP", "HOP_START", "HOP_END"), f"{_WINDOW} HOPPING 1 hour EVERY 5 minutes"),
    "SESSION": f"{_WINDOW} SESSION 5 minutes",
    "WINDOW": f"{_WINDOW} TUMBLING 5 minutes, HOPPING 1 hour EVERY 5 minutes or MOVING 10 minutes",
    **dict.fromkeys(("PREV", "LAG"), _NEIGHBOUR),
    "LEAD": "a later event is an event of the pattern: SEQUENCE(A AS a, FIRST A AS after, 5 minutes)",
    "EXISTS": "the absence of events is UNLESS or NOT in WHEN, ANTI JOIN in FROM",
    **dict.fromkeys(("NOW", "CURRENT_TIMESTAMP", "GETDATE", "SYSDATE"), _TIME),
    **dict.fromkeys(("IFNULL", "NVL", "ISNULL"), "write COALESCE(x, 0)"),
    **dict.fromkeys(("IF", "IIF", "DECODE"), "write CASE WHEN x > 0 THEN 1 ELSE 0 END"),
    **dict.fromkeys(("DATEDIFF", "DATE_DIFF", "TIMESTAMPDIFF"), "times are subtracted: b.Vs - a.Vs > 5 minutes"),
    **dict.fromkeys(("DATEADD", "DATE_ADD", "TIMESTAMPADD"), "a duration is added: a.Vs + 5 minutes"),
    **dict.fromkeys(("REGEXP_MATCHES", "REGEXP", "RLIKE", "REGEX"), "write REGEXP_LIKE(a.name, '^x.*')"),
    **dict.fromkeys(
        ("ROW_NUMBER", "RANK"), "rows of a stream have no number; FIRST and LAST choose events in a pattern"
    ),
}
"""By name, in upper case: what to write instead."""
