"""What a user can meet is in the reference: every error code, every keyword, every generated page as it should be."""

from __future__ import annotations

import re

import generate_docs
from tests.repo.error_codes import codes_in_source
from tests.repo.files import ROOT, SOURCE

REFERENCE = ROOT / "docs" / "reference"
_KEYWORD = re.compile(r"\"([A-Za-z][A-Za-z_-]+)\"i?")


def keywords() -> set[str]:
    """The words in quotes of the grammar."""
    grammars = "".join(path.read_text("utf-8") for path in (SOURCE / "language").glob("*.lark"))
    without_comments = re.sub(r"^\s*//.*$", "", grammars, flags=re.MULTILINE)
    return {word.upper() for word in _KEYWORD.findall(without_comments)}


def missing(words: set[str], page: str) -> list[str]:
    """The words that do not stand in a page, as wholes."""
    return sorted(word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", page))


def test_error_codes_are_documented() -> None:
    codes = codes_in_source()
    assert len(codes) > 10, "the search for error codes in src finds too few to be right"
    assert missing(codes, (REFERENCE / "errors.md").read_text("utf-8")) == []


def test_keywords_are_documented() -> None:
    assert len(keywords()) > 30, "the search for keywords in the grammar finds too few to be right"
    assert missing(keywords(), (REFERENCE / "language.md").read_text("utf-8").upper()) == []


def test_what_is_not_documented_is_found() -> None:
    assert missing({"no-time", "no-times", "time"}, "| `no-time` | no times |") == ["no-times", "time"]


def test_generated_pages_are_up_to_date() -> None:
    """But for those that show what was measured: that takes longer, and is left to `make docs-check`."""
    assert generate_docs.outdated(generate_docs.READ_OFF) == [], "run `make docs`"
