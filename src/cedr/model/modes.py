"""The choices that a query makes by a word: selection, consumption, lifetime, key mode, kind of join.

Paper: Section 3.2 ("Instance Selection and Consumption", "Value Correlation").
"""

from __future__ import annotations

from enum import Enum


class Selection(Enum):
    """Which instances of a parameter are taken.  Reading: R25."""

    EACH = "EACH"
    FIRST = "FIRST"
    LAST = "LAST"


class Consumption(Enum):
    """Whether an event may serve again.  Reading: R26."""

    REUSE = "REUSE"
    CONSUME = "CONSUME"


class Valid(Enum):
    """The lifetime of an output, where not the default.  Reading: R19."""

    FOREVER = "FOREVER"
    WITH_LAST = "WITH LAST"


class KeyMode(Enum):
    """Reading: R22."""

    EQUAL = "EQUAL"
    UNIQUE = "UNIQUE"


class JoinKind(Enum):
    """How two sources are joined (Definition 9; LEFT keeps, ANTI gives what has no partner)."""

    INNER = "JOIN"
    LEFT = "LEFT JOIN"
    ANTI = "ANTI JOIN"
