"""The page of the language: its examples are right, its grammar names every keyword."""

from __future__ import annotations

import re
from pathlib import Path

from cedr.language.check import check_text
from cedr.language.lexer import keywords
from cedr.language.tokens import UNITS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "language.md").read_text("utf-8")


def test_the_examples_are_one_right_file() -> None:
    blocks = re.findall(r"^```cedr\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) > 10
    file = check_text(";\n".join(block.rstrip().rstrip(";") for block in blocks), "language.md")
    assert file.warnings == ()


def test_every_keyword_is_on_the_page() -> None:
    words = set(re.findall(r"[A-Z]+(?:-[A-Z]+)?", PAGE.upper()))
    assert keywords() <= words


def test_every_unit_is_on_the_page() -> None:
    words = set(re.findall(r"\w+", PAGE))
    assert {unit for unit in UNITS if not {unit, f"{unit}s"} & words} <= {"μs"}
