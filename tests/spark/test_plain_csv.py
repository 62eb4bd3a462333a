"""Plain lines of CSV by the compiled loop, against Arrow's reader of the same lines.  Reading: R2."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cedr.spark.map_task.formats.csv_lines import CsvLines
from cedr.spark.map_task.formats.plain_csv import PlainCsv
from cedr.spark.map_task.formats.plain_csv_kernels import MOST_CODES

ARROW = {
    "kind": pa.string(),
    "n": pa.int64(),
    "small": pa.int8(),
    "f": pa.float64(),
    "ts": pa.timestamp("us"),
    "d": pa.date32(),
    "s": pa.string(),
}
TYPES = dict(zip(ARROW, ["string", "bigint", "tinyint", "double", "timestamp_ntz", "date", "string"], strict=True))

DIGITS = st.text("0123456789", min_size=1, max_size=20)
DATES = st.dates().map(str)
CLOCKS = st.times().map(str)
TIMES = st.builds("{}{}{}".format, DATES, st.sampled_from([" ", "T"]), CLOCKS)
REALS = st.builds("{}{}.{}".format, st.sampled_from(["", "-"]), DIGITS, DIGITS)
ODD = (
    *("", "-", ".", "5.", ".5", "1e5", "+1", " 1", "1 ", "nan", "-0", "-0.0", "0x1", "00012", '"1"', "ü", "x\ry"),
    *("128", "-128", "-129", "9223372036854775807", "9223372036854775808"),
    *("2026-02-29", "2024-02-29", "1900-02-29", "2000-02-29", "0000-01-01", "2026-13-01", "2026-1-1", "2026-01-01"),
    *("2026-01-01 24:00:00", "2026-01-01 23:59:60", "2026-01-01 00:00:00Z", "2026-01-01 00:00", "2026-01-01T10:20:30"),
    *("2026-01-01 00:00:00.", "2026-01-01 00:00:00.1234567"),
)
USUAL = {
    "kind": st.sampled_from(["INSTALL", "SHUTDOWN", ""]),
    "n": st.one_of(st.integers(-(2**63), 2**63 - 1).map(str), DIGITS),
    "small": st.integers(-140, 140).map(str),
    "f": st.one_of(REALS, DIGITS, st.floats(allow_nan=False, allow_infinity=False).map(str)),
    "ts": TIMES,
    "d": DATES,
    "s": st.text(st.characters(codec="utf-8", exclude_characters='\r\n",'), max_size=8),
}


def row(odd: int) -> st.SearchStrategy[str]:
    """A line of which about one value in ``odd`` is not as usual."""
    values = [
        st.integers(1, odd).flatmap(lambda n, of=of: st.sampled_from(ODD) if n == 1 else of) for of in USUAL.values()
    ]
    return st.tuples(*values).map(",".join)


LINES = st.integers(2, 400).flatmap(lambda odd: st.lists(st.one_of(row(odd), row(odd), st.just("")), max_size=6))


def by_arrow(lines: bytes) -> dict[str, Any] | None:
    reader = CsvLines(TYPES, ARROW, list(TYPES), (",", "UTC"))
    try:
        return dict(reader._by_arrow(lines))
    except ValueError:
        return None


def plain(lines: bytes, coded: str | None = "kind", names: list[str] | None = None, separator: str = ",") -> Any:
    reader = PlainCsv.fitting(TYPES, ARROW, names or list(TYPES), separator, coded)
    assert reader is not None
    return reader.read(lines)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from([None, "kind", "s", "n"]))
def test_what_is_read_is_what_arrow_reads(lines: list[str], end: str, last: bool, coded: str | None) -> None:
    data = (end.join(lines) + (end if last else "")).encode()
    found = plain(data, coded)
    if found is None:
        return
    expected = by_arrow(data) if data.strip() else {name: pa.array([], of) for name, of in ARROW.items()}
    assert expected is not None
    for name, column in found.items():
        column.validate(full=True)
        if pa.types.is_dictionary(column.type):
            assert name == coded
            column = column.dictionary_decode()
        assert column.type == ARROW[name]
        if pa.types.is_timestamp(column.type):
            expected[name] = expected[name].cast(column.type)
        assert column.equals(expected[name]), name


@given(st.lists(st.floats(-1e9, 1e9).map(lambda value: f"{value:.5f}"), min_size=1))
@example(["9007199254740993", "99999999999999.9", "0.00000000000001", "-0.0"])
def test_fractions_are_rounded_once(texts: list[str]) -> None:
    lines = "".join(f",,,{text},,,\n" for text in texts).encode()
    assert plain(lines)["f"].to_pylist() == [float(text) for text in texts]


@given(st.lists(st.tuples(*USUAL.values()), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_usual_values_are_plain(rows: list[tuple[str, ...]], end: str) -> None:
    """Otherwise nothing would be gained; but for letters beyond ASCII, and numbers of very many digits."""
    usual = [(kind, n[:18], "7", f"{float(f) % 1e6:.3f}", ts, d, s) for kind, n, _, f, ts, d, s in rows if s.isascii()]
    assert plain(end.join(map(",".join, usual)).encode()) is not None


@pytest.mark.parametrize("name", ["n", "small", "f", "ts", "d"])
def test_what_is_odd_is_read_as_arrow_reads_it_or_not_at_all(name: str) -> None:
    for value in ODD:
        line = ",".join(value if name == other else "" for other in TYPES).encode()
        found = plain(line + b"\n")
        if found is not None and line.strip(b","):
            expected = by_arrow(line)
            assert expected is not None, value
            assert found[name].equals(expected[name]), value


def test_columns_that_are_not_asked_for_or_not_there() -> None:
    """The first must be free of quotes all the same."""
    found = plain(b"x\xff;7;INSTALL\n;8;\n", names=["other", "n", "kind"], separator=";")
    assert {name: column.to_pylist() for name, column in found.items()} == {
        **{name: [None, None] for name in TYPES},
        "n": [7, 8],
        "kind": ["INSTALL", None],
    }
    assert plain(b'"x;7;INSTALL\n', names=["other", "n", "kind"], separator=";") is None


@pytest.mark.parametrize("count", [MOST_CODES, MOST_CODES + 1])
def test_a_column_of_many_texts_is_no_dictionary(count: int) -> None:
    lines = "".join(f"K{number % count},1,,,,,\n" for number in range(3 * count)).encode()
    assert (plain(lines) is not None) == (count == MOST_CODES)
    assert plain(lines, coded=None)["kind"].to_pylist() == [f"K{number % count}" for number in range(3 * count)]


@pytest.mark.parametrize(
    "line", [b"A,1", b"A,1,,,,,,x", b"A,1,,,,,x\ry", b"\rA,1,,,,,", b"A,,,,2026-01-01 00:00:0", b"A,,,,,2026-01-"]
)
def test_lines_that_are_too_short_or_too_long_are_left_to_others(line: bytes) -> None:
    assert plain(line) is None
    assert plain(b"A,1,,,,,\n" + line + b"\nA,1,,,,,\n") is None


@pytest.mark.parametrize(
    ("types", "names", "separator"),
    [({"b": "boolean"}, ["b"], ","), ({"n": "int"}, ["n", "n"], ","), ({"n": "int"}, ["n"], "-")],
)
def test_there_is_not_a_reader_for_everything(types: dict[str, str], names: list[str], separator: str) -> None:
    arrow = {name: pa.int32() for name in types}
    assert PlainCsv.fitting(types, arrow, names, separator) is None


def test_what_is_not_plain_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that others can read and the loop cannot: it is not asked again; lines that nobody can read are not."""
    asked = []
    read = PlainCsv.read
    monkeypatch.setattr(PlainCsv, "read", lambda self, lines: asked.append(lines) or read(self, lines))
    reader = CsvLines(TYPES, ARROW, list(TYPES), (",", "UTC"))
    with pytest.raises(ValueError, match="CSV conversion error"):
        reader.together(b"A,x,,,,,\n")
    assert reader.together(b"A,1,,,,,\n")["n"].to_pylist() == [1]
    assert reader.together(b'A,"2",,,,,\n')["n"].to_pylist() == [2]
    assert reader.together(b"A,3,,,,,\n")["n"].to_pylist() == [3]
    assert len(asked) == 3
