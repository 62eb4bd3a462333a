"""The project's own files agree with each other: changelog, dependencies, lock, commands."""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache

import pytest

from tests.repo.files import ROOT


@cache
def dependencies() -> list[str]:
    """Every package that pyproject.toml names: to run, to build, to develop."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    lists = [
        project["project"]["dependencies"],
        project["build-system"]["requires"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    return sorted({re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0].lower() for lines in lists for line in lines})


@cache
def explained() -> dict[str, str]:
    """The rows of docs/dependencies.md: package and reason."""
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|(?:.*\|)? ([^|]*) \|$", page, re.MULTILINE)
    return dict(rows)


@pytest.mark.parametrize("name", dependencies())
def test_dependency_has_a_reason(name: str) -> None:
    assert len(explained().get(name, "")) > 20, f"docs/dependencies.md does not say why {name} is there"


@pytest.mark.parametrize("name", dependencies())
def test_dependency_is_locked_with_a_hash(name: str) -> None:
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    assert re.search(rf"^{re.escape(name)}(\[[^\]]*\])?==\S+.*\\\n +--hash=sha256:", lock, re.MULTILINE)


def test_no_reason_is_given_for_what_is_not_there() -> None:
    assert set(explained()) <= set(dependencies())


def test_changelog_has_an_unreleased_part_with_entries() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    part = re.search(r"^## \[Unreleased\]$(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    assert part, "CHANGELOG.md has no Unreleased section"
    assert re.search(r"^- ", part.group(1), re.MULTILINE), "its Unreleased section has no entry"


def test_every_make_target_is_described() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    assert set(phony.group(1).split()) == set(re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE))


def test_continuous_integration_runs_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text("utf-8")


def test_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
