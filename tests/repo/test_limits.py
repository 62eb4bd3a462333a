"""Size is a budget: raising a limit, or a drawer for odds and ends, needs a design record."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.repo.files import ROOT, modules

FILE_LINES = 400
FUNCTION_LINES = 60  # without the docstring: explaining a definition is not a fault
DRAWERS = frozenset({"common", "helpers", "misc", "util", "utils"})

NAMES = {path: str(path.relative_to(ROOT)) for path in modules()}


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
    lines = {name: len(path.read_text("utf-8").splitlines()) for path, name in NAMES.items()}
    assert {name: count for name, count in lines.items() if count > FILE_LINES} == {}


def test_functions_are_within_their_limit_and_modules_say_what_they_are() -> None:
    """In one test: to parse all modules takes a second."""
    long, silent = {}, []
    for path, name in NAMES.items():
        tree = ast.parse(path.read_text("utf-8"))
        if found := [*too_long(tree)]:
            long[name] = found
        if not ast.get_docstring(tree):
            silent.append(name)
    assert long == {}
    assert silent == []


def test_files_are_named_after_their_subject() -> None:
    assert [name for path, name in NAMES.items() if path.stem in DRAWERS] == []
