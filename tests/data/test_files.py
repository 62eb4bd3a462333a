"""Files of every format as columns, each row with its place."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from cedr.data.opening import origin_of
from cedr.data.origins import Origin, Raw
from cedr.data.words import words_of
from cedr.diagnostics.exceptions import StreamError


def origin(path: Any, **words: Any) -> Origin:
    return origin_of(path, words_of(words))


def everything(found: Origin) -> Raw:
    return found.read(found.names())


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


CSV = "ts,card,amount\n2026-01-01,a,1\n2026-01-02,,2\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", CSV, {}),
        ("a.csv", "\ufeff" + CSV, {}),
        ("a.csv", CSV.replace("\n", "\r\n"), {}),
        ("a.csv", CSV.replace(",", ";"), {}),
        ("a.csv", CSV.replace(",", "|"), {"separator": "|"}),
        ("a.tsv", CSV.replace(",", "\t"), {}),
        ("a.txt", CSV.replace(",", "\t"), {"separator": "tab"}),
        ("a.csv.gz", CSV, {}),
        ("a.gz", CSV, {}),
        ("data", CSV, {}),
        ("data", CSV, {"format": "csv"}),
        ("a.csv", CSV.encode("utf-16"), {"encoding": "utf-16"}),
        ("a.csv", CSV + "\n\n", {}),
    ],
)
def test_csv_is_read_however_it_is_written(
    tmp_path: Path, name: str, content: str | bytes, words: dict[str, Any]
) -> None:
    raw = everything(origin(write(tmp_path / name, content), **words))
    assert raw.table.to_pydict() == {"ts": ["2026-01-01", "2026-01-02"], "card": ["a", None], "amount": ["1", "2"]}
    assert (raw.rejected, raw.warnings) == ([], [])
    assert raw.places.of(1) == (str(tmp_path / name), 3)


def test_csv_without_names_has_numbered_columns(tmp_path: Path) -> None:
    found = origin(write(tmp_path / "a.csv", "1,x\n2,y\n"), header=False)
    assert everything(found).table.to_pydict() == {"column1": ["1", "2"], "column2": ["x", "y"]}
    assert everything(found).places.of(0)[1] == 1


def test_a_value_in_quotes_goes_on_over_lines_and_may_be_empty(tmp_path: Path) -> None:
    raw = everything(origin(write(tmp_path / "a.csv", 'a,b\n"x\ny","say ""so"""\n"",1\n')))
    assert raw.table.to_pydict() == {"a": ["x\ny", ""], "b": ['say "so"', "1"]}


def test_rows_with_too_many_or_too_few_values_are_told_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    raw = everything(origin(write(tmp_path / "a.csv", "a,b\n1,2\n1\n3,4\n5,6,7\n8,9\n")))
    assert raw.table.column("a").to_pylist() == ["1", "3", "8"]
    assert [(each.code, each.row) for each in raw.rejected] == [("bad-row", 3), ("bad-row", 5)]
    assert [raw.places.of(row)[1] for row in range(3)] == [2, 4, 6]


def test_a_value_longer_than_a_block_is_read(tmp_path: Path) -> None:
    long = "x" * (1 << 25)
    raw = everything(origin(write(tmp_path / "a.csv", f"a,b\n{long},1\n")))
    assert raw.table.column("a")[0].as_py() == long


def test_json_lines_have_the_types_of_their_values(tmp_path: Path) -> None:
    lines = '{"a": 1, "b": {"c": "x"}, "t": "2026-01-01 00:00:00"}\n{"a": 2.5, "d": [1]}\n'
    raw = everything(origin(write(tmp_path / "a.jsonl", lines)))
    assert raw.table.to_pylist() == [
        {"a": 1.0, "b": {"c": "x"}, "t": "2026-01-01 00:00:00", "d": None},
        {"a": 2.5, "b": None, "t": None, "d": [1]},
    ]


def test_a_broken_line_of_json_is_told_and_the_others_are_used(tmp_path: Path) -> None:
    lines = [f'{{"a": {number}}}' for number in range(300)]
    lines[77], lines[200] = "broken", '{"a": 1'
    raw = everything(origin(write(tmp_path / "a.jsonl", "\n".join(lines))))
    assert raw.table.num_rows == 298
    assert sorted(each.row for each in raw.rejected) == [78, 201]
    assert raw.places.of(raw.table.num_rows - 1)[1] == 300
    assert raw.places.of(77)[1] == 79


