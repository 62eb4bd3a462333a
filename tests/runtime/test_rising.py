"""What is said to rise was never there before."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cedr.runtime.identity import TextIds
from cedr.runtime.rising import Rising

TEXTS = st.text("ab10é-", max_size=3) | st.text("ab10é", min_size=6, max_size=18)
BATCHES = st.lists(st.lists(TEXTS, max_size=4) | st.lists(st.integers(-20, 120), max_size=4), max_size=8)


@given(BATCHES, st.booleans())
def test_it_rises_where_each_text_is_greater_than_all_before_it(batches: list[list[str | int]], asked: bool) -> None:
    rising, ids = Rising(), TextIds()
    seen: set[bytes] = set()
    for batch in batches:
        start = len(ids)
        ids.extend(pa.array(batch, pa.string() if batch and isinstance(batch[0], str) else pa.int64()))
        if asked:
            _ = ids.records
        texts = [str(each).encode() for each in batch]
        greater = True
        for text in texts:
            greater = greater and all((len(other), other) < (len(text), text) for other in seen)
            seen.add(text)
        negative = any(text.startswith(b"-") for text in texts)
        said = rising.takes(ids, start)
        assert said == greater or (negative and not said)


def test_numbers_that_count_up_rise() -> None:
    rising, ids = Rising(), TextIds()
    for low in range(0, 2_000, 7):
        ids.extend(pa.array(range(low, low + 7)))
        assert rising.takes(ids, low)
    ids.extend(pa.array([1_999]))
    assert not rising.takes(ids, len(ids) - 1)
