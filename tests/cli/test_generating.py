"""``cedr generate``: what it writes is what the other commands read, and what cannot be is refused in a sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Run

from cedr.cli.main import app
from cedr.connect.rows import Data, row_as_data
from cedr.hosts.host import said_by
from cedr.hosts.result import Result
from cedr.hosts.run import evaluate
from cedr.model.event import Event
from cedr.model.time import FOREVER
from cedr.semantics.evaluate import latest
from tests.terminal import on_terminal

QUERY = """
EVENT Alert
WHEN UNLESS(SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 12 hours), RESTART AS z, 5 minutes)
WHERE CorrelationKey(Machine_Id, EQUAL)
OUTPUT x.Machine_Id AS machine, y.Load AS load
"""
IN_ORDER = ("--events", "300", "--machines", "30", "--seed", "8")
DISORDER = [
    "--late",
    "0.3",
    "--delay",
    "2h",
    "--lost",
    "0.1",
    "--twice",
    "0.1",
    "--corrected",
    "0.1",
    "--retracted",
    "0.1",
    "--within",
    "30min",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cedr(*arguments: str) -> Run:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "internal" not in done.stderr
    return done


def generated(folder: Path, *options: str, declared: bool = True) -> int:
    """Makes m.jsonl and q.cedr; how many dead letters are to be expected."""
    done = cedr("generate", "m.jsonl", *options)
    assert done.exit_code == 0, done.stderr
    types = cedr("generate", "--types", *options).stdout if declared else ""
    (folder / "q.cedr").write_text(types + QUERY)
    counts = [part for part in done.stderr.split(", ") if part.endswith("retracted without ever arriving")]
    return int(counts[0].split()[0]) if counts else 0


def meant() -> Result:
    """What the oracle makes of it."""
    return evaluate("q.cedr", "m.jsonl", host="oracle")


def said_at(level: str) -> tuple[list[Data], int]:
    """What the columnar runtime has said in the end, message by message, and the number of dead letters."""
    result = evaluate("q.cedr", "m.jsonl", host="local", consistency=level)
    stream = result.change_stream(lambda items, _: items)
    return by_id(latest(said_by(stream.changes, FOREVER)), result), len(stream.dead_letters)


def by_id(rows: Iterable[Event], result: Result) -> list[Data]:
    return sorted((row_as_data(row, result.primitive) for row in rows), key=lambda row: row["id"])


@pytest.mark.slow
@pytest.mark.parametrize("level", ["STRONG", "MIDDLE", "BLOCKING 1 hour MEMORY FOREVER", "BLOCKING 0 MEMORY 30 hours"])
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "inferred"])
def test_all_levels_end_at_the_oracles_rows(folder: Path, level: str, declared: bool) -> None:
    """R35: with memory that reaches far enough no disorder is seen in the end."""
    expected = generated(folder, *IN_ORDER, *DISORDER, declared=declared)
    truth = meant()
    assert expected > 0
    assert len(truth.dead_letters) == expected
    assert {letter.code for letter in truth.dead_letters} == {"retraction-without-insert"}
    assert len(truth.rows) > 80
    assert said_at(level) == (by_id(truth.rows, truth), expected)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["STRONG", "MIDDLE", "WEAK"])
def test_in_order_all_levels_are_one(folder: Path, level: str) -> None:
    assert generated(folder, *IN_ORDER) == 0
    truth = meant()
    assert said_at(level) == (by_id(truth.rows, truth), 0)


def test_the_command_eval_reads_it_and_the_levels_agree(folder: Path) -> None:
    expected = generated(folder, *IN_ORDER, *DISORDER)
    done = [
        cedr("eval", "q.cedr", "--messages", "m.jsonl", "--json", *options)
        for options in (("--host", "oracle"), ("--host", "local"), ("--host", "local", "--consistency", "STRONG"))
    ]
    assert {each.exit_code for each in done} == {0}
    assert len(done[0].stdout.splitlines()) > 80
    assert done[0].stdout == done[1].stdout == done[2].stdout
    assert all(each.stderr.endswith(f"\n{expected} dead letters\n") for each in done)


def test_the_types_that_suit_are_printed() -> None:
    plain = cedr("generate", "--types")
    assert plain.stdout.splitlines()[1] == "TYPE SHUTDOWN (Machine_Id STRING, Load FLOAT);"
    corrected = cedr("generate", "--types", "--corrected", "0.1", "--within", "2 hours")
    assert corrected.stdout.splitlines()[1] == (
        "TYPE SHUTDOWN (Machine_Id STRING, Load FLOAT) REVISABLE FOR 121 minutes;"
    )


def test_lines_go_to_standard_output_and_the_count_beside_them() -> None:
    done = cedr("generate", "--events", "20", "--seed", "1")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [next(iter(line)) for line in lines] == ["insert"] * 20 + ["guarantee"]
    assert done.stderr == "20 events, 21 messages: 1 guarantee\n"


def test_a_folder_gets_files(folder: Path) -> None:
    done = cedr(
        "generate", "stream/", "--events", "100", "--per-file", "40", "--format", "csv", "--guarantees", "6 hours"
    )
    assert done.stderr == "stream: 3 files, 100 events, 104 messages: 4 guarantees\n"
    assert sorted(path.name for path in (folder / "stream").iterdir()) == [
        f"part-00000{number}.csv" for number in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--events", "0"), "error[bad-count]: events must be from 1 to 1,000,000,000, not 0"),
        (("--machines", "-3"), "error[bad-count]: machines must be from 1 to 1,000,000,000, not -3"),
        (("--late", "1.5"), 'error[bad-share]: "late" must be a share from 0 to 1, not 1.5'),
        (("--corrected", ".6", "--retracted", ".6"), 'error[bad-share]: "corrected" and "retracted" are shares of the'),
        (("--delay", "soon"), 'error[bad-duration]: --delay: "soon" is not a duration'),
        (("--delay", "12"), 'error[bad-duration]: --delay: "12" is not a duration'),
        (("--span", "0 hours"), "error[bad-duration]: start and span must lie well within"),
        (("--guarantees", "0s"), 'error[bad-duration]: "guarantees" must be longer than nothing'),
        (("--start", "today"), "error[bad-start]: --start: a string, 'today', is no ISO timestamp"),
        (("--corrects", "Weight"), 'error[unknown-correction]: "Weight" cannot be corrected'),
        (("--pace", "0"), "error[bad-pace]: the pace must be more than nothing, not 0"),
        (("m.csv", "--pace", "5"), "error[bad-pace]: a single file is there once it is whole"),
        (("m.xlsx",), 'error[unknown-format]: the name "m.xlsx" does not say its format'),
        (("m.csv", "--format", "xml"), 'error[unknown-format]: there is no format "xml"'),
        (("--format", "csv"), "error[unknown-format]: standard output takes lines of JSON"),
        (("f/", "--per-file", "0"), "error[bad-count]: a file must hold at least one message, not 0"),
        (("taken.csv",), 'error[already-there]: "taken.csv" is already there'),
        (("no/where.csv",), 'error[cannot-write]: cannot write "no/where.csv": no such file or directory'),
        (("--events", "many"), "Error: Invalid value for '--events'"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_exit_status_2(folder: Path, options: tuple[str, ...], message: str) -> None:
    (folder / "taken.csv").write_text("mine")
    done = cedr("generate", *options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert [path.name for path in folder.iterdir() if path.is_file()] == ["taken.csv"]
    assert (folder / "taken.csv").read_text() == "mine"


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m cedr.cli.main generate --events 100000 | head -n 1 | wc -l"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=False, timeout=120)
    assert (done.stdout.split(), done.stderr) == ([b"1"], b"")


def test_long_work_shows_a_bar_on_a_terminal(folder: Path) -> None:
    command = [sys.executable, "-m", "cedr.cli.main", "generate", "m.parquet", "--events", "600000"]
    status, printed = on_terminal(command, folder, columns=80, errors_only=True)
    assert status == 0
    assert "generating" in printed
    assert "600,000 events" in printed
