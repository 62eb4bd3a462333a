"""Finds the error codes that src uses.

The convention that makes this possible: whatever makes a diagnostic takes the code as a parameter (or a field) called
``code``.  So the codes are the literals given for such a parameter, by name or by place, or assigned to such a name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from tests.repo.files import modules

_CODE = re.compile(r"[a-z]+(?:-[a-z0-9]+)*")


def codes_in_source() -> set[str]:
    nodes = [node for path in modules() for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    places = dict(_makers(nodes))
    return set(_codes(nodes, places))


def _makers(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """The functions and classes that take a code, and at which place."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            names = _parameters(node)
        elif isinstance(node, ast.ClassDef):
            written = [line for line in node.body if isinstance(line, ast.FunctionDef) and line.name == "__init__"]
            names = _parameters(written[0]) if written else _fields(node)
        else:
            continue
        if "code" in names:
            yield node.name, names.index("code")


def _parameters(function: ast.FunctionDef) -> list[str]:
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _fields(node: ast.ClassDef) -> list[str]:
    annotated = (line.target for line in node.body if isinstance(line, ast.AnnAssign))
    return [target.id for target in annotated if isinstance(target, ast.Name)]


def _codes(nodes: Iterable[ast.AST], places: dict[str, int]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from _literals(*(keyword.value for keyword in node.keywords if keyword.arg == "code"))
            place = places.get(_called(node.func))
            if place is not None and place < len(node.args):
                yield from _literals(node.args[place])
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if "code" in map(_called, targets):
                yield from _literals(node.value)


def _called(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _literals(*values: ast.expr) -> Iterator[str]:
    """The literal, or the literals of a conditional expression."""
    for value in values:
        if isinstance(value, ast.IfExp):
            yield from _literals(value.body, value.orelse)
        elif isinstance(value, ast.Constant) and isinstance(value.value, str) and _CODE.fullmatch(value.value):
            yield value.value
