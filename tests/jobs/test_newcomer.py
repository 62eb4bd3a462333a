"""The newcomer's path: a CSV of one's own, ``cedr new``, ``cedr run``, and a table in SQLite that is the oracle's."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tomllib
from datetime import datetime
from pathlib import Path

import pytest

import cedr
from tests.repo.files import ROOT

pytestmark = pytest.mark.slow
CARDS = ROOT / "examples" / "cards.py"


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "cedr.cli.main", *arguments]
    return subprocess.run(whole, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def cards(folder: Path, rows: int) -> None:
    subprocess.run([sys.executable, str(CARDS), "cards.csv", "--rows", str(rows)], cwd=folder, check=True, timeout=120)


def table(folder: Path) -> list[tuple[str, datetime]]:
    with sqlite3.connect(folder / "cards.db") as database:
        found = database.execute("SELECT tx_id, Vs FROM TwoCards").fetchall()
    database.close()
    return sorted((tx_id, datetime.fromisoformat(start)) for tx_id, start in found)


@pytest.mark.parametrize(
    ("rows", "host"),
    [
        (2_000, "oracle"),
        (200_000, "local"),  # the oracle is slow; the two hosts agree
    ],
)
def test_from_a_csv_to_a_view(rows: int, host: str, tmp_path: Path) -> None:
    cards(tmp_path, rows)
    done = command(tmp_path, "new", "cards.csv")
    assert done.returncode == 0, done.stderr
    done = command(tmp_path, "doctor", "cards.toml")
    assert (done.returncode, "missing" in done.stdout) == (0, False), done.stdout
    done = command(tmp_path, "run", "cards.toml")
    assert done.returncode == 0, done.stderr
    assert "ended; " in done.stderr
    job = tomllib.loads((tmp_path / "cards.toml").read_text())
    source = job["sources"]["cards"]
    words = {name: source[name] for name in ("type", "time", "id")}
    ideal = cedr.evaluate(job["queries"]["text"], tmp_path / "cards.csv", host=host, **words)
    found = ideal.to_arrow(["tx_id", "Vs"]).to_pylist()
    expected = sorted((row["tx_id"], row["Vs"]) for row in found)
    assert table(tmp_path) == expected
    assert len(expected) > rows / 200


def test_new_says_what_it_cannot_do(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("name,city\nA,Bari\nB,Bern\n")
    done = command(tmp_path, "new", "names.csv")
    assert done.returncode == 2
    assert "no column looks like the time of an event" in done.stderr
    (tmp_path / "ticks.jsonl").write_text('{"at": 3, "n": 1}\n{"at": 1, "n": 1}\n{"at": 9, "n": 2}\n')
    assert command(tmp_path, "new", "ticks.jsonl").returncode == 0
    again = command(tmp_path, "new", "ticks.jsonl")
    assert "already-there" in again.stderr
    done = command(tmp_path, "run", "ticks.toml")
    assert done.returncode == 0, done.stderr


def test_doctor_says_what_is_missing(tmp_path: Path) -> None:
    assert "extra kafka" in command(tmp_path, "doctor").stdout
    (tmp_path / "job.toml").write_text(
        '[sources.k]\nservers = "127.0.0.1:9"\ntopics = "t"\ntype = "A"\n'
        '[sources.f]\npath = "nowhere.csv"\ntype = "B"\n'
        '[queries]\ntext = "EVENT Q WHEN ANY(A AS a)"\n'
    )
    done = command(tmp_path, "doctor", "job.toml")
    assert done.returncode == 1
    assert "127.0.0.1:9: connection refused" in done.stdout
    assert "nowhere.csv" in done.stdout
