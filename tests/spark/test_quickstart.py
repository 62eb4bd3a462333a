"""The card example of the quickstart: the command line, pandas and Spark give the same rows."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

import cedr

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COLUMNS = ["id", "Vs", "Ve", "card", "first", "second", "amount"]
Rows = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file as the quickstart makes it: late, doubled and broken rows among 20,000."""
    path = tmp_path_factory.mktemp("cards") / "cards.csv"
    subprocess.run([sys.executable, EXAMPLES / "cards.py", path, "--rows", "20000"], check=True)
    return path


@pytest.fixture(scope="module")
def by_pandas(cards: Path) -> Rows:
    found = cedr.evaluate(EXAMPLES / "fraud.cedr", pd.read_csv(cards), type="TX", time="ts", id="tx_id")
    assert sorted(letter.code for letter in found.summary or ()) == ["bad-time", "wrong-value"]
    assert len(found) > 100
    return in_order(found.to_pandas(COLUMNS).itertuples(index=False, name=None))


def in_order(rows: object) -> Rows:
    """Times in UTC, amounts in cents, in the order of IDs."""
    return sorted((*row[:1], *map(instant, row[1:3]), *row[3:-1], round(100 * row[-1])) for row in rows)  # type: ignore[attr-defined]


def instant(time: object) -> pd.Timestamp:
    return pd.to_datetime(time, utc=True)  # type: ignore[call-overload, no-any-return]


def test_the_command_line_gives_the_rows_of_pandas(cards: Path, by_pandas: Rows, tmp_path: Path) -> None:
    output = tmp_path / "found.csv"
    command = [Path(sys.executable).parent / "cedr", "eval", EXAMPLES / "fraud.cedr", "--events", cards]
    words = ["--type", "TX", "--time", "ts", "--id", "tx_id", "--output", output]
    subprocess.run([*command, *words], check=True, capture_output=True)
    with output.open(encoding="utf-8", newline="") as stream:
        rows = [tuple(row[name] for name in COLUMNS) for row in csv.DictReader(stream)]
    assert in_order((*row[:-1], float(row[-1])) for row in rows) == by_pandas


def test_spark_gives_the_rows_of_pandas(spark: SparkSession, cards: Path, by_pandas: Rows) -> None:
    schema = "tx_id string, ts timestamp, card string, amount double, country string"
    frame = spark.read.csv(str(cards), schema, header=True, mode="DROPMALFORMED")
    found = cedr.query((EXAMPLES / "fraud.cedr").read_text("utf-8"), cedr.events({"TX": frame}, time="ts", id="tx_id"))
    arrow = found.select(*COLUMNS).toArrow()
    rows = zip(*(arrow.column(name).to_pylist() for name in COLUMNS), strict=True)
    assert in_order(rows) == by_pandas
