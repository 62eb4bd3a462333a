"""The tables of the parser are kept where they can be, and quick to use."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from cedr.language import machine
from cedr.language.parse import parse


def test_the_tables_are_kept_beside_the_compiled_modules() -> None:
    parse("EVENT Q WHEN A")
    kept = machine._cache()
    assert kept is not None
    assert Path(kept).parent == Path(cache_from_source(machine.__file__)).parent
    assert Path(kept).is_file()


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for everything that is kept, but not beside the modules."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(machine, "cache_from_source", lambda _: str(tmp_path / "file" / "folder" / "name.pyc"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_the_users_cache_is_next(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = machine._cache()
    assert kept is not None
    assert Path(kept).parent == nowhere / "cedr"
    made = machine.machine()
    assert Path(kept).is_file()
    assert machine.machine().terminals == made.terminals, "what was kept is what was made"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(nowhere))
    kept = machine._cache()
    assert kept is not None
    assert Path(kept).parent == nowhere / ".cache" / "cedr"


def test_where_nothing_can_be_written_nothing_is_kept(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(nowhere / "file"))
    assert machine._cache() is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(nowhere))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert machine._cache() is None
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.delenv(name, raising=False)
    assert machine._cache() is None
    assert machine.machine().terminals["WHEN"] == "WHEN"


@pytest.mark.usefixtures("nowhere")
def test_spoiled_tables_are_made_anew() -> None:
    kept = machine._cache()
    assert kept is not None
    Path(kept).write_bytes(b"garbage")
    assert machine.machine().terminals["WHEN"] == "WHEN"


def test_importing_the_language_does_not_load_the_parser() -> None:
    code = "import cedr.language.parse, cedr.language.check, sys; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
