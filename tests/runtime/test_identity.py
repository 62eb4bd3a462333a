"""IDs in columns are those of ``cedr.model.identity``.  Reading: R8."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.model.event import primitive
from cedr.model.identity import digest, idgen, idgen_of
from cedr.runtime.ids.text_ids import MadeIds, Making, TextIds, integer_digests, made_digests, made_in_order, made_texts

TEXTS = st.text(max_size=40) | st.sampled_from(["", "a" * 9, "a" * 10, "a" * 26, "a" * 99, "a" * 100, "é" * 600])


def pairs(high: Any, low: Any) -> list[tuple[int, int]]:
    return list(zip(high.tolist(), low.tolist(), strict=True))


def spelled(high: Any, low: Any) -> list[str]:
    return [f"{one:016x}{two:016x}" for one, two in pairs(high, low)]


def words(values: list[int]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.array(values, np.uint64)


NUMBERS = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 20), max_size=4).map(
    lambda some: pa.array(some, pa.int64())
)
DOING = st.sampled_from(["values", "digests", "records", "ranks", "longest", "given", "again", "keep"])


@given(st.lists(st.lists(TEXTS, max_size=4) | NUMBERS | DOING, max_size=10), st.data())
def test_text_ids_are_their_texts_whatever_was_asked_of_them_before(steps: list[Any], data: st.DataObject) -> None:
    ids, texts = TextIds(), list[str]()
    for step in steps:
        chosen = data.draw(st.lists(st.sampled_from(range(len(texts))), max_size=5)) if texts else []
        rows, picked = np.array(chosen, np.int64), [texts[row] for row in chosen]
        match step:
            case "values":
                assert ids.values(rows) == picked
            case "digests":
                assert pairs(*ids.digests(rows)) == [digest(text) for text in picked]
            case "records":
                assert pairs(ids.records[:, 0], ids.records[:, 1]) == [digest(text) for text in texts]
            case "ranks":
                assert ids.ranks(rows).tolist() == [sorted(set(picked)).index(text) for text in picked]
            case "longest":
                assert ids.longest >= max((len(text.encode()) for text in texts), default=0)
            case "given":
                assert ids.given(rows).cast(pa.string()).to_pylist() == picked
            case "again":
                ids.extend_rows(rows)
                texts += picked
            case "keep":
                kept = sorted(set(chosen))
                ids.keep(np.array(kept, np.int64))
                texts = [texts[row] for row in kept]
            case _:
                ids.extend(step)
                texts += step if isinstance(step, list) else map(str, step.to_pylist())
        assert len(ids) == len(texts)
    assert ids.texts(np.arange(-1, len(texts))).to_pylist() == [None, *texts]


def test_the_digests_of_few_rows_are_made_for_them_alone() -> None:
    ids = TextIds()
    ids.extend(pa.array(range(100)))
    assert ids.digests(np.array([7]))[0].tolist() == [digest("7")[0]]
    assert ids.given(np.array([7])).equals(pa.array([7]))
    assert ids.digests(np.arange(50))[0].tolist() == [digest(str(number))[0] for number in range(50)]
    assert ids.given(np.array([7])).equals(pa.array(["7"]))


def test_whole_numbers_are_held_as_numbers_until_their_text_is_wanted() -> None:
    ids = TextIds()
    ids.extend(pa.array([3, None, 4]).drop_null())
    assert ids.given(np.array([1])).equals(pa.array([4]))
    assert ids.high.tolist() == [digest(text)[0] for text in "34"]
    assert ids.given(np.array([1])).equals(pa.array(["4"]))


@pytest.mark.parametrize(
    "of", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_text_ids_come_from_arrow(of: pa.DataType) -> None:
    ids = TextIds()
    ids.extend(pa.array(["skipped", "b", "a"]).cast(of)[1:])
    ids.extend(pa.chunked_array([["c"], []], pa.string()).cast(of))
    assert ids.texts(np.array([2, 0, -1])).equals(pa.array(["c", "b", None]))
    assert ids.high.tolist() == [digest(text)[0] for text in "bac"]
    assert ids.nbytes > 0


HALVES = st.integers(0, 2**64 - 1)


@given(st.lists(st.tuples(HALVES, HALVES) | st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=8))
def test_made_ids_are_32_digits_in_their_order(halves: list[tuple[int, int]]) -> None:
    high, low = words([one for one, _ in halves]), words([two for _, two in halves])
    ids = MadeIds(lambda rows: (high[rows], low[rows]))
    texts = spelled(high, low)
    everything = np.arange(len(texts))
    assert ids.values(everything) == texts == made_texts(high, low).to_pylist()
    assert pairs(*ids.digests(everything)) == [digest(text) for text in texts] == pairs(*made_digests(high, low))
    assert ids.ranks(everything).tolist() == [sorted(set(texts)).index(text) for text in texts]
    assert ids.texts(np.append(everything, -1)).to_pylist() == [*texts, None]


@given(TEXTS, TEXTS, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_making_is_idgen(place: str, stream: str, rows: list[tuple[str, str]]) -> None:
    first, second = TextIds(), TextIds()
    first.extend([one for one, _ in rows])
    second.extend([two for _, two in rows])
    backwards = np.arange(len(rows))[::-1].copy()
    making = Making(place, len(rows))
    making.take_in(digest(stream), first, backwards)
    making.take_in(digest("B"), MadeIds(lambda chosen: second.digests(chosen)), backwards)
    texts = [second.digests(np.array([row])) for row in range(len(rows))]
    expected = [
        idgen(place, stream, one, "B", spelled(*halves)[0]) for (one, _), halves in zip(rows, texts, strict=True)
    ]
    assert spelled(*making.finish()) == expected[::-1]
    assert spelled(*Making(place, 1).finish()) == [idgen(place)]


@given(st.data(), st.integers(1, 4), st.integers(0, 5))
def test_contributors_may_come_in_any_order(data: st.DataObject, parameters: int, rows: int) -> None:
    streams = data.draw(st.lists(TEXTS, min_size=parameters, max_size=parameters))
    texts = [[f"{k}:{r}" for r in range(rows)] for k in range(parameters)]
    highs, lows = np.zeros((parameters, rows), np.uint64), np.zeros((parameters, rows), np.uint64)
    for k in range(parameters):
        ids = TextIds()
        ids.extend(texts[k])
        highs[k], lows[k] = ids.digests(np.arange(rows))
    orders = [
        data.draw(st.permutations(range(parameters)))[: data.draw(st.integers(0, parameters))] for _ in range(rows)
    ]
    order = np.full((rows, parameters), -1, np.int64)
    for r, some in enumerate(orders):
        order[r, : len(some)] = some
    expected = [
        idgen_of("place", [primitive(streams[k], texts[k][r], 0) for k in some]) for r, some in enumerate(orders)
    ]
    assert spelled(*made_in_order("place", streams, highs, lows, order)) == expected


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), 2**63 - 1, 0, 9, 10, -1]), max_size=8))
def test_integers_have_their_digests(values: list[int]) -> None:
    assert pairs(*integer_digests(np.array(values, np.int64))) == [digest(value) for value in values]