def test_one_text_among_numbers_is_a_fault_of_its_line(tmp_path: Path) -> None:
    lines = [f'{{"a": {number}}}' for number in range(100)]
    lines[50] = '{"a": "abc"}'
    raw = everything(origin(write(tmp_path / "a.jsonl", "\n".join(lines))))
    assert pa.types.is_integer(raw.table.schema.field("a").type)
    assert (raw.dropped, [each.row for each in raw.rejected]) == ((50,), [51])


def test_a_field_of_many_kinds_is_taken_as_text_with_a_warning(tmp_path: Path) -> None:
    raw = everything(origin(write(tmp_path / "a.jsonl", '{"a": 1}\n{"a": "x"}\n{"a": [2]}\n')))
    assert raw.table.column("a").to_pylist() == ["1", "x", "[2]"]
    assert [each.code for each in raw.warnings] == ["mixed-values"]


def test_blank_lines_and_a_mark_at_the_beginning_are_passed_by(tmp_path: Path) -> None:
    raw = everything(origin(write(tmp_path / "a.jsonl", '\ufeff{"a": 1}\n\n{"a": 2}\n\n')))
    assert raw.table.column("a").to_pylist() == [1, 2]
    assert [raw.places.of(row)[1] for row in range(2)] == [1, 3]


def parquet(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pa_parquet.write_table(pa.table(columns), path)
    return path


def test_parquet_is_read_by_columns_whatever_its_name(tmp_path: Path) -> None:
    found = origin(parquet(tmp_path / "data.bin", a=[1, 2], b=["x", "y"]))
    assert found.types() == {"a": pa.int64(), "b": pa.string()}
    assert found.read(["b"]).table.to_pydict() == {"b": ["x", "y"]}


def test_folders_and_patterns_are_read_in_the_order_of_names(tmp_path: Path) -> None:
    for day in (2, 1):
        parquet(tmp_path / "data" / f"day={day}" / "part.parquet", a=[day])
    write(tmp_path / "data" / "_SUCCESS", "")
    write(tmp_path / "data" / ".hidden.csv", "x")
    raw = everything(origin(tmp_path / "data"))
    assert raw.table.to_pydict() == {"a": [1, 2], "day": ["1", "2"]}
    assert everything(origin(str(tmp_path / "data" / "*" / "*.parquet"))).table.num_rows == 2


def test_a_column_that_some_files_lack_is_null_there_with_a_warning(tmp_path: Path) -> None:
    write(tmp_path / "d" / "a.csv", "a,b\n1,2\n")
    write(tmp_path / "d" / "b.csv", "a\n3\n")
    raw = everything(origin(tmp_path / "d"))
    assert raw.table.to_pydict() == {"a": ["1", "3"], "b": ["2", None]}
    assert [each.code for each in raw.warnings] == ["missing-column"]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.xlsx", b"PK\x03\x04rest", "unknown-format"),
        ("a.xls", b"\xd0\xcf\x11\xe0rest", "unknown-format"),
        ("a.avro", b"Obj\x01rest", "unknown-format"),
        ("a.parquet", b"", "broken-file"),
        ("a.parquet", b"PAR1 half", "broken-file"),
        ("a.bin", b"\x00\x01\x02", "unknown-format"),
        ("a.json", b'[{"a": 1}]', "unknown-format"),
        ("a.csv", b"a,a\n1,2\n", "bad-header"),
        ("a.csv", "a,b\nü,1\n".encode("latin-1"), "wrong-encoding"),
        ("a.csv", "a,b\n".encode("utf-16"), "wrong-encoding"),
        ("a.csv.gz", None, "broken-file"),
    ],
)
def test_what_is_no_data_is_an_error(tmp_path: Path, name: str, content: bytes | None, code: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)[:40] if content is None else content)
    with pytest.raises(StreamError) as raised:
        everything(origin(path))
    assert raised.value.diagnostics[0].code == code


def test_files_of_two_formats_are_not_one_source(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", CSV)
    write(tmp_path / "b.jsonl", "{}\n")
    with pytest.raises(StreamError, match="mixed-formats"):
        origin(tmp_path)


@pytest.mark.parametrize(("path", "code"), [("empty", "no-files"), ("x*.csv", "no-files"), ("no.csv", "cannot-read")])
def test_a_path_without_files_is_an_error(tmp_path: Path, path: str, code: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StreamError, match=code):
        origin(str(tmp_path / path))
