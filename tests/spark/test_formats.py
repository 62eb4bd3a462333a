"""Files that workers read, without a JVM: values as Spark takes them, parts of files, and what cannot be read.

Readings: R1, R2, R39, R41.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cedr.spark.layout.layout import FileForm
from cedr.spark.layout.read_faults import ReadFault
from cedr.spark.map_task.formats import lines, values
from cedr.spark.map_task.formats.lines import Part
from cedr.spark.map_task.formats.reader import Reader

TYPES = {"kind": "string", "id": "string", "ts": "timestamp", "n": "int", "f": "double", "b": "boolean", "d": "date"}
HEADER = {"type": "kind", "vs": "ts", "id": "id"}


def read(path: Path, parts: int = 1, types: dict[str, str] = TYPES, **form: Any) -> tuple[list[Any], list[ReadFault]]:
    """The rows and what is wrong, of all parts in turn."""
    given = {"name": path.suffixes[0][1:], "separator": ",", "head": False, "zone": "America/New_York", **form}
    reader = Reader(FileForm(types=types, header=HEADER, **given), list(types))
    rows: list[Any] = []
    wrong: list[ReadFault] = []
    for part in range(parts):
        for found in reader.read(Part(str(path), part, parts)):
            if isinstance(found, ReadFault):
                wrong.append(found)
            else:
                rows += (tuple(row.values()) for row in pa.table(dict(found)).to_pylist())
    return rows, wrong


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


MIDNIGHT = 1_767_243_600_000_000
"""The beginning of 2026 in New York."""


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("2026-01-01 00", MIDNIGHT),
        ("2026-01-01T00:00", MIDNIGHT),
        ("2026", MIDNIGHT),
        (" 2026-1-1 ", MIDNIGHT),
        ("2026-01-01 00:00:00.", MIDNIGHT),
        ("2026-01-01 00:00:00.1234567891", MIDNIGHT + 123_456),
        ("2026-01-01 1:2:3", MIDNIGHT + 3_723_000_000),
        ("2026-01-01T00:00:00Z", 1_767_225_600_000_000),
        ("2026-01-01 00:00:00 +0530", 1_767_205_800_000_000),
        ("2026-01-01T00:00:00+5:30", 1_767_205_800_000_000),
        ("2026-01-01 00:00:00 CET", 1_767_222_000_000_000),
        ("2026-01-01 00:00:00 UTC+1", 1_767_222_000_000_000),
        ("2026-03-08 02:30:00", 1_772_955_000_000_000),  # an hour that is left out
        ("2026-11-01 01:30:00", 1_793_511_000_000_000),  # an hour that is there twice
        ("2026-01-01T", None),
        ("2026-01-01 24:00:00", None),
        ("2026-01-01t00:00:00", None),
        ("20260101", None),
        ("2026-13-01", None),
        ("2026-01-01 00:00:00 Nowhere", None),
        ("", None),
    ],
)
def test_timestamps_are_sparks(text: str, micros: int | None) -> None:
    """R1.  The expected values were read by Spark from JSON; what it takes for NULL is refused."""
    for column in (pa.array([text]), pa.array([text, None, "2026-1-1 0:0:0 +1"])):
        if micros is None:
            with pytest.raises(ValueError, match=r"."):
                values.instants(column, "America/New_York")
        else:
            assert values.instants(column, "America/New_York")[0].value == micros


GOOD = [
    ("A", "1", datetime(2026, 1, 1, tzinfo=UTC), 5, 1.5, True, date(2026, 1, 1)),
    ("A", "2", datetime(2026, 1, 1, 5, tzinfo=UTC), None, float("inf"), None, date(2026, 1, 2)),
    (None, "3", None, None, None, None, None),
]


def test_json(tmp_path: Path) -> None:
    """Missing fields are NULL, others are passed by; what is no object on a line is told with file and line."""
    text = """{"kind": "A", "id": 1, "ts": "2026-01-01T00:00:00Z", "n": 5, "f": 1.5, "b": true, "d": "2026-01-01"}
{"d":"2026-1-2","ts":"2026-01-01 00:00:00","f":"Infinity","id":"2","kind":"A","more":{"x":[1,{}]}}

