"""A sorted store that changes is a list of rows for each group, by time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cedr.model.time import FOREVER
from cedr.runtime.store.segments import Segments

GROUPS = 4
PARTS = st.lists(st.tuples(st.integers(0, GROUPS - 1), st.integers(1, 700), st.integers(0, 3)), min_size=1, max_size=4)
STEPS = st.lists(st.tuples(st.sampled_from(["add", "add", "add", "remove", "forget"]), PARTS), max_size=12)
Entry = tuple[int, int]


class Model:
    """What a store must hold."""

    def __init__(self) -> None:
        self.store = Segments()
        self.held: dict[int, list[Entry]] = {group: [] for group in range(GROUPS)}
        self.time = self.rows = 0

    def add(self, parts: list[tuple[int, int, int]]) -> None:
        """Rows of some groups; ``late``: how many of four of them come before what is there."""
        batch = []
        for group, count, late in parts:
            for number in range(count):
                time = self.time - 3 * number if number % 4 < late else self.time + number
                batch.append((group, time, self.rows))
                self.rows += 1
        self.time += 500
        batch.sort()
        groups, times, rows = (np.array(column, dtype=np.int64) for column in zip(*batch, strict=True))
        self.store.add(groups, times, rows)
        for group, time, row in batch:
            self.held[group].append((time, row))

    def remove(self, parts: list[tuple[int, int, int]]) -> None:
        """The first so many rows of some groups, every other one."""
        gone = sorted({(group, *entry) for group, count, _ in parts for entry in sorted(self.held[group])[:count:2]})
        if gone:
            self.store.remove(*(np.array(column, dtype=np.int64) for column in zip(*gone, strict=True)))
        for group, time, row in gone:
            self.held[group].remove((time, row))

    def forget(self, parts: list[tuple[int, int, int]]) -> None:
        """What lies further back than the largest count given; the store may put that off."""
        line = self.time - max(count for _, count, _ in parts)
        before = len(self.store)
        self.store.forget(line)
        if len(self.store) < before:
            self.held = {group: [e for e in entries if e[0] > line] for group, entries in self.held.items()}

    def check(self) -> None:
        store = self.store.sorted
        for group in range(min(GROUPS, len(store.pieces))):
            everything = np.array([-FOREVER]), np.array([FOREVER])
            _, places = store.locate(np.array([group]), *everything).expand()
            found = list(zip(store.times[places].tolist(), store.rows[places].tolist(), strict=True))
            assert [time for time, _ in found] == sorted(time for time, _ in self.held[group])
            assert sorted(found) == sorted(self.held[group])
        assert sorted(self.store.held().tolist()) == sorted(row for e in self.held.values() for _, row in e)
        assert len(self.store) == sum(map(len, self.held.values()))


@given(STEPS)
def test_it_holds_what_was_added_and_not_taken_out(steps: list[tuple[str, list[tuple[int, int, int]]]]) -> None:
    model = Model()
    for step, parts in steps:
        getattr(model, step)(parts)
        model.check()


def test_a_piece_that_had_more_room_before_everything_was_moved() -> None:
    """It is moved to a place with less room, and the same batch brings more rows than fit there."""
    model = Model()
    model.add([(0, 700, 0)])
    model.add([(0, 1, 0)])
    for _ in range(40):
        model.add([(0, 650, 0), (1, 650, 0), (2, 1, 0)])
        model.check()


def test_a_window_that_slides() -> None:
    model = Model()
    for _ in range(60):
        model.add([(0, 100, 1), (3, 40, 0)])
        model.forget([(0, 600, 0)])
        model.check()
    assert model.store.nbytes < 1 << 20
