"""Every code has an example, and every example its golden message; the page of all codes is up to date."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cedr.diagnostics import codes_of_text
from cedr.diagnostics.code import Code
from cedr.diagnostics.codes import all_codes
from cedr.language import parse
from cedr.language.error_page import diagnostics, message, reference_page

HERE = Path(__file__).parent / "errors"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"
EVERY_CODE = pytest.mark.parametrize("code", all_codes(), ids=lambda code: code.code)


@EVERY_CODE
def test_the_example_has_exactly_its_code(code: Code) -> None:
    found = diagnostics(code.example)
    assert [diagnostic.code for diagnostic in found] == [code.code]
    assert found[0].severity == ("warning" if code.warning else "error")


@EVERY_CODE
def test_the_message_is_as_it_was_read(code: Code, golden: Callable[[Path, str], None]) -> None:
    if not code.shown:
        golden(HERE / f"{code.code}.cedr", code.example)
    golden(HERE / f"{code.code}.txt", message(code) + "\n")


@EVERY_CODE
def test_a_message_is_in_our_style(code: Code) -> None:
    for diagnostic in diagnostics(code.example):
        assert not diagnostic.primary.endswith(".")
        assert (
            diagnostic.primary[0].islower() or diagnostic.primary.split()[0].isupper() or diagnostic.primary[0] in "\"'"
        )
        assert diagnostic.span is not None
        assert set(diagnostic.as_data()) == {"code", "severity", "message", "detail", "hint", "file", "line", "column"}


def test_the_examples_lie_just_beyond_the_limits_of_the_parser() -> None:
    assert (codes_of_text.LONGEST, codes_of_text.DEEPEST_BRACKETS) == (parse.LONGEST, parse.DEEPEST_BRACKETS)


def test_codes_are_listed_once() -> None:
    names = [code.code for code in all_codes()]
    assert sorted(set(names)) == sorted(names)


def test_no_golden_file_is_left_over() -> None:
    names = {code.code for code in all_codes()}
    assert {path.stem for path in HERE.iterdir()} == names


def test_the_page_is_up_to_date(golden: Callable[[Path, str], None]) -> None:
    golden(PAGE, reference_page())
