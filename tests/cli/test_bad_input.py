"""Bad input: each a clear error or a reported dead letter with line and column; never a traceback."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cedr.cli.main import app

QUERY = "EVENT Pair WHEN SEQUENCE(A AS a, B AS b, 10)\n"
GOOD = '{"insert": {"type": "A", "id": "a1", "vs": 1}}\n{"insert": {"type": "B", "id": "b1", "vs": 5}}\n'


@dataclass(frozen=True)
class Run:
    status: int
    out: str
    err: str

    @property
    def rows(self) -> list[list[str]]:
        return [json.loads(line)["contributors"] for line in self.out.splitlines()]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.cedr").write_text(QUERY)
    (tmp_path / "good.jsonl").write_text(GOOD)
    return tmp_path


def cedr(*arguments: str) -> Run:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "Traceback" not in done.stderr + done.stdout
    assert "internal" not in done.stderr
    return Run(done.exit_code, done.stdout, done.stderr)


def evaluated(folder: Path, messages: str | bytes, *options: str) -> Run:
    (folder / "m.jsonl").write_bytes(messages if isinstance(messages, bytes) else messages.encode())
    return cedr("eval", "pair.cedr", "--messages", "m.jsonl", "--json", *options)


# -- queries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [["check"], ["explain"], *([name, "--messages", "good.jsonl"] for name in ("eval", "trace", "check-order"))],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize(
    ("content", "code", "place"),
    [
        (b"", "empty-file", "q.cedr:1:1"),
        (b"-- nothing\n", "empty-file", "q.cedr:1:1"),
        (b"\x80\x81\x82", "bad-encoding", "q.cedr:1:1"),
        (b"EVENT Q\nWHEN \x00", "bad-encoding", "q.cedr:2:6"),
        (b"EVENT Q WHEN " + b"NOT(" * 10_000 + b"A" + b")" * 10_000, "too-deep", "q.cedr:1:"),
        (b"EVENT Q WHEN ANY(A) WHERE " + b"(" * 10_000, "too-deep", "q.cedr:1:"),
        (b"EVENT Q WHEN " + b"x" * 1_000_001, "too-long", "q.cedr:1:"),
        (b"EVENT Q WHEN SEQUENCE(A, B)", "scope-missing", "q.cedr:1:"),
    ],
    ids=["empty", "comment", "binary", "nul", "deep pattern", "deep expression", "1 MB", "wrong"],
)
def test_a_query_that_cannot_be_read_is_an_error(
    folder: Path, command: list[str], content: bytes, code: str, place: str
) -> None:
    (folder / "q.cedr").write_bytes(content)
    run = cedr(*command, "q.cedr")
    assert run.status == 1
    assert f"error[{code}]: " in run.err
    assert f"--> {place}" in run.err
    assert run.out == ""


def test_a_query_of_almost_1_mb_is_checked(folder: Path) -> None:
    (folder / "q.cedr").write_text("-- a long story\n" * 60_000 + QUERY)
    assert cedr("check", "q.cedr").status == 0


@pytest.mark.slow
def test_a_query_of_too_many_words_is_an_error(folder: Path) -> None:
    conjuncts = " AND ".join("{a.x = b.x}" for _ in range(60_000))
    (folder / "q.cedr").write_text(f"EVENT Q WHEN SEQUENCE(A AS a, B AS b, 10) WHERE {conjuncts}")
    run = cedr("check", "q.cedr")
    assert run.status == 1
    assert "error[too-long]: " in run.err
    assert "--> q.cedr:1:" in run.err


@pytest.mark.parametrize("name", ["missing.cedr", "nul\0"])
def test_a_query_file_that_cannot_be_opened_is_one_line(name: str) -> None:
    run = cedr("check", name)
    assert run.status == 2
    assert run.err.startswith("error[cannot-read]: cannot read the query ")
    assert len(run.err.strip().splitlines()) == 1


def test_a_folder_is_checked_as_one_text(folder: Path) -> None:
    (folder / "queries" / "deep").mkdir(parents=True)
    run = cedr("check", "queries")
    assert (run.status, run.err) == (2, "error[no-files]: the folder queries has no .cedr file\n")
    types = "TYPE A (k INTEGER); TYPE B (k INTEGER);"
    (folder / "queries" / "deep" / "pairs.cedr").write_text(types + "EVENT Pairs WHEN SEQUENCE(A AS a, B AS b, 9)")
    (folder / "queries" / "all.cedr").write_text(types + "EVENT Twice WHEN ANY(Pairs AS p)")
    run = cedr("check", "queries")
    assert (run.status, run.out, run.err) == (0, "queries: Twice, Pairs: no errors\n", "")


def test_all_files_are_checked_although_one_is_wrong() -> None:
    run = cedr("check", "missing.cedr", "pair.cedr")
    assert run.status == 2
    assert run.out == "pair.cedr: Pair: no errors\n"


@pytest.mark.parametrize("command", ["eval", "trace", "check-order"])
def test_a_query_comes_from_standard_input(command: str) -> None:
    done = CliRunner().invoke(app, [command, "-", "--messages", "good.jsonl"], input=QUERY)
    assert (done.exit_code, "internal" in done.stderr) == (0, False)
    assert "Pair" in done.stdout


# -- messages ---------------------------------------------------------------------------------------------------------

FAULTS = {
    "broken JSON": ('{"insert": {"type": "A", ', "bad-json", 26),
    "no JSON": ("hello", "bad-json", 1),
    "unknown message": ('{"upsert": {}}', "unknown-message", 2),
    "unknown field": ('{"insert": {"type": "A", "id": "a2", "vs": 2, "valid": 3}}', "unknown-field", 47),
    "missing field": ('{"insert": {"type": "A", "vs": 2}}', "missing-field", 12),
    "Ve before Vs": ('{"insert": {"type": "A", "id": "a2", "vs": 4, "ve": 3}}', "valid-end-before-start", 53),
    "Oe before Os": ('{"insert": {"type": "A", "id": "a2", "vs": 4, "oe": 3}}', "occurrence-end-before-start", 53),
    "beyond 64 bits": ('{"insert": {"type": "A", "id": "a2", "vs": 9223372036854775808}}', "time-out-of-range", 44),
    "far beyond": ('{"guarantee": 1e30}', "bad-time", 15),
    "infinity": ('{"guarantee": Infinity}', "bad-json", 15),
    "boolean": ('{"insert": {"type": "A", "id": "a2", "vs": true}}', "bad-time", 44),
    "key twice": ('{"guarantee": 1, "guarantee": 2}', "bad-json", 18),
    "never inserted": ('{"retract": {"k": "never", "oe": 3}}', "retraction-without-insert", 19),
    "payload": ('{"insert": {"type": "A", "id": "a2", "vs": 2, "payload": 3}}', "bad-message", 58),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_message_that_cannot_be_used_is_a_dead_letter(folder: Path, name: str) -> None:
    """R39, R41: reported with line and column, and nothing is evaluated wrongly."""
    line, code, column = FAULTS[name]
    run = evaluated(folder, GOOD + line + "\n")
    assert run.status == 0
    assert run.rows == [["a1", "b1"]]
    assert f"dead letter[{code}]: " in run.err
    assert f"--> m.jsonl:3:{column}\n" in run.err
    assert run.err.endswith("\n1 dead letter\n")


def test_a_guarantee_that_is_then_broken_makes_a_dead_letter(folder: Path) -> None:
    """R39."""
    run = evaluated(folder, GOOD + '{"guarantee": 9}\n{"insert": {"type": "B", "id": "b2", "vs": 7}}\n')
    assert run.rows == [["a1", "b1"]]
    assert "dead letter[broken-guarantee]: Sync 7 is not after the guarantee 9" in run.err
    assert "--> m.jsonl:4:44\n" in run.err


def test_binary_garbage_is_dead_letters(folder: Path) -> None:
    run = evaluated(folder, bytes(range(128, 256)) + b"\n" + GOOD.encode() + b"\x00\xff\n")
    assert run.rows == [["a1", "b1"]]
    assert "--> m.jsonl:1:1\n" in run.err
    assert "--> m.jsonl:4:2\n" in run.err
    assert run.err.endswith("\n2 dead letters\n")


def test_an_empty_file_gives_no_rows_and_a_warning(folder: Path) -> None:
    run = evaluated(folder, "")
    assert (run.status, run.out) == (0, "")
    assert 'warning[no-messages]: no messages of type "A"' in run.err


def test_strict_makes_dead_letters_a_failure(folder: Path) -> None:
    assert evaluated(folder, GOOD + "broken\n", "--strict").status == 1
    assert evaluated(folder, GOOD, "--strict").status == 0


def test_many_dead_letters_are_told_by_reason(folder: Path) -> None:
    run = evaluated(folder, GOOD + "broken\n" * 50)
    assert all(f"m.jsonl:{line}:1" in run.err for line in range(3, 23))
    assert "dead letter[bad-json]: 30 more: this is not JSON: expecting value (first: m.jsonl:23:1)\n" in run.err
    assert run.err.endswith("\n50 dead letters\n")


def test_a_file_without_one_message_is_an_error(folder: Path) -> None:
    run = evaluated(folder, "broken\n" * 50)
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("error[no-messages-at-all]: m.jsonl holds no messages: none of 50 lines is one\n")


@pytest.mark.parametrize("command", ["eval", "trace", "check-order"])
@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_message_file_that_cannot_be_opened_is_one_line(command: str, name: str) -> None:
    run = cedr(command, "pair.cedr", "--messages", name)
    assert run.status == 2
    assert run.err.startswith(f'error[cannot-read]: cannot read the messages "{name}": ')
    assert len(run.err.splitlines()) == 1


# -- usage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["nothing"],
        ["check"],
        ["eval", "pair.cedr"],
        ["check", "--wrong", "pair.cedr"],
        ["eval", "pair.cedr", "--messages", "good.jsonl", "--host", "moon"],
        ["eval", "pair.cedr", "--messages", "good.jsonl", "--event", "Other"],
        ["eval", "pair.cedr", "--messages", "good.jsonl", "--consistency", "BEST"],
        ["eval", "pair.cedr", "--messages", "good.jsonl", "--catalog", "missing.cedr"],
        ["explain", "pair.cedr", "--event", "Other"],
        ["trace", "pair.cedr"],
        ["trace", "pair.cedr", "--messages", "good.jsonl", "--host", "moon"],
        ["trace", "pair.cedr", "--messages", "good.jsonl", "--consistency", "STRONG", "--consistency", "BEST"],
        ["trace", "-", "--messages", "-"],
        ["check-order", "pair.cedr", "--messages", "good.jsonl", "--host", "moon"],
        ["check-order", "pair.cedr", "--messages", "good.jsonl", "--runs", "0"],
        ["check-order", "pair.cedr", "--messages", "good.jsonl", "--seed", "x"],
        ["check-order", "-", "--messages", "-"],
        ["eval", "-", "--messages", "-"],
    ],
)
def test_a_wrong_call_has_exit_status_2(arguments: list[str]) -> None:
    run = cedr(*arguments)
    assert run.status == 2
    assert run.err
    assert run.out == ""


def test_a_defect_of_ours_says_so_and_has_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        message = "something broke"
        raise ZeroDivisionError(message)

    monkeypatch.setattr("cedr.cli.checking.check_files", fails)
    done = CliRunner().invoke(app, ["check", "pair.cedr"])
    assert done.exit_code == 3
    assert done.stderr.startswith("error[internal]: a defect of CEDR: ZeroDivisionError: something broke\n")
    assert "Traceback" not in done.stderr
    monkeypatch.setenv("CEDR_TRACEBACK", "1")
    assert "Traceback" in CliRunner().invoke(app, ["check", "pair.cedr"]).stderr


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_what_is_too_large_for_the_machine_is_said(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("cedr.cli.checking.check_files", fails)
    run = cedr("check", "pair.cedr")
    assert run.status == 1
    assert run.err.startswith("error[too-large]: ")