[{"id": "3"}]
{"id": "4", "n": 1.5}
{"id": "5"} {"id": "6"}
{"id": "7",
 "n": 8}
{"id": "9", "n": 3000000000}
{"id": {"x": 1}}
{"id": "10", "b": 1}
{"id": "\\ud83d"}
"""
    for ends in ("\n", "\r\n", "\r"):
        rows, wrong = read(put(tmp_path / "x.json", text.replace("\n", ends)))
        assert rows == GOOD
        places = [letter.place.rpartition("/")[2] for letter in wrong]
        assert places == [f"x.json, line {number}," for number in range(5, 13)]
    assert {letter.code for letter in wrong} == {"unreadable-line"}
    assert 'line 5, cannot be read: field "n": "1.5" is not a whole number' in wrong[0].reason
    assert wrong[1].message == '{"id": "5"} {"id": "6"}'


def test_csv(tmp_path: Path) -> None:
    """A record ends where its line does; what Spark would take for NULL is told with file and line."""
    text = """A,1,2026-01-01T00:00:00Z,5,1.5,true,2026-01-01
A,"2",2026-01-01 00:00:00,,Inf,,2026-1-2

"",3,,"",,,
A,4,nope,,,,
A,5,,x,,,
A,"6
7",,,,,
A,8
A,"9"x,,,,,
A,10,,,,1,
"""
    for ends in ("\n", "\r\n", "\r"):
        rows, wrong = read(put(tmp_path / "x.csv", text.replace("\n", ends)))
        assert rows == GOOD
        assert [letter.place.rpartition(" ")[2] for letter in wrong] == [f"{number}," for number in range(5, 12)]
    quoted = 'kind,id,ts,n,f,b,d\nA,"say ""hi"", twice",2026-01-01T00:00:00Z,5,1.5,true,2026-01-01\n'
    (row,), wrong = read(put(tmp_path / "y.csv", quoted), head=True)
    assert row == ("A", 'say "hi", twice', *GOOD[0][2:])
    assert not wrong
    other = put(tmp_path / "z.csv", "id;kind;n;f;b;d;ts\n1;A;5;1.5;TRUE;2026-01-01;2025-12-31 19:00:00")
    assert read(other, head=True, separator=";") == (GOOD[:1], [])
    _, (letter,) = read(put(tmp_path / "w.csv", "kind,id\nA,1\n"), 3, head=True)
    assert letter.reason.endswith('w.csv cannot be read: there is no column "ts"')
    _, (letter,) = read(put(tmp_path / "v.csv", b"\xff,id\nA,1\n"), 3, head=True)
    assert letter.code == "unreadable-file"
    rows, wrong = read(put(tmp_path / "u.csv", "ts,id,kind,more,f\n,1,A,x,1_0\n,3,,,\n"), head=True)
    assert rows == GOOD[2:]
    assert [letter.detail for letter in wrong] == ['column "f": "1_0" is not a number']


def some_lines(form: str, random: random.Random, count: int) -> Iterator[str]:
    """Lines of odd lengths, most of them good."""
    for number in range(count):
        text = random.choice("xü") * random.randrange(0, 40)
        good = f"A,{number},{text}" if form == "csv" else json.dumps({"kind": "A", "id": str(number), "s": text})
        yield good if random.random() < 0.9 else random.choice(["", "  ", "bad", good + good, '"'])


@pytest.mark.parametrize("form", ["csv", "json"])
def test_parts_have_each_line_once(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the lengths of lines, blocks and parts; with and without a last line end, a mark, a head."""
    draw = random.Random(7)
    types = {"kind": "string", "id": "string", "s": "string"}
    for _ in range(60):
        end = draw.choice(["\n", "\r\n"])
        head = ["kind,id,s"] if form == "csv" else []
        text = end.join([*head, *some_lines(form, draw, draw.randrange(0, 40))]) + draw.choice(["", end])
        path = put(tmp_path / f"x.{form}", draw.choice([b"", b"\xef\xbb\xbf"]) + text.encode())
        how: dict[str, Any] = {"types": types, "head": bool(head), "zone": "UTC"}
        monkeypatch.setattr(lines, "_BLOCK", 1 << 20)
        monkeypatch.setattr("tests.spark.test_formats.HEADER", {"type": "kind", "vs": "kind", "id": "id"})
        whole = read(path, **how)
        assert len(whole[0]) + len(whole[1]) <= len(text.splitlines())
        packed = put(tmp_path / f"y.{form}.gz", gzip.compress(path.read_bytes()))
        assert read(packed, 3, **how)[0] == whole[0]
        for parts in (1, 2, 3, 7):
            monkeypatch.setattr(lines, "_BLOCK", draw.choice([1, 7, 60, 1000]))
            monkeypatch.setattr(lines, "_FEW", draw.choice([0, 2, 64]))
            assert read(path, parts, **how) == whole


