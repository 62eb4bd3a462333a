"""The runner of blocks is itself tested: a runner that runs nothing would please everyone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.console import Command, commands, matches, run
from tests.docs.pages import BadBlock, Block, blocks
from tests.docs.test_code_blocks import Page, joined

PAGE = Path("page.md")


def read(text: str) -> list[Block]:
    return list(blocks(PAGE, text))


def test_blocks_carry_language_options_and_line() -> None:
    found = read(
        'words\n\n```cedr file=a.cedr\nEVENT A\n```\n\n- item\n\n  ```python notest="needs a server"\n  x = 1\n  ```\n'
    )
    assert found == [
        Block(PAGE, 4, "cedr", {"file": "a.cedr"}, "EVENT A\n"),
        Block(PAGE, 10, "python", {"notest": "needs a server"}, "x = 1\n"),
    ]


@pytest.mark.parametrize(
    "text", ["```python\nx = 1\n", "```\nx\n```\n", "```python notest=\nx\n```\n", "```python skip\nx\n```\n"]
)
def test_bad_fences_are_refused(text: str) -> None:
    with pytest.raises(BadBlock, match=r"page\.md:1"):
        read(text)


def test_commands_take_their_output_and_continuations() -> None:
    assert list(commands("$ echo a \\\n> b\na b\n$ true\n")) == [Command("echo a \\\nb", ["a b"]), Command("true", [])]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["a", "...", "d"], ["a", "d"], True),
        (["a", "..."], ["b"], False),
        (["a"], ["a", "b"], False),
        ([], [""], True),
        (["a."], ["ab"], False),
    ],
)
def test_output_is_compared_line_by_line(shown: list[str], printed: list[str], same: bool) -> None:
    assert matches(shown, printed) is same


def test_a_wrong_output_fails_and_says_both(tmp_path: Path) -> None:
    block = Block(PAGE, 1, "console", {}, "$ echo one\ntwo\n")
    with pytest.raises(AssertionError, match=r"page\.md:1(.|\n)*two(.|\n)*one"):
        run(block, tmp_path)


def test_a_silent_failure_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ended with 3"):
        run(Block(PAGE, 1, "console", {}, "$ exit 3\n"), tmp_path)


def test_the_tests_are_not_called_from_a_page(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="calls the tests again"):
        run(Block(PAGE, 1, "console", {}, "$ make test\n"), tmp_path)


def test_python_blocks_share_a_namespace_and_a_folder(tmp_path: Path) -> None:
    page = Page(tmp_path)
    page.take(Block(PAGE, 1, "text", {"file": "data/a.txt"}, "hello\n"))
    page.take(Block(PAGE, 5, "python", {}, "x = 20\n"))
    page.take(Block(PAGE, 9, "python", {}, ">>> x + 1\n21\n>>> y = x\n"))
    page.take(Block(PAGE, 9, "python", {}, "assert y == 20\n"))
    assert (tmp_path / "data/a.txt").read_text() == "hello\n"


def test_a_wrong_doctest_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Expected"):
        Page(tmp_path).take(Block(PAGE, 1, "python", {}, ">>> 1 + 1\n3\n"))


def test_an_unknown_language_fails(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="no one runs 'ruby'"):
        Page(tmp_path).take(Block(PAGE, 1, "ruby", {}, "puts 1\n"))


@pytest.mark.parametrize(
    ("before", "whole"),
    [("", "B"), ("A;\n", "A;\nB"), ("A\n", "A\n;\nB"), ("A; -- done\n", "A; -- done\nB"), ("-- only\n", "-- only\nB")],
)
def test_query_blocks_are_joined_by_semicolons(before: str, whole: str) -> None:
    assert joined(before, "B") == whole
