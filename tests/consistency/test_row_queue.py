"""A queue gives each row once its time has come, once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cedr.consistency.row_queue import RowQueue


@given(st.integers(0, 2**32), st.lists(st.integers(1, 3_000), min_size=1, max_size=6), st.data())
def test_a_queue_gives_what_is_due(seed: int, sizes: list[int], data: st.DataObject) -> None:
    random = np.random.default_rng(seed)
    queue = RowQueue()
    waiting: dict[int, int] = {}
    first = 0
    for since, size in enumerate(sizes):
        times, rows = random.integers(0, 100, size), np.arange(first, first + size)
        queue.add(times, rows, since)
        waiting.update(zip(rows.tolist(), times.tolist(), strict=True))
        first += size
        for limit in data.draw(st.lists(st.integers(-1, 100), max_size=3)):
            due = queue.take(limit).tolist()
            assert sorted(due) == sorted(row for row, time in waiting.items() if time <= limit)
            for row in due:
                del waiting[row]
            assert len(queue) == len(waiting)
            assert not waiting or queue.since <= since
        if data.draw(st.booleans()):
            old_to_new = np.where(np.arange(first) % 3 == 0, -1, np.arange(first) + 7)
            queue.renumber(old_to_new)
            waiting = {row + 7: time for row, time in waiting.items() if row % 3}
            first += 7
