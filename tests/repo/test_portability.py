"""A clone works anywhere: no file names a machine's folders or a registry's host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repo.files import ROOT, project_texts

MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:work|root|home|Users)/\w")
# Written in pieces, so that this file does not name them either.
HOSTS = re.compile(
    "|".join(
        re.escape(".".join(parts))
        for parts in (
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("maven", "org"),
            ("maven", "apache", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("anaconda", "org"),
        )
    )
)
INDEX_OPTION = re.compile(r"^\s*--(?:index-url|extra-index-url|find-links|trusted-host)\b", re.MULTILINE)

EVERY_TEXT = pytest.mark.parametrize(
    ("path", "text"), [pytest.param(*pair, id=str(pair[0])) for pair in project_texts()]
)


@EVERY_TEXT
def test_names_no_folder_of_a_machine(path: Path, text: str) -> None:
    assert [match.group() for match in MACHINE_PATH.finditer(text)] == [], path


@EVERY_TEXT
def test_names_no_registry(path: Path, text: str) -> None:
    assert HOSTS.findall(text) == [], path


def test_the_lock_names_no_place_to_install_from() -> None:
    assert INDEX_OPTION.findall((ROOT / "requirements.lock").read_text("utf-8")) == []
