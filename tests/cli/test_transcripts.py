"""What each command prints, to the letter: golden transcripts of commands on the files of ``examples/``."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cedr
from cedr.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "transcripts"

WRONG_QUERY = """\
TYPE INSTALL (Machine_Id STRING);
EVENT Wrong WHEN SEQUENCE(INSTALL x, SHUTDOWN AS y, 12 hours) WHERE {x.Machine = z.Machine_Id}
"""
WRONG_MESSAGES = """\
{"insert": {"type": "INSTALL", "id": "i1", "vs": 1, "payload": {"Machine_Id": "m1"}}}
{"insert": {"type": "SHUTDOWN", "id": "s1", "vs": 5, "ve": 2, "payload": {"Machine_Id": "m1"}}}
{"insert": {"type": "SHUTDOWN", "id": "s2", "vs": 92233720368547758070}}
{"insert": {"type": "SHUTDOWN", "id": "s3", "when": 5}}
{"insert": {"type": "SHUTDOWN", "id": "s4", "vs": 7, "payload": {"Machine_Id": "m1"}}
{"retract": {"k": "never", "oe": 3}}
{"guarantee": 9}
{"insert": {"type": "SHUTDOWN", "id": "s5", "vs": 8, "payload": {"Machine_Id": "m1"}}}
{"insert": {"type": "SHUTDOWN", "id": "s6", "vs": 10, "payload": {"Machine_Id": "m1"}}}
"""

SUBSCRIBED = {
    "subscribed.csv": "ops,SHUTDOWN,Machine_Id LIKE 'BARGA%'\nall,INSTALL,TRUE\n",
    "failing.csv": "ops,SHUTDOWN,BROKEN_FOR_TRANSCRIPTS(Machine_Id)\nall,INSTALL,Machine_Id = 'BARGA_XP03'\n",
    "unfit.csv": "ops,SHUTDOWN,Machine = 'x'\nall,INSTAL,TRUE\n",
    "twice.csv": "ops,SHUTDOWN,TRUE\nops,INSTALL,TRUE\n",
}


def broken_for_transcripts(values: object) -> object:
    """Raises."""
    message = "no idea" if values is not None else ""
    raise ValueError(message)


TRANSCRIPTS = {
    "help": "cedr --help",
    "check": "cedr check machines.cedr fire.cedr trades.cedr coupons.cedr mail.cedr",
    "check-wrong": "cedr check wrong.cedr machines.cedr",
    "check-wrong-json": "cedr check --json wrong.cedr",
    "check-undeclared": "cedr check bare.cedr",
    "check-catalog": "cedr check bare.cedr --catalog machines.cedr",
    "check-missing": "cedr check nowhere.cedr",
    "explain": "cedr explain machines.cedr --event CIDR07_Example --consistency STRONG",
    "explain-catalog": "cedr explain desk.cedr mail.cedr --format text",
    "explain-mermaid": "cedr explain coupons.cedr mail.cedr --format mermaid --draw graph.svg",
    "explain-graph-json": "cedr explain mail.cedr --format json",
    "explain-unknown-format": "cedr explain mail.cedr --format dot",
    "explain-twice": "cedr explain mail.cedr mail.cedr",
    "eval": "cedr eval machines.cedr --messages machines.jsonl --event CIDR07_Example",
    "eval-json": "cedr eval machines.cedr --messages machines.jsonl --json",
    "eval-aggregate-json": "cedr eval trades.cedr --messages trades.jsonl --event MovingAverage --json",
    "eval-beliefs": "cedr eval coupons.cedr --messages coupons.jsonl",
    "eval-changes": "cedr eval trades.cedr --messages trades.jsonl --changes",
    "eval-changes-json": "cedr eval trades.cedr --messages trades.jsonl --changes --json",
    "eval-changes-strong": "cedr eval mail.cedr --messages mail.jsonl --changes --json --consistency STRONG",
    "eval-dead-letters": "cedr eval bare.cedr --messages wrong.jsonl",
    "eval-dead-letters-strict": "cedr eval bare.cedr --messages wrong.jsonl --json --strict",
    "eval-unknown-event": "cedr eval machines.cedr --messages machines.jsonl --event Other",
    "eval-unknown-host": "cedr eval machines.cedr --messages machines.jsonl --host moon",
    "eval-unknown-level": "cedr eval machines.cedr --messages machines.jsonl --consistency BEST",
    "eval-local": "cedr eval mail.cedr --messages mail.jsonl --host local",
    "eval-local-changes": "cedr eval machines.cedr --messages machines.jsonl --host local --changes",
    "eval-local-aggregate": "cedr eval trades.cedr --messages trades.jsonl --host local",
    "eval-measures": "cedr eval mail.cedr --messages mail.jsonl --host oracle --consistency STRONG --measures",
    "eval-measures-json": "cedr eval mail.cedr --messages mail.jsonl --host oracle --json --measures",
    "trace": "cedr trace mail.cedr --messages mail.jsonl --host oracle --consistency STRONG --consistency MIDDLE",
    "trace-revisions": "cedr trace coupons.cedr --messages coupons.jsonl --host oracle",
    "trace-aggregate": "cedr trace trades.cedr --messages trades.jsonl --host oracle",
    "trace-json": "cedr trace mail.cedr --messages mail.jsonl --host oracle --json",
    "trace-dead-letters": "cedr trace bare.cedr --messages wrong.jsonl --host oracle",
    "check-order": "cedr check-order machines.cedr --messages machines.jsonl --runs 20 --host oracle",
    "check-order-dead-letters": "cedr check-order bare.cedr --messages wrong.jsonl --runs 5 --host oracle",
    "generate": "cedr generate --events 12 --machines 3 --late .3 --twice .2 --corrected .2 --retracted .2 --lost .1",
    "generate-types": "cedr generate --types --corrected 0.1",
    "generate-help": "cedr generate --help",
    "generate-wrong": "cedr generate --late 2",
    "generate-folder": "cedr generate out/ --events 5000 --per-file 1000 --format parquet --late 0.1 --guarantees 1h",
    "generate-no-format": "cedr generate events.txt",
    "demo-help": "cedr demo --help",
    "route": "cedr route subscribed.csv --messages machines.jsonl",
    "route-json": "cedr route subscribed.csv --messages machines.jsonl --json --limit 2",
    "route-failed": "cedr route failing.csv --messages machines.jsonl --strict",
    "route-wrong": "cedr route unfit.csv --messages machines.jsonl",
    "route-twice": "cedr route twice.csv --messages machines.jsonl",
    "route-no-data": "cedr route subscribed.csv",
}


@pytest.mark.usefixtures("declarations_taken_back")
@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcript(
    name: str, golden: Callable[[Path, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cedr.function("STRING", returns="BOOLEAN")(broken_for_transcripts)
    for path in (ROOT / "examples").iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    (tmp_path / "wrong.cedr").write_text(WRONG_QUERY)
    (tmp_path / "wrong.jsonl").write_text(WRONG_MESSAGES)
    (tmp_path / "bare.cedr").write_text(
        "EVENT Pair WHEN SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 12 hours)\nWHERE CorrelationKey(Machine_Id, EQUAL)\n"
    )
    for file, text in SUBSCRIBED.items():
        (tmp_path / file).write_text(f"id,type,where\n{text}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    command = TRANSCRIPTS[name]
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    printed = "".join(
        [f"$ {command}\n", done.stdout, f"--- standard error\n{done.stderr}" if done.stderr else ""]
    ).rstrip("\n")
    golden(GOLDEN / f"{name}.txt", f"{printed}\n--- exit status {done.exit_code}\n")
