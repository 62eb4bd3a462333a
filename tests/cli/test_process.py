"""The installed command, as a process: start-up, pipes, terminals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal import on_terminal

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HEAVY = ("cedr.semantics", "cedr.testing", "cedr.connect.messages", "hypothesis", "rich", "numpy", "pyspark")


def cedr(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cedr.cli.main", *arguments]
    return subprocess.run(command, cwd=EXAMPLES, input=stdin, capture_output=True, check=False, timeout=120)


def imported(*arguments: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('\\n'.join(sys.modules), file=sys.stderr))\n"
        f"sys.argv = ['cedr', *{list(arguments)!r}]\n"
        "from cedr.cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=EXAMPLES, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return set(done.stderr.decode().split())


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("check", "machines.cedr"), ("explain", "machines.cedr", "--event", "SameByKey")],
    ids=lambda arguments: arguments[0],
)
def test_commands_that_need_no_engine_import_none(arguments: tuple[str, ...]) -> None:
    found = imported(*arguments)
    assert "cedr.cli.main" in found
    assert [name for name in sorted(found) if name.startswith(HEAVY)] == []
    if arguments[0].startswith("--"):
        assert "lark" not in found
        assert "cedr.language" not in found


def test_import_cedr_imports_nothing_else() -> None:
    code = "import cedr, sys; print([name for name in sys.modules if name.startswith('cedr.')])"
    assert subprocess.check_output([sys.executable, "-c", code], timeout=60).decode().strip() == "[]"


def test_json_lines_go_through_a_pipe() -> None:
    done = cedr("eval", "machines.cedr", "--messages", "machines.jsonl", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    rows = [json.loads(line) for line in done.stdout.decode().splitlines()]
    keys = ["id", "vs", "ve", "os", "oe", "rt", "contributors", "payload"]
    assert [list(row) for row in rows] == [keys, keys]
    assert [row["contributors"] for row in rows] == [["i1", "s1"], ["i2", "s2"]]


def test_queries_and_messages_come_from_standard_input() -> None:
    messages = (EXAMPLES / "machines.jsonl").read_bytes()
    from_stdin = cedr("eval", "machines.cedr", "--messages", "-", "--json", stdin=messages)
    assert from_stdin.stdout == cedr("eval", "machines.cedr", "--messages", "machines.jsonl", "--json").stdout
    assert cedr("check", "-", stdin=(EXAMPLES / "fire.cedr").read_bytes()).returncode == 0


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m cedr.cli.main eval machines.cedr --messages machines.jsonl --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], cwd=EXAMPLES, capture_output=True, check=False, timeout=120)
    assert (done.stdout, done.stderr) == (b"{", b"")


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_symbols_survive_any_locale(locale: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cedr.cli.main", "eval", "coupons.cedr", "--messages", "coupons.jsonl"],
        cwd=EXAMPLES,
        env={**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0
    assert "∞" in done.stdout.decode("utf-8")


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["demo", "--host", "local", "--verbose"], marks=pytest.mark.slow),
        ["eval", "trades.cedr", "--messages", "trades.jsonl", "--changes"],
        ["trace", "trades.cedr", "--messages", "trades.jsonl"],
    ],
    ids=lambda command: command[0],
)
def test_a_terminal_gets_a_drawn_table(command: list[str]) -> None:
    status, printed = on_terminal([sys.executable, "-m", "cedr.cli.main", *command], EXAMPLES)
    assert status == 0
    assert "───" in printed
    assert "\x1b[31m" in printed  # a retraction is red
