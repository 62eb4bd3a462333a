"""A clone works anywhere: no file names a machine's folders or a registry's host."""

from __future__ import annotations

import re

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


def found(what: re.Pattern[str]) -> dict[str, list[str]]:
    """Where it stands, by file."""
    return {str(path): hits for path, text in project_texts() if (hits := [hit.group() for hit in what.finditer(text)])}


def test_files_name_no_folder_of_a_machine() -> None:
    assert found(MACHINE_PATH) == {}


def test_files_name_no_registry() -> None:
    assert found(HOSTS) == {}


def test_the_lock_names_no_place_to_install_from() -> None:
    assert INDEX_OPTION.findall((ROOT / "requirements.lock").read_text("utf-8")) == []
