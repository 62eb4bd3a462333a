"""A queue gives each row once its time has come, once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cedr.runtime.store.row_queue import RowQueue
from cedr.runtime.values.growable import Growable


@given(st.integers(0, 2**32), st.lists(st.integers(1, 3_000), min_size=1, max_size=6), st.data())
def test_a_queue_gives_what_is_due(seed: int, sizes: list[int], data: st.DataObject) -> None:
    random = np.random.default_rng(seed)
    queue, column = RowQueue(), Growable(np.int64)
    waiting: dict[int, int] = {}
    first = 0
    for since, size in enumerate(sizes):
        times, rows = random.integers(0, 100, size), np.arange(first, first + size)
        if data.draw(st.booleans()):
            times.sort()
            column.extend(times)
            queue.add_span(column, first, first + size, since)
        else:
            column.extend(times)
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
            kept = np.flatnonzero(np.arange(first) % data.draw(st.sampled_from((3, first))) > 0)
            old_to_new = np.full(first, -1)
            old_to_new[kept] = np.arange(len(kept))
            column.keep(kept)
            queue.renumber(old_to_new)
            waiting = {int(old_to_new[row]): time for row, time in waiting.items() if old_to_new[row] >= 0}
            first = len(kept)
            assert len(queue) == len(waiting)
