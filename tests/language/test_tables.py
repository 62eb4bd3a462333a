"""The tables of the parser are kept where they can be, and made anew where they cannot be used."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from cedr.language import tables as module
from cedr.language.tables import Tables, tables


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing can be kept beside the modules; the user's cache is a new folder."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(module, "cache_from_source", lambda _: str(tmp_path / "file" / "folder" / "name.pyc"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What tables were made of, instead of being read."""
    grammars: list[str] = []
    make = module.make

    def counted(grammar: str) -> Tables:
        grammars.append(grammar)
        return make(grammar)

    monkeypatch.setattr(module, "make", counted)
    return grammars


def test_the_tables_are_kept_beside_the_compiled_modules() -> None:
    tables()
    assert (Path(cache_from_source(module.__file__)).parent / "grammar.tables.json").is_file()


def test_what_was_kept_is_what_was_made(elsewhere: Path, made: list[str]) -> None:
    first = tables()
    assert (elsewhere / "cedr" / "grammar.tables.json").is_file()
    assert tables() == first
    assert len(made) == 1


def test_the_home_folder_has_a_cache(elsewhere: Path, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(elsewhere / "home"))
    assert tables() == tables()
    assert (elsewhere / "home" / ".cache" / "cedr" / "grammar.tables.json").is_file()
    assert len(made) == 1


def test_where_nothing_can_be_written_they_are_made_each_time(
    elsewhere: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere / "file"))
    assert tables().rules == tables().rules
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.delenv(name, raising=False)
    tables()
    assert len(made) == 3


@pytest.mark.parametrize("spoiled", ["", "garbage", "[]", "{}", json.dumps({"digest": "of another grammar"})])
def test_spoiled_tables_are_made_anew(elsewhere: Path, made: list[str], spoiled: str) -> None:
    (elsewhere / "cedr").mkdir()
    (elsewhere / "cedr" / "grammar.tables.json").write_text(spoiled)
    assert tables().terminals["WHEN"] == "WHEN"
    assert len(made) == 1


def test_parsing_does_not_need_lark_once_the_tables_are_kept() -> None:
    tables()
    code = "from cedr.language.parse import parse; parse('EVENT Q WHEN A'); import sys; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
