"""Rows that could not be used: how many for which reason, and where the first of each stands.

Readings: R39, R41.  Nothing is lost silently: all of them can be listed, and too many of them are an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError

SHARE = 0.1
"""Up to this share of the rows may be unusable."""


class Rejected(NamedTuple):
    """A row that was not used: why, and where it stands."""

    code: str
    kind: str
    """The reason without the value that is to blame: equal for all rows of one kind."""
    reason: str
    name: str
    row: int
    text: str = ""
    """The row itself, as far as it is known."""

    @property
    def place(self) -> str:
        """File and row."""
        return f"{self.name}, row {self.row:,}"


@dataclass(slots=True)
class Rejects:
    """Collects them, in any order."""

    rows: list[Rejected] = field(default_factory=list)

    def add(self, rejected: Iterable[Rejected]) -> None:
        """Some more."""
        self.rows += rejected

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Rejected]:
        return iter(sorted(self.rows, key=lambda each: (each.name, each.row)))

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """One for each row, in the order of their places."""
        return tuple(Diagnostic(each.code, f"{each.place}: {each.reason}", severity="dead letter") for each in self)

    def summary(self) -> list[Diagnostic]:
        """One line for each reason: how many, and the first of them."""
        kinds: dict[tuple[str, str], list[Rejected]] = {}
        for each in self:
            kinds.setdefault((each.code, each.kind), []).append(each)
        return [_told(code, kind, found) for (code, kind), found in kinds.items()]

    def check(self, count: int, allowed: float) -> None:
        """Raises ``StreamError`` where more than the allowed share of ``count`` rows cannot be used."""
        if not self.rows or len(self.rows) <= allowed * count:
            return
        primary = f"{len(self.rows):,} of {count:,} rows cannot be used"
        reasons = "; ".join(told.primary for told in self.summary()[:3])
        hint = f"mend the data, or allow more than {allowed:.0%}: bad_rows=1 (--bad-rows 1) goes on without such rows"
        if all(each.code == "bad-time" for each in self.rows):
            hint = 'say how times are written, such as time_format="%d.%m.%Y %H:%M:%S", or name another column'
        raise StreamError(Diagnostic("too-many-bad-rows", primary, detail=reasons, hint=hint))


def _told(code: str, kind: str, found: list[Rejected]) -> Diagnostic:
    first = found[0]
    many = f"{len(found):,} rows are not used" if len(found) > 1 else "1 row is not used"
    reason = first.reason if len(found) == 1 else kind
    where = f"{'first: ' if len(found) > 1 else ''}{first.place}"
    example = f": {first.reason}" if len(found) > 1 and first.reason != kind else ""
    return Diagnostic(code, f"{many}: {reason} ({where}{example})", severity="dead letter")
