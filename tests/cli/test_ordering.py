"""``cedr check-order`` where something is wrong: exit status 1, and lines that show it again.  Reading: R35."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cedr.cli.main import app
from cedr.hosts.choice import HOSTS
from tests.testing.test_order import ALERT, MESSAGES, Fragile, Impatient


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alert.cedr").write_text(ALERT)
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, MESSAGES)))
    return tmp_path


def check_order(messages: str = "m.jsonl") -> Result:
    return CliRunner().invoke(app, ["check-order", "alert.cedr", "--messages", messages, "--host", "oracle"])


def test_a_broken_promise_is_shown_with_lines_that_show_it_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HOSTS["oracle"], "start", Impatient)
    done = check_order()
    assert done.exit_code == 1
    assert "a promise is broken" in done.stdout
    assert "not the oracle's (R35)" in done.stdout
    head, _, lines = done.stdout.partition("with these lines in FILE:\n\n")
    assert "cedr trace alert.cedr --messages FILE --consistency '" in head
    (folder / "small.jsonl").write_text(lines)
    assert len(lines.splitlines()) == 3
    assert check_order("small.jsonl").exit_code == 1


def test_where_it_takes_a_batch_each_line_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """R40."""
    monkeypatch.setattr(HOSTS["oracle"], "start", Fragile)
    done = check_order()
    assert done.exit_code == 1
    assert "the engine failed: ValueError: three is too many" in done.stdout
    _, _, lines = done.stdout.partition("with these lines:\n\n")
    assert [len(json.loads(line)) for line in lines.splitlines()] == [3]


def test_what_is_right_has_exit_status_0() -> None:
    done = CliRunner().invoke(
        app, ["check-order", "alert.cedr", "--messages", "m.jsonl", "--host", "oracle", "--runs", "6", "--seed", "3"]
    )
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        "Alert: 6 deliveries of 7 messages at STRONG, MIDDLE, WEAK and between, host oracle: every promise kept\n"
    )
