"""Equality of tables, with a difference that can be read.

Two tables are the same if they hold the same rows, in any order, as often as each other; of events neither the stream
nor the bindings are compared.  Where they do not, both are
printed and the rows that only one of them has are marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cedr.testing.grid import COLUMNS, Grid, format_cells, read_grids
from cedr.testing.tables import Table, grid_of

_MARK = ">"


def assert_same_table(actual: Table, expected: Table | str, columns: Sequence[str] | None = None) -> None:
    r"""Fail with a readable difference unless both tables hold the same rows.

    ``expected`` may be text in the paper's notation: then only the columns that it shows are compared.  Otherwise all
    that either table shows, or the given ones.

    >>> from cedr.testing.tables import history_table
    >>> assert_same_table(history_table("| K | Os |\n| E0 | 1 |"), "| K | Os |\n| E0 | 2 |")
    Traceback (most recent call last):
    AssertionError: the tables differ in the rows marked
    actual:
      | K  | Os |
      |----|----|
    > | E0 | 1  |
    expected:
      | K  | Os |
      |----|----|
    > | E0 | 2  |
    """
    difference = difference_of(actual, expected, columns)
    if difference:
        raise AssertionError(difference)


def difference_of(actual: Table, expected: Table | str, columns: Sequence[str] | None = None) -> str:
    """The difference as text; empty if there is none."""
    left, right = _grids(actual, expected, columns)
    only_left, only_right = Counter(left.rows) - Counter(right.rows), Counter(right.rows) - Counter(left.rows)
    if not only_left and not only_right:
        return ""
    shown = (("actual:", left, only_left), ("expected:", right, only_right))
    parts = (f"{title}\n{_marked(grid, only)}" for title, grid, only in shown)
    return "\n".join(("the tables differ in the rows marked", *parts))


def _grids(actual: Table, expected: Table | str, columns: Sequence[str] | None) -> tuple[Grid, Grid]:
    if isinstance(expected, str):
        (right,) = read_grids(expected)
        names = tuple(columns or right.columns)
        return grid_of(actual, names), right.only(names)
    left, right = grid_of(actual), grid_of(expected)
    names = tuple(columns or (name for name in COLUMNS if name in (*left.columns, *right.columns)))
    return left.only(names), right.only(names)


def _marked(grid: Grid, only: Counter[tuple[str, ...]]) -> str:
    left = only.copy()
    head, rule, *body = format_cells([grid.columns, *grid.rows]).splitlines()
    lines = [f"  {head}", f"  {rule}"]
    for cells, line in zip(grid.rows, body, strict=True):
        lines.append(f"{_MARK if left[cells] > 0 else ' '} {line}")
        left[cells] -= 1
    return "\n".join(lines)
