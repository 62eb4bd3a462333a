"""What a call of a user-defined function carries: the definition itself, and the query that it stands in.

Readings: R20, R30.  A plan takes its definitions along, so that it means the same wherever it is evaluated, and
whatever is declared later under the same name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Owned:
    """A user-defined function or aggregate as a query uses it."""

    definition: Any
    query: str
