"""Size is a budget: raising a limit, or a drawer for odds and ends, needs a design record."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.repo.files import ROOT, modules

FILE_LINES = 400
FUNCTION_LINES = 60  # without the docstring: explaining a definition is not a fault
DRAWERS = frozenset({"common", "helpers", "misc", "util", "utils"})

TEXTS = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in modules()}
TREES = {name: ast.parse(text) for name, text in TEXTS.items()}


def too_long(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring_lines(node)
            if lines > FUNCTION_LINES:
                yield f"{node.name} (line {node.lineno}) has {lines} lines"


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    return (first.end_lineno or first.lineno) - first.lineno + 1 if ast.get_docstring(node) else 0


def test_files_are_within_their_limit() -> None:
    lines = {name: len(text.splitlines()) for name, text in TEXTS.items()}
    assert {name: count for name, count in lines.items() if count > FILE_LINES} == {}


def test_functions_are_within_their_limit() -> None:
    assert {name: found for name, tree in TREES.items() if (found := list(too_long(tree)))} == {}


def test_files_are_named_after_their_subject() -> None:
    assert [name for name in TEXTS if Path(name).stem in DRAWERS] == []


def test_modules_say_what_they_are() -> None:
    assert [name for name, tree in TREES.items() if not ast.get_docstring(tree)] == []
