"""What is said to rise was never there before."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cedr.runtime.ids.monotone_ids import Rising
from cedr.runtime.ids.text_ids import TextIds

TEXTS = st.text("ab10é-", max_size=3) | st.text("ab10é", min_size=6, max_size=18)
BATCHES = st.lists(st.lists(TEXTS, max_size=4) | st.lists(st.integers(-20, 120), max_size=4), max_size=8)


@given(BATCHES, st.booleans())
def test_what_is_said_to_rise_was_never_there_before(batches: list[list[str | int]], asked: bool) -> None:
    rising, ids = Rising(), TextIds()
    seen: set[bytes] = set()
    for batch in batches:
        start = len(ids)
        numbers = not batch or isinstance(batch[0], int)
        ids.extend(pa.array(batch, pa.int64() if numbers else pa.string()))
        if asked:
            _ = ids.records
        texts = [str(each).encode() for each in batch]
        sized = [(len(text), text) for text in texts]
        most = max(((len(text), text) for text in seen), default=(-1, b""))
        new = len(set(texts)) == len(texts) and all(each > most for each in sized)
        said = rising.takes(ids, start)
        assert new or not said
        certain = all(each >= 0 for each in batch) if numbers and not asked else sized == sorted(sized)
        assert said or not (new and certain) or any(text.startswith(b"-") for text in texts)
        seen.update(texts)


def test_numbers_may_come_in_any_order_within_a_batch() -> None:
    rising, ids = Rising(), TextIds()
    ids.extend(pa.array([4, 2, 3]))
    assert rising.takes(ids, 0)
    ids.extend(pa.array([9, 5, 9]))
    assert not rising.takes(ids, 3)
    ids.extend(pa.array([11, 10]))
    assert rising.takes(ids, 6)


def test_numbers_that_count_up_rise() -> None:
    rising, ids = Rising(), TextIds()
    for low in range(0, 2_000, 7):
        ids.extend(pa.array(range(low, low + 7)))
        assert rising.takes(ids, low)
    ids.extend(pa.array([1_999]))
    assert not rising.takes(ids, len(ids) - 1)
