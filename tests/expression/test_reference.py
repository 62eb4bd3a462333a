"""The page of operators and functions says what the tables say."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

from cedr.expression.aggregate import AGGREGATES
from cedr.expression.functions import FUNCTIONS
from cedr.expression.own import DEFINITIONS
from cedr.expression.reference import reference_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "expressions.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == reference_page(), f"run: python -m cedr.expression.reference > {PAGE.name}"


def test_every_function_is_on_it() -> None:
    page = reference_page()
    ours = [*FUNCTIONS.items(), *AGGREGATES.items()]
    assert all(f"`{function.form}`" in page for name, function in ours if name not in DEFINITIONS)


def test_it_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the module is imported already
        runpy.run_module("cedr.expression.reference", run_name="__main__")
    assert capsys.readouterr().out == reference_page()
