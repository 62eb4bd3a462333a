"""``cedr demo`` where there is no Spark, and where it was asked for wrongly."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from cedr.cli import demo
from cedr.cli.main import app
from cedr.spark import java


def test_without_pyspark_the_small_story_is_told_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda _: None)
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 0
    assert done.stderr.startswith("note: pyspark is not installed (the extra cedr[spark] brings it);")
    assert done.stdout == CliRunner().invoke(app, ["demo", "--host", "local"]).stdout


def test_without_java_the_small_story_is_told_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "find_java", lambda: None)
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 0
    assert done.stderr.startswith("note: Spark needs Java 17 or newer, and there is none;")
    assert "What it amounts to" in done.stdout


def test_an_unknown_host_is_a_wrong_call() -> None:
    done = CliRunner().invoke(app, ["demo", "--host", "abacus"])
    assert done.exit_code == 2
    assert 'error[unknown-host]: there is no host "abacus"' in done.stderr
