"""Which tables belong together: those that rows of others refer to.

Reading: R37 (what nobody holds goes).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cedr.runtime.store.table import Table


def with_targets(tables: Iterable[Table]) -> list[Table]:
    """Tables, each behind all that its rows refer to: groups, for one, are no operator's output."""
    found: dict[int, Table] = {}

    def note(table: Table) -> None:
        if id(table) not in found:
            for target in (*table.targets, *table.beside):
                note(target)
            found[id(table)] = table

    for table in tables:
        note(table)
    return list(found.values())


def connected(tables: Sequence[Table]) -> list[list[Table]]:
    """Tables put together with those that their rows refer to."""
    groups: dict[int, list[Table]] = {id(table): [table] for table in tables}
    for table in tables:
        for target in (*table.targets, *table.beside):
            mine, other = groups[id(table)], groups.get(id(target))
            if other is not None and other is not mine:
                mine.extend(other)
                groups.update((id(each), mine) for each in other)
    return list({id(group): group for group in groups.values()}.values())
