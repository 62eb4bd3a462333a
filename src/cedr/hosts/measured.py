"""What a level costs, as a table and as plain data.  Paper: Section 5, Figure 8 (blocking, state size, output size)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cedr.connect.rows import Data
from cedr.connect.tables import Table
from cedr.consistency.measures import Measures

_COLUMNS: tuple[tuple[str, Callable[[Measures], object]], ...] = (
    ("received", lambda m: m.received),
    ("admitted", lambda m: m.admitted),
    ("held", lambda m: m.held),
    ("longest held", lambda m: m.longest_held),
    ("inserts", lambda m: m.inserts),
    ("retractions", lambda m: m.retractions),
    ("guarantees", lambda m: m.guarantees),
    ("late", lambda m: m.late),
    ("frozen", lambda m: m.frozen),
    ("unknown", lambda m: m.unknown),
    ("dead letters", lambda m: m.dead_letters),
    ("duplicates", lambda m: m.duplicates),
    ("ties", lambda m: m.ties),
    ("rows", lambda m: m.total_rows),
    ("bytes", lambda m: m.total_bytes),
)


def measures_table(measures: Sequence[Measures]) -> Table:
    """One column for each level: what came, what waited, what was said, what is kept."""
    heads = ("", *(str(each.level) for each in measures))
    rows = tuple((name, *(str(value(each)) for each in measures)) for name, value in _COLUMNS)
    return Table(heads, rows, frozenset(range(1, len(heads))))


def measures_as_data(measures: Measures) -> Data:
    """The same as plain data."""
    return {"level": str(measures.level), **{name.replace(" ", "_"): value(measures) for name, value in _COLUMNS}}
