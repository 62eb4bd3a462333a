"""The index of events is a dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cedr.runtime.events import EventIndex

# Few different words, many of which belong to the same place, also across the end of the smallest table.
WORDS = st.sampled_from([0, 1, 1023, 1024, 2047, 2**64 - 1, 2**63])
DIGESTS = st.tuples(WORDS, st.sampled_from([0, 1, 2**64 - 1]))
STEPS = st.lists(
    st.tuples(st.sampled_from(["insert", "insert_new", "replace", "remove", "find"]), st.lists(DIGESTS, max_size=8)),
    max_size=12,
)


def halves(digests: list[tuple[int, int]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return np.array([high for high, _ in digests], np.uint64), np.array([low for _, low in digests], np.uint64)


def done(expected: dict[tuple[int, int], int], step: str, digest: tuple[int, int], row: int) -> int | bool | None:
    """One operation on a dictionary."""
    known = digest in expected
    if step == "remove":
        return expected.pop(digest, -1)
    if step == "insert" or (step == "insert_new" and not known) or (step == "replace" and known):
        expected[digest] = row
    return {"insert_new": not known, "find": expected.get(digest, -1)}.get(step)


@given(STEPS)
def test_it_does_what_a_dictionary_does(steps: list[tuple[str, list[tuple[int, int]]]]) -> None:
    index, expected = EventIndex(), dict[tuple[int, int], int]()
    row = 0
    for step, digests in steps:
        rows = np.arange(row, row + len(digests))
        row += len(digests)
        arguments = (*halves(digests), rows) if step in {"insert", "insert_new", "replace"} else halves(digests)
        answer = getattr(index, step)(*arguments)
        wanted = [done(expected, step, digest, number) for digest, number in zip(digests, rows.tolist(), strict=True)]
        assert (answer is None) == (step in {"insert", "replace"})
        if answer is not None:
            assert answer.tolist() == wanted
        assert len(index) == len(expected)
        assert index.find(*halves([*expected])).tolist() == [*expected.values()]


def test_it_grows_and_is_rebuilt() -> None:
    high = np.arange(3_000, dtype=np.uint64) * np.uint64(2**40)  # all in one place
    high[100:] = np.arange(2_900, dtype=np.uint64)
    low = np.arange(3_000, dtype=np.uint64)
    index = EventIndex()
    for start in range(0, 3_000, 700):
        part = slice(start, start + 700)
        assert index.insert_new(high[part], low[part], np.arange(3_000)[part]).all()
    assert index.find(high, low).tolist() == list(range(3_000))
    large = index.nbytes
    assert index.remove(high[::2], low[::2]).tolist() == list(range(0, 3_000, 2))
    assert index.find(high[1::2], low[1::2]).tolist() == list(range(1, 3_000, 2))
    index.rebuild(high[:10], low[:10], np.arange(10))
    assert len(index) == 10
    assert index.nbytes < large
    assert index.find(high[9:11], low[9:11]).tolist() == [9, -1]
