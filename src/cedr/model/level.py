"""Consistency levels as points (B, M) of the paper's triangle.

Paper: Section 5, Figure 9.  Readings: R33 (blocking B), R34 (memory M), R35 (the three named levels).
"""

from __future__ import annotations

from dataclasses import dataclass

from cedr.model.time import FOREVER, format_duration


@dataclass(frozen=True, slots=True)
class Bound:
    """A length of application time, or of CEDR time (the server's clock)."""

    duration: int
    cedr_time: bool = False

    def __str__(self) -> str:
        return format_duration(self.duration) + (" OF CEDR TIME" if self.cedr_time else "")


@dataclass(frozen=True, slots=True)
class ConsistencyLevel:
    """How long a query may block (B) and how far back it remembers (M).

    Paper: Section 5, Figure 9: "increasing the maximum blocking time beyond the maximum memory time has no effect":
    a larger B acts as M.
    """

    blocking: Bound
    memory: Bound

    def __post_init__(self) -> None:
        for name, bound in (("B", self.blocking), ("M", self.memory)):
            if bound.duration < 0:
                message = f"{name} must not be negative, it is {bound.duration}"
                raise ValueError(message)

    @property
    def effective_blocking(self) -> Bound:
        """B, or M where B is larger and both are on one clock."""
        same = self.blocking.cedr_time == self.memory.cedr_time
        return self.memory if same and self.blocking.duration > self.memory.duration else self.blocking

    @property
    def name(self) -> str:
        """STRONG, MIDDLE, WEAK, or the two bounds as the language writes them."""
        for name, level in NAMED_LEVELS.items():
            if level == self:
                return name
        return f"BLOCKING {self.blocking} MEMORY {self.memory}"

    def __str__(self) -> str:
        return self.name


STRONG = ConsistencyLevel(Bound(FOREVER), Bound(FOREVER))
MIDDLE = ConsistencyLevel(Bound(0), Bound(FOREVER))
WEAK = ConsistencyLevel(Bound(0), Bound(0))

NAMED_LEVELS = {"STRONG": STRONG, "MIDDLE": MIDDLE, "WEAK": WEAK}
"""Reading: R35.  The default is MIDDLE."""
