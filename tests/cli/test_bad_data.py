"""Bad data for ``cedr eval --events``: each a clear error, exit status 2, or a line for each reason and the rest used.

The golden file of a case has what the command printed, so that every message is read by whoever changes it.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from typer.testing import CliRunner

from cedr.cli.main import app

QUERY = """EVENT Pair
WHEN SEQUENCE(TX AS a, TX AS b, 5 minutes)
WHERE CorrelationKey(card, EQUAL)
OUTPUT a.card AS card, a.amount + b.amount AS amount
"""
HEAD = "tx,ts,card,amount"
LINES = [f"{n},2026-01-01 00:00:{n:02d},{'ab'[n % 2]},{n}.5" for n in range(30)]
CSV = "\n".join([HEAD, *LINES]) + "\n"
WORDS = "--type TX --time ts --id tx"


def changed(at: int, line: str) -> str:
    return "\n".join([HEAD, *LINES[:at], line, *LINES[at + 1 :]]) + "\n"


def table(**columns: object) -> pa.Table:
    n = 30
    plain = {
        "tx": pa.array(range(n)),
        "ts": pa.array(range(n), pa.timestamp("s", "UTC")),
        "card": pa.array(["a"] * n),
        "amount": pa.array([1.5] * n),
    }
    return pa.table({**plain, **columns})


def parquet(made: pa.Table) -> Callable[[Path], None]:
    return lambda path: pa_parquet.write_table(made, path)


Content = str | bytes | Callable[[Path], None]

CASES: dict[str, tuple[str, Content, str]] = {
    # the file
    "an Excel workbook": ("tx.xlsx", b"PK\x03\x04 and so on", WORDS),
    "an old Excel workbook": ("tx.xls", b"\xd0\xcf\x11\xe0 and so on", WORDS),
    "a PDF": ("tx.pdf", b"%PDF-1.7", WORDS),
    "bytes of no kind": ("tx.dat", bytes(range(256)), WORDS),
    "a broken Parquet file": ("tx.parquet", b"PAR1 and then nothing", WORDS),
    "an empty Parquet file": ("tx.parquet", b"", WORDS),
    "half a gzip": ("tx.csv.gz", gzip.compress(CSV.encode() * 100)[:200], WORDS),
    "a JSON array": ("tx.json", '[{"tx": 1}]', WORDS),
    "UTF-16": ("tx.csv", CSV.encode("utf-16"), WORDS),
    "Latin-1": ("tx.csv", CSV.replace(",a,", ",ä,").encode("latin-1"), WORDS),
    "an unknown encoding": ("tx.csv", CSV, f"{WORDS} --encoding klingon"),
    "an unknown format": ("tx.csv", CSV, f"{WORDS} --format xml"),
    "no such file": ("other.csv", CSV, WORDS),
    "an empty file": ("tx.csv", "", WORDS),
    "names and no rows": ("tx.csv", f"{HEAD}\n", WORDS),
    "two columns of one name": ("tx.csv", CSV.replace("card", "ts"), WORDS),
    "a quote that never ends": ("tx.csv", changed(3, '3,2026-01-01 00:00:03,"a,3.5'), WORDS),
    "JSON that is no objects": ("tx.jsonl", "1\n2\n3\n", WORDS),
    "messages that need no words": ("tx.jsonl", '{"insert": {"type": "TX", "id": "1", "vs": 1}}\n', WORDS),
    # the words
    "no type": ("tx.csv", CSV, "--time ts --id tx"),
    "no time": ("tx.csv", CSV, "--type TX"),
    "a time column that is not there": ("tx.csv", CSV, "--type TX --time when"),
    "an ID column that is not there": ("tx.csv", CSV, "--type TX --time ts --id nr"),
    "a type that the query does not read": ("tx.csv", CSV, "--type PAYMENT --time ts --id tx"),
    "a unit that does not exist": ("tx.csv", CSV, f"{WORDS} --time-unit minutes"),
    "a zone that does not exist": ("tx.csv", CSV, f"{WORDS} --zone Mars/Olympus"),
    "a disorder that is no duration": ("tx.csv", CSV, f"{WORDS} --disorder soon"),
    "a separator of two characters": ("tx.csv", CSV, f"{WORDS} --separator ;;"),
    "an attribute that is not there": ("tx.csv", CSV, f"{WORDS} --attributes card,iban"),
    "a float as ID": ("tx.parquet", parquet(table(tx=pa.array([n + 0.5 for n in range(30)]))), WORDS),
    "a boolean as time": ("tx.parquet", parquet(table(ts=pa.array([True] * 30))), WORDS),
    "a list as type": ("tx.parquet", parquet(table(kind=pa.array([["TX"]] * 30))), "--type kind --time ts --id tx"),
    "texts that are no times": ("tx.csv", CSV, "--type TX --time card --id tx"),
    "the query's column is missing": ("tx.csv", CSV.replace("amount", "sum"), WORDS),
    "numbers that are texts": ("tx.csv", CSV.replace(".5", " EUR"), WORDS),
    # some rows
    "a number column with one abc": ("tx.csv", changed(7, "7,2026-01-01 00:00:07,a,abc"), WORDS),
    "a time that is none": ("tx.csv", changed(7, "7,yesterday,a,7.5"), WORDS),
    "a row without time": ("tx.csv", changed(7, "7,,a,7.5"), WORDS),
    "a row without ID": ("tx.csv", changed(7, ",2026-01-01 00:00:07,a,7.5"), WORDS),
    "too many values": ("tx.csv", changed(7, "7,2026-01-01 00:00:07,a,7,5"), WORDS),
    "an ID twice with another amount": ("tx.csv", changed(7, "6,2026-01-01 00:00:06,a,99"), WORDS),
    "an ID twice with another time": ("tx.csv", changed(7, "6,2026-01-01 00:00:07,a,6.5"), WORDS),
    "four in thirty are broken": ("tx.csv", CSV.replace("2026-01-01 00:00:1", "soon ", 4), WORDS),
    "four in thirty are allowed": ("tx.csv", CSV.replace("2026-01-01 00:00:1", "soon ", 4), f"{WORDS} --bad-rows 0.2"),
    "nanoseconds": ("tx.csv", changed(7, "7,2026-01-01 00:00:07.000000001,a,7.5"), WORDS),
    "nanoseconds cut off": ("tx.csv", changed(7, "7,2026-01-01 00:00:07.000000001,a,7.5"), f"{WORDS} --truncate"),
    "mixed zones": ("tx.csv", changed(7, "7,2026-01-01 02:00:07+02:00,b,7.5"), WORDS),
    "one broken line of JSON": (
        "tx.jsonl",
        "".join(f'{{"tx": {n}, "ts": "2026-01-01 00:00:{n:02d}", "card": "a", "amount": {n}}}\n' for n in range(20))
        + '{"tx": 21,\n',
        WORDS,
    ),
    # right, and to be read all the same
    "a mark, semicolons and lines as on Windows": (
        "tx.csv",
        "\ufeff" + CSV.replace(",", ";").replace("\n", "\r\n"),
        WORDS,
    ),
    "quotes over lines": ("tx.csv", changed(7, '7,2026-01-01 00:00:07,"b",7.5').replace(",a,", ',"a\nA",'), WORDS),
    "a gzip": ("tx.csv.gz", gzip.compress(CSV.encode()), WORDS),
    "seconds that tie": ("tx.csv", CSV.replace("00:00:0", "00:00:1"), WORDS),
    "a level without guarantees": ("tx.csv", CSV, f"{WORDS} --changes --consistency STRONG"),
    "later than declared": ("tx.csv", changed(29, "29,2025-12-31 00:00:00,a,1.5"), f"{WORDS} --disorder 60s --limit 0"),
}


OF_THE_QUERY = ("the query's column is missing", "numbers that are texts")
"""Cases in which the data is read, and the query does not fit it."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.cedr").write_text(QUERY)
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_what_a_user_sees(folder: Path, name: str, golden: Callable[[Path, str], None]) -> None:
    file, content, words = CASES[name]
    if callable(content):
        content(folder / file)
    else:
        (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
    given = "tx.csv" if name == "no such file" else file
    done = CliRunner().invoke(app, ["eval", "pair.cedr", "--events", given, "--limit", "2", *words.split()])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "Traceback" not in done.stderr + done.stdout
    assert "internal" not in done.stderr
    assert done.exit_code in ((1,) if name in OF_THE_QUERY else (0, 2))
    assert done.exit_code == 0 or done.stdout == ""
    command = f"$ cedr eval pair.cedr --events {given} {words}\n"
    shown = f"{command}{done.stdout}--- standard error\n{done.stderr}--- exit status {done.exit_code}\n"
    golden(Path(__file__).parent / "bad_data" / f"{name.replace(' ', '-')}.txt", shown)


@pytest.mark.parametrize("word", ["END", "ORDER", "FIRST"])
def test_a_type_may_be_called_as_a_keyword_is(folder: Path, word: str) -> None:
    """R47"""
    (folder / "tx.csv").write_text(CSV)
    (folder / "q.cedr").write_text(QUERY.replace("TX", word))
    done = CliRunner().invoke(app, ["eval", "q.cedr", "--events", "tx.csv", *WORDS.replace("TX", word).split()])
    assert (done.exit_code, done.stdout.startswith("Pair: ")) == (0, True)


@pytest.mark.parametrize(
    ("content", "more"),
    [
        (CSV, ()),
        (CSV, ("--format", "csv")),
        (CSV.replace(",", ";"), ()),
        ('{"tx": 1, "ts": "2026-01-01 00:00:00", "card": "a", "amount": 1}\n' * 2, ()),
    ],
    ids=["CSV", "named CSV", "semicolons", "JSON"],
)
def test_data_comes_from_standard_input(content: str, more: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, ["eval", "pair.cedr", "--events", "-", *WORDS.split(), *more], input=content)
    assert (done.exit_code, done.stdout.startswith("Pair: ")) == (0, True), done.stderr


def test_a_folder_without_files(folder: Path) -> None:
    (folder / "data").mkdir()
    done = CliRunner().invoke(app, ["eval", "pair.cedr", "--events", "data", *WORDS.split()])
    assert (done.exit_code, done.stderr) == (2, 'error[no-files]: the folder "data" has no files in it\n')


def test_no_data_at_all() -> None:
    done = CliRunner().invoke(app, ["eval", "pair.cedr"])
    assert (done.exit_code, done.stderr.startswith("error[no-data]: no data is named\n")) == (2, True)


def test_a_wrong_name_for_the_output_is_told_before_anything_is_read() -> None:
    done = CliRunner().invoke(app, ["eval", "pair.cedr", "--events", "not there.csv", "--output", "found.xlsx"])
    assert done.exit_code == 2
    assert done.stderr.startswith('error[unknown-format]: the name "found.xlsx" does not say its format\n')
