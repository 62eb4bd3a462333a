"""A query on data: the same rows from every form of it, on every host; and what is said about the data."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cedr
from cedr.consistency.batch import EventBatch
from cedr.diagnostics.exceptions import CedrError, LanguageError, StreamError
from cedr.hosts.result import Result, untracked

PAIR = """
EVENT Pair
WHEN SEQUENCE(TX AS a, TX AS b, 5 minutes)
WHERE CorrelationKey(card, EQUAL) AND {b.amount > a.amount}
OUTPUT a.card AS card, b.amount AS amount
"""
WORDS = {"type": "TX", "time": "ts", "id": "tx"}
START = datetime(2026, 1, 1, tzinfo=UTC)


def table(*rows: tuple[str, int, str, float | None]) -> pa.Table:
    """Rows as ID, second, card and amount."""
    ids, seconds, cards, amounts = zip(*rows, strict=True) if rows else ((), (), (), ())
    times = [START + timedelta(seconds=second) for second in seconds]
    return pa.table(
        {
            "tx": pa.array(ids, pa.string()),
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "card": pa.array(cards, pa.string()),
            "amount": pa.array(amounts, pa.float64()),
        }
    )


ROWS = table(("1", 0, "a", 1.0), ("2", 60, "a", 2.5), ("3", 30, "b", 1.0), ("4", 400, "b", 9.0), ("5", 90, "a", 3.0))
FOUND = [("a", 2.5, ["1", "2"]), ("a", 3.0, ["1", "5"]), ("a", 3.0, ["2", "5"])]


def found(result: Result) -> list[tuple[Any, ...]]:
    return sorted((row["card"], row["amount"], row["contributors"]) for row in result.to_arrow().to_pylist())


def forms(folder: Path) -> dict[str, Any]:
    """The same rows in every form that is taken."""
    folder.mkdir(exist_ok=True)
    pa_csv.write_csv(ROWS, folder / "a.csv")
    pa_parquet.write_table(ROWS, folder / "a.parquet")
    rows = ROWS.to_pylist()
    lines = (json.dumps(row, default=lambda moment: moment.isoformat()) for row in rows)
    (folder / "a.jsonl").write_text("\n".join(lines))
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    return {
        "CSV": folder / "a.csv",
        "Parquet": str(folder / "a.parquet"),
        "JSON": folder / "a.jsonl",
        "paths": [folder / "a.csv"],
        "table": ROWS,
        "batch": ROWS.to_batches()[0],
        "reader": ROWS.to_reader(),
        "pandas": ROWS.to_pandas(),
        "pandas with an index": ROWS.to_pandas().set_index("ts"),
        "pandas objects": ROWS.to_pandas().astype({"amount": object}),
        "polars": polars.from_arrow(ROWS),
        "rows": rows,
        "naive": pandas.DataFrame(rows),
    }


@pytest.mark.parametrize("host", [None, "local", "oracle"])
def test_all_forms_of_data_give_the_same_rows(tmp_path: Path, host: str | None) -> None:
    for name, data in forms(tmp_path).items():
        result = cedr.evaluate(PAIR, data, host=host, **WORDS)
        assert found(result) == FOUND, name
        assert (result.warnings, result.dead_letters) == ((), ()), name


def test_data_by_type_and_words_of_its_own(tmp_path: Path) -> None:
    pattern = "SEQUENCE(A AS a, B AS b, 5 minutes) WHERE {a.card = b.card}"
    query = f"EVENT Q WHEN {pattern} OUTPUT a.card AS card, b.amount AS amount"
    words = {"time": "ts", "id": "tx"}
    first, second = ROWS.slice(0, 1), ROWS.slice(1, 1)
    pa_csv.write_csv(second, tmp_path / "b.csv")
    expected = [("a", 2.5, ["1", "2"])]
    assert found(cedr.evaluate(query, {"A": first, "B": tmp_path / "b.csv"}, **words)) == expected
    described = cedr.events(first, type="A", **words) | cedr.events(second, type="B", **words)
    assert found(cedr.evaluate(query, described)) == expected
    assert (
        found(cedr.evaluate(query, [cedr.events(first, type="A", **words), cedr.events(second, type="B", **words)]))
        == expected
    )
    mixed = pa.concat_tables([first, second]).append_column("kind", pa.array(["A", "B"]))
    assert found(cedr.evaluate(query, mixed, type="kind", **words)) == expected


def test_batches_of_events_are_taken() -> None:
    batch = EventBatch("TX", ROWS["tx"], ROWS["ts"], payload={"card": ROWS["card"], "amount": ROWS["amount"]})
    assert found(cedr.evaluate(PAIR, [batch])) == FOUND


def test_without_an_id_equal_rows_are_one_event() -> None:
    """R8, R41"""
    twice = pa.concat_tables([ROWS, ROWS]).drop_columns(["tx"])
    result = cedr.evaluate(PAIR, twice, type="TX", time="ts")
    assert len(result) == 3
    assert [(each.code, each.primary) for each in result.warnings] == [
        ("duplicates", "5 rows repeat an earlier one and are ignored")
    ]


def test_a_column_of_the_header_is_an_attribute_where_the_query_names_it() -> None:
    query = PAIR.replace("OUTPUT ", "OUTPUT a.tx AS first, b.ts AS at, ")
    row = cedr.evaluate(query, ROWS, **WORDS).to_arrow(["first", "at"]).to_pylist()[0]
    assert row == {"first": "1", "at": START + timedelta(seconds=60)}


# -- levels, changes, retractions -------------------------------------------------------------------------------------


def test_the_change_stream_goes_batch_by_batch_and_ends() -> None:
    log = cedr.evaluate(PAIR, ROWS, batch=2, **WORDS).changes()
    assert [(change.kind, change.cedr_time) for change in log] == [
        ("insert", 1),
        ("insert", 3),
        ("insert", 3),
        ("guarantee", 4),
    ]
    assert log.to_arrow().column("change").to_pylist() == ["insert", "insert", "insert", "guarantee"]
    assert len(log) == 4


@pytest.mark.parametrize("level", ["STRONG", "MIDDLE", "WEAK"])
def test_the_changes_are_those_of_the_oracle(level: str) -> None:
    query = "EVENT Q WHEN UNLESS(A AS a, B AS b, 1 minute) WHERE {a.k = b.k} OUTPUT a.k AS k"
    data = pa.table(
        {
            "kind": ["A", "A", "B", "A", "B"],
            "id": ["1", "2", "3", "4", "5"],
            "at": [0, 10, 40, 200, 30],
            "k": [1, 2, 1, 1, 2],
        }
    )
    words: dict[str, Any] = {
        "type": "kind",
        "time": "at",
        "id": "id",
        "time_unit": "s",
        "disorder": "30 seconds",
        "batch": 1,
    }
    local = cedr.evaluate(query, data, consistency=level, **words)
    oracle = cedr.evaluate(query, data, consistency=level, host="oracle", **words)
    assert local.changes_to_dicts() == oracle.changes_to_dicts()
    assert {change.kind for change in local.changes()} >= {"insert", "guarantee"}


def test_rows_may_retract_and_shorten_others() -> None:
    """R3"""
    data = pa.table(
        {
            "what": ["insert", None, "retract", "retract"],
            "id": ["1", "2", "1", "2"],
            "at": [0, 1, 0, 1],
            "until": [None, 100, None, 50],
        }
    )
    query = "EVENT Q WHEN ANY(A AS a) OUTPUT a.Vs AS start, a.Ve AS finish"
    words = {"type": "'A'", "time": "at", "id": "id", "change": "what", "valid_end": "until"}
    for host in ("local", "oracle"):
        rows = cedr.evaluate(query, data, host=host, **words).to_arrow().to_pylist()
        assert [(row["start"], row["finish"]) for row in rows] == [(1, 50)]


def test_as_of_asks_what_was_known_then() -> None:
    """R24"""
    data = ROWS.append_column("came", pa.array([1, 2, 3, 4, 5]))
    words = {**WORDS, "arrival": "came"}
    assert len(cedr.evaluate(f"{PAIR} AS OF 4", data, **words)) == 1
    assert len(cedr.evaluate(f"{PAIR} AS OF 5", data, **words)) == 3
    with pytest.raises(CedrError, match="no-history"):
        cedr.evaluate(f"{PAIR} AS OF 4", ROWS, **WORDS)


def test_a_standing_query_on_data() -> None:
    live = cedr.run(PAIR, ROWS, batch=2, consistency=["STRONG", "MIDDLE"], **WORDS)
    assert [(str(said.level), said.change.kind) for said in live].count(("STRONG", "insert")) == 3
    assert [each.code for each in live.warnings] == ["no-guarantee"]


# -- what is said about the data --------------------------------------------------------------------------------------


def test_rows_that_cannot_be_used_are_told_by_reason(tmp_path: Path) -> None:
    lines = [f"{number},2026-01-01 00:00:{number:02d},a,{number}" for number in range(40)]
    lines[7], lines[8], lines[20] = "7,soon,a,7", "8,,a,8", "20,2026-01-01 00:00:20,a,abc"
    (tmp_path / "a.csv").write_text("\n".join(["tx,ts,card,amount", *lines]))
    result = cedr.evaluate(PAIR, tmp_path / "a.csv", **WORDS)
    assert result.summary is not None
    assert [each.render().replace(str(tmp_path), "") for each in result.summary] == [
        'dead letter[bad-time]: 1 row is not used: "ts" is "soon", which is no time (/a.csv, row 9)',
        'dead letter[null-time]: 1 row is not used: the row has no time in "ts" (/a.csv, row 10)',
        'dead letter[wrong-value]: 1 row is not used: "amount" is "abc", which is no INTEGER (/a.csv, row 22)',
    ]
    assert len(result.dead_letters) == 3
    assert len(result) == 37 * 36 // 2
    assert "3 dead letters" in repr(result)


def test_more_than_a_tenth_unusable_is_an_error_unless_it_is_allowed() -> None:
    data = [
        {"tx": str(n), "ts": "soon" if n < 2 else f"2026-01-01 00:00:{n:02d}", "card": "a", "amount": n}
        for n in range(19)
    ]
    with pytest.raises(StreamError) as raised:
        cedr.evaluate(PAIR, data, **WORDS)
    assert str(raised.value) == (
        "error[too-many-bad-rows]: 2 of 19 rows cannot be used\n"
        '    = 2 rows are not used: "ts" has a value that is no time '
        '(first: rows, row 1: "ts" is "soon", which is no time)\n'
        '    = hint: say how times are written, such as time_format="%d.%m.%Y %H:%M:%S", or name another column'
    )
    assert len(cedr.evaluate(PAIR, data, bad_rows=0.2, **WORDS)) > 0
    assert len(cedr.evaluate(PAIR, [*data, {**data[-1], "tx": "x"}], **WORDS)) > 0


@pytest.mark.parametrize(("second", "code"), [(0, "key-reused"), (5, "revision-too-late")])
def test_a_row_that_says_something_else_under_the_same_id_is_told(second: int, code: str) -> None:
    """R41; with another time it is a revision (R37)."""
    result = cedr.evaluate(PAIR, pa.concat_tables([ROWS, table(("1", second, "a", 7.0))]), **WORDS)
    assert result.summary is not None
    assert [(each.code, "(Arrow table, row 6)" in each.primary) for each in result.summary] == [(code, True)]
    assert found(result) == FOUND


def test_events_of_equal_time_are_told() -> None:
    """R49"""
    tied = table(("1", 0, "a", 1.0), ("2", 0, "a", 2.0), ("3", 0, "b", 3.0), ("4", 9, "b", 3.0), ("4", 9, "b", 3.0))
    result = cedr.evaluate(PAIR, tied, **WORDS)
    assert [each.primary for each in result.warnings if each.code == "ties"] == [
        "2 events have the same time as another one that they could be matched with"
    ]


def test_events_later_than_declared_are_told() -> None:
    """R39: the result has them, a stream has not."""
    late = table(("1", 100, "a", 1.0), ("2", 0, "a", 2.0), ("3", 200, "a", 3.0))
    result = cedr.evaluate(PAIR, late, disorder="1 minute", batch=1, **WORDS)
    assert "1 event comes later than the declared disorder (1 minute) allows" in [
        each.primary for each in result.warnings
    ]
    assert len(result) == 2
    stream = result.change_stream(lambda items, _: items)
    assert stream.summary is not None
    assert [each.code for each in stream.summary] == ["broken-guarantee"]


def test_a_type_that_never_comes_is_told() -> None:
    data = ROWS.append_column("kind", pa.array(["TX"] * 5))
    query = PAIR.replace("TX AS b", "RX AS b")
    result = cedr.evaluate(query, data, type="kind", time="ts", id="tx")
    assert [each.render() for each in result.warnings] == [
        'warning[no-messages]: no events of type "RX" came\n    = the events are of type: TX (5)'
    ]


@pytest.mark.parametrize(
    ("data", "words", "message"),
    [
        (
            42,
            {},
            "error[wrong-data]: an int is no data that a query can be asked of\n    = taken are: the path of a CSV",
        ),
        (b"x", {}, "error[wrong-data]: a bytes is no data"),
        (None, {}, "error[no-data]: no data is named"),
        ([1, 2], {}, "error[wrong-data]: a list is no data"),
        ({}, {}, "error[wrong-data]: a dict is no data"),
        (ROWS, {}, "error[no-event-type]: Arrow table: nothing tells the type of an event"),
        (ROWS, {"type": "TX"}, 'error[unknown-column]: Arrow table has no column "time", asked for by time='),
        (ROWS, {**WORDS, "id": "amount"}, "KEEPS"),
        (ROWS, {**WORDS, "id": "nr"}, 'error[unknown-column]: Arrow table has no column "nr", asked for by id='),
        (ROWS, {**WORDS, "time": "card"}, "error[too-many-bad-rows]: 5 of 5 rows cannot be used"),
        (ROWS, {**WORDS, "time": "amount"}, 'error[wrong-column-type]: column "amount" for time= is double'),
        (
            ROWS,
            {**WORDS, "type": "RX"},
            "error[no-event-type]: the query reads events of type TX, and the data are of type RX",
        ),
        (ROWS, {**WORDS, "tme": "ts"}, 'error[unknown-word]: there is no word "tme"'),
        (
            [{"insert": {"type": "TX", "id": 1, "vs": 1}}],
            WORDS,
            "error[bad-word]: these are messages, which say all by themselves",
        ),
        ([{"upsert": 1}], {}, "error[no-event-type]: rows: nothing tells the type of an event"),
    ],
)
def test_what_cannot_be_read_is_an_error_and_never_an_empty_answer(
    data: Any, words: dict[str, Any], message: str
) -> None:
    if message == "KEEPS":
        data = data.set_column(3, "amount", pa.array([0.5, 1.5, 2.5, 3.5, 4.5]))
        message = 'error[wrong-column-type]: column "amount" for id= is double, neither text nor whole numbers'
    with pytest.raises(StreamError) as raised:
        cedr.evaluate(PAIR, data, **words)
    assert str(raised.value).startswith(message)


def test_types_that_do_not_fit_the_query_are_errors_at_their_place() -> None:
    with pytest.raises(LanguageError, match="card"):
        cedr.evaluate(PAIR.replace("b.amount > a.amount", "b.card > 5"), ROWS, **WORDS)
    with pytest.raises(StreamError, match='there is no column for the attribute "iban" of TX'):
        cedr.evaluate(
            f"TYPE TX (card STRING, amount FLOAT, iban STRING);{PAIR.replace('a.card AS', 'a.iban AS')}", ROWS, **WORDS
        )


def test_r29_except_compares_all_attributes_whatever_is_shown() -> None:
    rows = [
        {"type": name, "ts": START + timedelta(minutes=minute), "k": minute, "v": v}
        for name, minute, v in (("A", 1, 1), ("B", 1, 1), ("A", 2, 5), ("B", 2, 6))
    ]
    result = cedr.evaluate("EVENT Q FROM A EXCEPT B OUTPUT A.k AS k", rows, type="type", time="ts")
    assert [row.payload["k"] for row in result.rows] == [2]


def test_a_query_of_the_algebra_runs_without_a_warning() -> None:
    query = "EVENT N FROM TX AS t GROUP BY t.card OUTPUT t.card AS card, COUNT(*) AS amount"
    result = cedr.evaluate(query, ROWS, **WORDS)
    assert result.warnings == ()
    assert len(result) > 0
    assert result.to_dicts() == cedr.evaluate(query, ROWS, host="oracle", **WORDS).to_dicts()


# -- against the oracle -----------------------------------------------------------------------------------------------

EVENTS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.integers(0, 12), st.sampled_from([None, 1, 2]), st.sampled_from([None, 15])),
    max_size=8,
)
QUERIES = (
    "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 5) WHERE {a.k = b.k}",
    "EVENT Q WHEN UNLESS(SEQUENCE(A AS a, B AS b, 6), C AS c, 3) WHERE CorrelationKey(k, EQUAL)",
    "EVENT Q WHEN ALL(A AS a, B AS b, 4) VALID WITH LAST",
    "EVENT Q WHEN NOT(C AS c, SEQUENCE(A AS a, B AS b, 8))",
)


@given(EVENTS, st.sampled_from(QUERIES), st.integers(1, 4), st.sampled_from(["STRONG", "MIDDLE", "WEAK"]))
def test_columns_say_what_the_oracle_says(rows: list[Any], query: str, batch: int, level: str) -> None:
    """R33 to R35, at every step."""
    types = "TYPE A (k INTEGER); TYPE B (k INTEGER); TYPE C (k INTEGER);"
    kinds, times, keys, ends = zip(*rows, strict=True) if rows else ((), (), (), ())
    data = pa.table(
        {
            "kind": pa.array(kinds, pa.string()),
            "time": pa.array(times, pa.int64()),
            "id": np.arange(len(rows)),
            "k": pa.array(keys, pa.int64()),
            "end": pa.array(ends, pa.int64()),
        }
    )
    words: dict[str, Any] = {"type": "kind", "id": "id", "valid_end": "end", "disorder": 3, "batch": batch}
    results = [
        cedr.evaluate(types + query, data, host=host, consistency=level, **words) for host in ("local", "oracle")
    ]
    assert results[0].to_dicts() == results[1].to_dicts()
    emitted = [sorted(result.changes_to_dicts(), key=lambda each: (each["cs"], str(each))) for result in results]
    assert emitted[0] == emitted[1]


def test_times_of_late_events_and_of_guarantees_are_shown_as_timestamps() -> None:
    """Also where a table shows guarantees only, and no row tells that times are timestamps."""
    data = pa.table(
        {
            "id": ["1", "2", "3"],
            "at": ["2026-01-05 09:00:00", "2026-01-05 09:10:00", "2026-01-05 09:01:00"],
            "k": [1] * 3,
        }
    )
    query = "EVENT Q WHEN SEQUENCE(A AS a, A AS b, 1 minute) WHERE {a.k = b.k}"
    stream = cedr.evaluate(
        query, data, type="'A'", time="at", id="id", disorder="5 minutes", consistency="STRONG", batch=1
    )
    log = stream.change_stream(lambda items, _: items)
    assert "guarantee  2026-01-05 08:54:59.999999Z" in str(log.changes)
    assert (
        "Sync 2026-01-05 09:01:00Z is not after the guarantee 2026-01-05 09:04:59.999999Z"
        in log.dead_letters[0].primary
    )


def test_a_retraction_that_cannot_be_used_is_told_with_its_row() -> None:
    rows = pa.table({"tx": ["1", "2", "9"], "ts": [1, 2, 1], "what": ["insert", "insert", "retract"]})
    words: dict[str, Any] = {"type": "TX", "time": "ts", "id": "tx", "change": "what", "time_unit": "us"}
    result = cedr.evaluate("EVENT Q WHEN ANY(TX AS a)", rows, bad_rows=1.0, **words)
    assert len(result) == 2
    (letter,) = result.dead_letters
    assert "row 3" in str(letter)
    streamed = cedr.evaluate("EVENT Q WHEN ANY(TX AS a)", rows, bad_rows=1.0, batch=1, **words).change_stream(untracked)
    assert "row 3" in str(streamed.dead_letters[0])


def test_changes_can_be_read_as_python_objects() -> None:
    """The last guarantee, that nothing more comes, is no timestamp."""
    changes = cedr.evaluate(PAIR, ROWS, **WORDS).changes().to_arrow().to_pylist()
    assert [row["Os"] for row in changes if row["change"] == "guarantee"][-1] is None
