"""Scripts that no other test runs: what they import of the project is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.repo.files import ROOT, project_files

SCRIPTS = [path.relative_to(ROOT) for path in project_files() if path.suffix == ".py" and "benchmarks" in path.parts]


def wanted(path: Path) -> Iterator[tuple[str, str]]:
    """The modules of ours that a script imports, each with a name out of it."""
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in ("cedr", "benchmarks"):
            yield from ((node.module, alias.name) for alias in node.names)


def there(module: str, name: str) -> bool:
    try:
        if find_spec(module) is None:
            return False
    except ModuleNotFoundError:
        return False
    # A benchmark sets up its process when it is imported: that it is there must do.
    return module.startswith("benchmarks") or hasattr(import_module(module), name)


@pytest.mark.parametrize("path", SCRIPTS, ids=str)
def test_what_a_benchmark_imports_is_there(path: Path) -> None:
    assert [f"{module}.{name}" for module, name in wanted(path) if not there(module, name)] == []
