"""A TYPE says where its events are, and what their columns are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cedr
from cedr.diagnostics.exceptions import StreamError

PAIR = "EVENT Pair WHEN SEQUENCE(TX AS a, TX AS b, 1 minute) WHERE {a.card = b.card} OUTPUT a.card AS card, b.n AS n"
ROWS = [
    {"tx": "1", "ts": "2026-01-01 00:00:00", "card": "a", "n": 1},
    {"tx": "2", "ts": "2026-01-01 00:00:30", "card": "a", "n": 2},
    {"tx": "3", "ts": "2026-01-01 00:00:40", "card": "b", "n": 3},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [",".join(map(str, row.values())) for row in ROWS]
    (tmp_path / "tx.csv").write_text("\n".join(["tx,ts,card,n", *lines]))
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("declaration", "data"),
    [
        ("TYPE TX FROM 'tx.csv' WITH (time = ts, id = tx)", None),
        ("TYPE TX (card STRING, n INTEGER) FROM 'tx.csv' WITH (time = ts, id = tx)", None),
        ("TYPE TX (card STRING, n INTEGER) WITH (time = ts, id = tx)", "tx.csv"),
        ("TYPE TX (card STRING, n INTEGER) WITH (time = ts, id = tx)", ROWS),
        ("TYPE TX (card STRING, n INTEGER) WITH (time = ts, id = tx)", {"TX": ROWS}),
        ("TYPE TX FROM 'elsewhere.csv' WITH (time = ts, id = tx)", ROWS),
    ],
)
def test_data_is_found_and_read_as_the_type_says(declaration: str, data: Any) -> None:
    result = cedr.evaluate(f"{declaration}; {PAIR}", data)
    assert result.to_arrow(["card", "n", "contributors"]).to_pylist() == [
        {"card": "a", "n": 2, "contributors": ["1", "2"]}
    ]
    assert len(list(cedr.run(f"{declaration}; {PAIR}", data))) == 2


def test_a_path_in_a_query_file_begins_at_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "q.cedr").write_text(f"TYPE TX FROM 'tx.csv' WITH (time = ts, id = tx); {PAIR}")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert len(cedr.evaluate("../q.cedr")) == 1


@pytest.mark.usefixtures("folder")
def test_what_the_call_says_comes_first() -> None:
    query = f"TYPE TX FROM 'tx.csv' WITH (time = nothing, id = tx); {PAIR}"
    assert len(cedr.evaluate(query, time="ts")) == 1
    with pytest.raises(StreamError, match='no column "nothing"'):
        cedr.evaluate(query)


def test_a_type_that_is_revisable_stays_so() -> None:
    """R37"""
    corrected = [*ROWS, {**ROWS[0], "ts": "2026-01-01 00:00:10", "n": 5}]
    closed = cedr.evaluate(f"TYPE TX FROM 'x' WITH (time = ts, id = tx); {PAIR}", corrected, bad_rows=1)
    revisable = cedr.evaluate(f"TYPE TX REVISABLE FROM 'x' WITH (time = ts, id = tx); {PAIR}", corrected)
    assert ([each.code for each in closed.summary or ()], revisable.summary) == (["revision-too-late"], ())


def test_without_data_anywhere_it_is_an_error() -> None:
    with pytest.raises(StreamError, match="no-data"):
        cedr.evaluate(PAIR)


# -- R50 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "scope", "words", "code"),
    [
        ([1_700_000_000, 1_700_000_030], "1 minute", {}, "time-unit-missing"),
        ([1_700_000_000, 1_700_000_030], "1 minute", {"time_unit": "ticks"}, "time-unit-missing"),
        ([1_700_000_000, 1_700_000_030], "60", {"time_unit": "s"}, "time-unit-unexpected"),
        ([1_700_000_000, 1_700_000_030], "60", {"disorder": "1 minute"}, "time-unit-missing"),
        ([1_700_000_000, 1_700_000_030], "1 minute", {"time_unit": "s", "disorder": 60}, "time-unit-unexpected"),
        ([1_700_000_000, 1_700_000_030], "1 minute", {"time_unit": "s", "disorder": "1 minute"}, None),
        ([1_700_000_000, 1_700_000_030], "60", {"disorder": 60}, None),
        ([1_700_000_000, 1_700_000_030], "FOREVER", {}, None),
    ],
)
def test_units_of_the_query_and_of_the_data_must_fit(
    times: list[int], scope: str, words: dict[str, Any], code: str | None
) -> None:
    """R50"""
    data = pa.table({"tx": [1, 2], "time": times, "card": ["a", "a"], "n": [1, 2]})
    query = PAIR.replace("1 minute", scope)
    if code is None:
        assert len(cedr.evaluate(query, data, type="TX", id="tx", **words)) == 1
        return
    with pytest.raises(StreamError) as raised:
        cedr.evaluate(query, data, type="TX", id="tx", **words)
    assert [each.code for each in raised.value.diagnostics] == [code]


def test_the_shortest_lifetime_is_one_tick_of_any_clock() -> None:
    """R50"""
    data = pa.table({"tx": [1], "time": [1_700_000_000], "card": ["a"], "n": [1]})
    query = "EVENT Q FROM TX AS a WINDOW LIFETIME a.Vs, 1"
    assert len(cedr.evaluate(query, data, type="TX", id="tx", time_unit="s", host="oracle")) == 1


def test_only_the_query_that_is_asked_counts() -> None:
    """R50"""
    data = pa.table({"tx": [1, 2], "time": [1, 2], "card": ["a", "a"], "n": [1, 2]})
    other = "EVENT Other WHEN SEQUENCE(TX AS a, TX AS b, 1 hour)"
    assert len(cedr.evaluate(f"{other}; {PAIR.replace('1 minute', '60')}", data, type="TX", id="tx")) == 1
    inner = f"{other}; EVENT Outer WHEN ANY(Other AS o)"
    with pytest.raises(StreamError, match="time-unit-missing"):
        cedr.evaluate(inner, data, type="TX", id="tx")


@pytest.mark.parametrize(
    ("start", "name"), [(1_700_000_000, "seconds"), (1_700_000_000_000, "milliseconds"), (7, None)]
)
def test_messages_whose_times_look_like_seconds_are_told(start: int, name: str | None) -> None:
    """R50"""
    messages = [{"insert": {"type": "TX", "id": n, "vs": start + n, "payload": {"card": "a", "n": n}}} for n in (0, 1)]
    found = [each.primary for each in cedr.evaluate(PAIR, messages).warnings]
    told = f"the times of the messages look like {name} since 1970, and are read as microseconds"
    assert found == ([] if name is None else [told])
