"""The index of events is a dictionary."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cedr.runtime.ids.event_index import EventIndex

# Few different words, many of which belong to the same place, also across the end of the smallest table.
WORDS = st.sampled_from([0, 1, 1023, 1024, 2047, 2**40, 2**64 - 1, 2**63])
DIGESTS = st.tuples(WORDS, st.sampled_from([0, 1, 2**64 - 1]))
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "insert", "later", "later", "forget", "rebuild", "find", "find"]),
        st.lists(DIGESTS, max_size=8),
    ),
    max_size=12,
)
Digest = tuple[int, int]


class Known(NamedTuple):
    """IDs that are nothing but their digests."""

    records: np.ndarray[Any, Any]


def halves(digests: list[Digest]) -> np.ndarray[Any, Any]:
    return np.array(digests, np.uint64).reshape(-1, 2)


@given(STEPS)
def test_it_does_what_a_dictionary_does(steps: list[tuple[str, list[Digest]]]) -> None:
    index = EventIndex()
    expected: dict[Digest, int] = {}
    known: list[Digest] = []
    kinds = np.zeros(100, np.int8)
    for step, digests in steps:
        if step == "insert":
            rows = np.arange(len(known), len(known) + len(digests))
            known.extend(digests)
            kinds[rows] = 1
            new = index.insert_new(Known(halves(known)), kinds[: len(known)], rows)
            wanted = []
            for digest, row in zip(digests, rows.tolist(), strict=True):
                wanted.append(digest not in expected)
                expected.setdefault(digest, row)
            assert new.tolist() == wanted
            kinds[rows[~new]] = 0
        elif step == "later":
            unknown = [digest for digest in dict.fromkeys(digests) if digest not in expected]
            rows = np.arange(len(known), len(known) + len(unknown))
            known.extend(unknown)
            kinds[rows] = 1
            index.insert_later(rows)
            expected.update(zip(unknown, rows.tolist(), strict=True))
        elif step == "forget":
            for digest in digests:
                if digest in expected:
                    kinds[expected.pop(digest)] = 0
        elif step == "rebuild":
            index.rebuild(Known(halves(known)), kinds[: len(known)], np.flatnonzero(kinds))
        else:
            asked = list({*known, *digests})
            found = index.find(Known(halves(known)), kinds[: len(known)], halves(asked)).tolist()
            assert found == [expected.get(digest, -1) for digest in asked]


def test_it_grows_and_is_rebuilt() -> None:
    high = np.arange(3_000, dtype=np.uint64) * np.uint64(2**40)  # all in one place
    high[100:] = np.arange(2_900, dtype=np.uint64)
    known = np.stack([high, np.arange(3_000, dtype=np.uint64)], axis=1)
    kinds = np.ones(3_000, np.int8)
    index = EventIndex()
    for start in range(0, 3_000, 700):
        assert index.insert_new(Known(known), kinds, np.arange(start, min(start + 700, 3_000))).all()
    assert index.find(Known(known), kinds, known).tolist() == list(range(3_000))
    kinds[::2] = 0
    assert index.find(Known(known), kinds, known)[1::2].tolist() == list(range(1, 3_000, 2))
    assert (index.find(Known(known), kinds, known)[::2] == -1).all()
    large = index.nbytes
    index.rebuild(Known(known), kinds, np.arange(1, 20, 2))
    assert index.nbytes < large
    assert index.find(Known(known), kinds, known[19:22]).tolist() == [19, -1, -1]


def test_what_is_gone_makes_room_as_it_grows() -> None:
    index = EventIndex()
    size, steps = 400, 40
    high = np.random.default_rng(3).integers(0, 2**63, size * steps).astype(np.uint64)
    kinds, known = np.ones(size * steps, np.int8), np.stack([high, high], axis=1)
    for step in range(steps):
        kinds[: max(0, step - 1) * size] = 0
        assert index.insert_new(Known(known), kinds, np.arange(step * size, (step + 1) * size)).all()
    assert index.nbytes <= 8 * 8 * size * 2
    assert (index.find(Known(known), kinds, known) >= 0).sum() == 2 * size
