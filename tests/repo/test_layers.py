"""What import-linter cannot say: the bottom stands on the standard library alone, and no cycle hides in a function."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repo.files import SOURCE, modules

STANDARD_LIBRARY_ONLY = ("diagnostics", "model", "drawing")
# The same answer on every machine, at every time: these would bring in the machine or the time.
IMPURE = frozenset({"random", "secrets", "socket", "subprocess", "threading", "time", "uuid"})
# Of our own modules: a cycle means a wrong folder. A slow library may be put off until it is needed, and entrances
# (cedr itself, cli) may put off anything to start quickly.
NO_HIDDEN_IMPORTS = ("diagnostics", "model", "expression", "language", "plan", "semantics")


def within(*names: str) -> list[Path]:
    return [path for name in names for path in modules() if path.is_relative_to(SOURCE / name)]


def imported(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import):
            yield from (alias.name for alias in inner.names)
        elif isinstance(inner, ast.ImportFrom) and inner.module:
            yield inner.module


@pytest.mark.parametrize("path", within(*STANDARD_LIBRARY_ONLY), ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_bottom_stands_on_the_standard_library(path: Path) -> None:
    tops = {name.partition(".")[0] for name in imported(ast.parse(path.read_text("utf-8")))}
    assert tops <= sys.stdlib_module_names | {"cedr"}
    assert not tops & IMPURE


@pytest.mark.parametrize("path", within(*NO_HIDDEN_IMPORTS), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_import_of_ours_hides_in_a_function(path: Path) -> None:
    functions = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef))
    hidden = [(function.name, name) for function in functions for name in imported(function)]
    assert [(function, name) for function, name in hidden if name.partition(".")[0] == "cedr"] == []
