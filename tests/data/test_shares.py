"""Rows dealt out by their key: share by share a query gives what it gives on all rows.  Reading: R22."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cedr
from cedr.consistency.pipeline import Pipeline
from cedr.data import shares

QUERIES = (
    "WHEN SEQUENCE(A AS a, B AS b, 9 us) WHERE CorrelationKey(k, EQUAL)",
    "WHEN NOT(A AS n, SEQUENCE(A AS a, B AS b, 9 us)) WHERE CorrelationKey(k, EQUAL)",
    "WHEN UNLESS(A AS a, B AS b, 4 us) WHERE CorrelationKey(k, EQUAL)",
    "WHEN SEQUENCE(A AS a, B AS b, 9 us) WHERE {a.k = b.other}",
    "WHEN SEQUENCE(A AS a, B AS b, 9 us)",
    "WHEN ANY(A AS a, B AS b)",
)
WORDS: dict[str, Any] = {"type": "kind", "time": "t", "time_unit": "us", "id": "id"}


@pytest.fixture(autouse=True)
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "ROWS", 3)
    monkeypatch.setattr(shares, "_PIECE", 4)


def evaluated(query: str, rows: pa.Table, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, int]:
    """Rows, what could not be used, what was noted; and how many shares there were."""
    taken = []
    take = Pipeline.whole

    def counting(self: Pipeline, *given: Any) -> Any:
        taken.append(1)
        return take(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "whole", counting)
        result = cedr.evaluate(f"EVENT Q {query}", rows, bad_rows=1.0, **WORDS)
    told = sorted(str(each) for each in result.dead_letters)
    return (result.to_arrow().to_pylist(), told, [str(each) for each in result.warnings]), len(taken)


def table(rows: list[tuple[str, int, str | None, Any]]) -> pa.Table:
    kinds, times, ids, keys = zip(*rows, strict=True) if rows else ((), (), (), ())
    of = pa.string() if any(isinstance(key, str) for key in keys) else pa.int64()
    columns = {"kind": pa.array(kinds, pa.string()), "t": pa.array(times, pa.int64()), "id": pa.array(ids, pa.string())}
    return pa.table({**columns, "k": pa.array(keys, of), "other": pa.array(keys, of)})


def drawn_rows(keys: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tuple[str, int, str | None, Any]]]:
    names = st.one_of(st.none(), st.integers(0, 30).map(str))
    return st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 20), names, keys), max_size=30)


@pytest.mark.parametrize("query", QUERIES)
@given(
    rows=st.one_of(
        drawn_rows(st.one_of(st.none(), st.integers(-5, 5))), drawn_rows(st.one_of(st.none(), st.sampled_from("xyzuv")))
    )
)
@settings(
    max_examples=max(3, settings.default.max_examples // 3),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_shares_give_what_all_rows_give(query: str, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    by_share, _ = evaluated(query, table(rows), monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(shares, "ROWS", 1 << 18)
        whole, count = evaluated(query, table(rows), monkeypatch)
    assert count == 1
    assert by_share == whole


@pytest.mark.parametrize(
    ("query", "keys", "dealt"),
    [
        (QUERIES[0], [1, 2, 3], True),
        (QUERIES[0], ["x", "y", "z"], True),
        (QUERIES[3], [1, 2, 3], True),
        (QUERIES[4], [1, 2, 3], False),
        (QUERIES[5], [1, 2, 3], True),
    ],
)
def test_there_are_shares_where_the_plan_has_a_key(
    query: str, keys: list[Any], dealt: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [("AB"[number % 2], number, str(number), keys[number % 3]) for number in range(12)]
    _, count = evaluated(query, table(rows), monkeypatch)
    assert (count > 1) is dealt


def test_rows_of_one_id_are_judged_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows with one ID and different keys: in shares both would be events."""
    rows = [("A", number, str(number), number) for number in range(12)]
    _, apart = evaluated(QUERIES[0], table(rows), monkeypatch)
    (_, told, _), together = evaluated(QUERIES[0], table([*rows, ("A", 3, "3", 4)]), monkeypatch)
    assert apart > 1
    assert together == 1
    assert len(told) == 1


def test_a_dead_letter_names_its_row_whatever_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("A", number, None if number == 7 else str(number), number) for number in range(12)]
    (_, told, _), count = evaluated(QUERIES[0], table(rows), monkeypatch)
    assert count > 1
    assert len(told) == 1
    assert "row 8" in told[0]


def test_keys_that_count_up_are_spread() -> None:
    keys = pa.array(np.arange(10_000))
    part = type("P", (), {"payload": {"k": keys}, "type": type("T", (), {"name": "A"})})
    (numbers,) = shares._by_key([part], {"A": ("k",)}, 10) or []  # type: ignore[list-item]
    assert np.bincount(numbers).min() > 900


@pytest.mark.parametrize("form", ["frame", "file"])
def test_the_change_stream_reads_the_rows_again(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that were evaluated share by share are held no longer."""
    rows = table([("AB"[number % 2], number, str(number), number % 3) for number in range(30)])
    pa_parquet.write_table(rows, tmp_path / "rows.parquet")
    data = rows if form == "frame" else tmp_path / "rows.parquet"
    result = cedr.evaluate(f"EVENT Q {QUERIES[1]}", data, **WORDS)
    by_share = result.to_arrow(), result.changes().to_arrow(), result.draw().note
    monkeypatch.setattr(shares, "ROWS", 1 << 18)
    whole = cedr.evaluate(f"EVENT Q {QUERIES[1]}", data, **WORDS)
    assert by_share == (whole.to_arrow(), whole.changes().to_arrow(), whole.draw().note)
    assert by_share[0].num_rows