def test_empty_files_and_packed_ones_that_are_cut(tmp_path: Path) -> None:
    for name in ("x.csv", "x.json"):
        assert read(put(tmp_path / name, ""), 3) == ([], [])
    assert read(put(tmp_path / "h.csv", ""), 2, head=True) == ([], [])
    cut = put(tmp_path / "x.json.gz", gzip.compress(b'{"id": "1"}\n' * 50)[:-9])
    _, (letter,) = read(cut)
    assert letter.code == "unreadable-file"
    with pytest.raises(FileNotFoundError):  # the fault of nobody's file: no dead letter
        read(tmp_path / "none.json")


# -- Parquet ----------------------------------------------------------------------------------------------------------


def table(**columns: Any) -> pa.Table:
    whole = {"kind": ["A"] * 5, "id": list("12345"), "ts": pa.array(range(5), pa.timestamp("us")), "n": range(5)}
    return pa.table({**whole, **columns})


PLAIN = {"kind": "string", "id": "string", "ts": "timestamp", "n": "int"}


def written(path: Path, **columns: Any) -> Path:
    pq.write_table(table(**columns), path, row_group_size=2)
    return path


def test_parquet_by_row_groups(tmp_path: Path) -> None:
    whole = read(written(tmp_path / "x.parquet"), types=PLAIN)
    assert [row[1] for row in whole[0]] == list("12345")
    for parts in (2, 3, 4, 9):
        assert read(tmp_path / "x.parquet", parts, types=PLAIN) == whole


def test_parquet_with_other_columns(tmp_path: Path) -> None:
    """What is missing is NULL; what is of another type is converted, row by row where some values do not fit."""
    expected, _ = read(written(tmp_path / "x.parquet"), types=PLAIN)
    others = {
        "large": {"kind": pa.array(["A"] * 5, pa.large_string()), "n": pa.array(range(5), pa.int8())},
        "encoded": {"id": pa.array(list("12345")).dictionary_encode()},
        "numbers": {"id": [1, 2, 3, 4, 5]},
        "texts": {"n": list("01234"), "ts": [f"1969-12-31 19:00:00.00000{n}" for n in range(5)]},
        "floats": {"n": [0.0, 1.0, 2.0, 3.0, 4.0]},
        "zoned": {"ts": pa.array(range(5), pa.timestamp("us")).cast(pa.timestamp("ns", "Asia/Tokyo"))},
    }
    for name, columns in others.items():
        assert read(written(tmp_path / f"{name}.parquet", **columns), types=PLAIN) == (expected, []), name
    pq.write_table(table().drop_columns("n").rename_columns(["KIND", "Id", "ts"]), tmp_path / "y.parquet")
    rows, _ = read(tmp_path / "y.parquet", types=PLAIN)
    assert rows == [(*row[:3], None) for row in expected]
    mixed = written(tmp_path / "mixed.parquet", n=["0", "x", "2", None, "4"])
    rows, (letter,) = read(mixed, types=PLAIN)
    assert [row[3] for row in rows] == [0, 2, None, 4]
    assert "row 2, cannot be read" in letter.reason
    assert "'x' is not of type int" in letter.reason


def test_parquet_that_cannot_be_read(tmp_path: Path) -> None:
    """File and column are named once, whatever the number of parts; whole row groups of a damaged file are used."""
    lists = written(tmp_path / "lists.parquet", n=[[1]] * 5)
    rows, (letter,) = read(lists, 3, types=PLAIN)
    assert not rows
    assert 'column "n" is list' in letter.reason
    pq.write_table(table().drop_columns("id"), tmp_path / "x.parquet")
    _, (letter,) = read(tmp_path / "x.parquet", 3, types=PLAIN)
    assert 'there is no column "id"' in letter.reason
    for content in (b"", b"PAR1 this is no Parquet file PAR1"):
        _, (letter,) = read(put(tmp_path / "y.parquet", content), 3, types=PLAIN)
        assert letter.code == "unreadable-file"
    damaged = written(tmp_path / "z.parquet", id=["1" * 50, "2" * 50, "3" * 50, "4" * 50, "5" * 50])
    place = pq.ParquetFile(damaged).metadata.row_group(1).column(1).data_page_offset
    content = damaged.read_bytes()
    put(damaged, content[: place + 4] + b"\xff" * 20 + content[place + 24 :])
    rows, (letter,) = read(damaged, 2, types=PLAIN)
    assert [row[1][0] for row in rows] == ["1", "2", "5"]
    assert "row group 2, from row 3 on" in letter.reason
