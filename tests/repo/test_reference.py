"""What a user can meet is in the reference: every error code, every keyword, every generated page as it should be."""

from __future__ import annotations

import re

import pytest

import generate_docs
from tests.repo.error_codes import codes_in_source
from tests.repo.files import ROOT, SOURCE

REFERENCE = ROOT / "docs" / "reference"
CODES = sorted(codes_in_source())
_KEYWORD = re.compile(r"\"([A-Za-z][A-Za-z_-]+)\"i?")


def keywords() -> list[str]:
    """The words in quotes of the grammar."""
    grammars = "".join(path.read_text("utf-8") for path in (SOURCE / "language").glob("*.lark"))
    without_comments = re.sub(r"^\s*//.*$", "", grammars, flags=re.MULTILINE)
    return sorted({word.upper() for word in _KEYWORD.findall(without_comments)})


def test_codes_and_keywords_are_found() -> None:
    assert len(CODES) > 10, "the search for error codes in src finds too few to be right"
    assert len(keywords()) > 30, "the search for keywords in the grammar finds too few to be right"


@pytest.mark.parametrize("code", CODES)
def test_error_code_is_documented(code: str) -> None:
    page = (REFERENCE / "errors.md").read_text("utf-8")
    assert re.search(rf"(?<![\w-]){re.escape(code)}(?![\w-])", page), (
        f"docs/reference/errors.md does not explain {code}"
    )


@pytest.mark.parametrize("keyword", keywords())
def test_keyword_is_documented(keyword: str) -> None:
    page = (REFERENCE / "language.md").read_text("utf-8").upper()
    assert re.search(rf"(?<![\w-]){re.escape(keyword)}(?![\w-])", page), f"docs/reference/language.md lacks {keyword}"


def test_generated_pages_are_up_to_date() -> None:
    assert generate_docs.outdated() == [], "run `make docs`"
