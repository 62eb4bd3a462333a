"""``import cedr``: what type checkers see is what is there at run time, and nothing is imported before it is used."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import cedr


def seen_by_type_checkers() -> set[str]:
    tree = ast.parse(Path(cedr.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assigned = {node.targets[0].id for node in block.body if isinstance(node, ast.Assign)}  # type: ignore[attr-defined]
    return {name for name in imported if name} | assigned


def test_type_checkers_see_what_is_there() -> None:
    assert seen_by_type_checkers() == set(cedr.__all__)


@pytest.mark.parametrize("name", cedr.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(cedr, name) is getattr(cedr, name)


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = cedr.nothing
    assert cedr.__version__
    assert dir(cedr) == list(cedr.__all__)


def test_compile_and_explain_take_a_text() -> None:
    program = cedr.compile("EVENT Q WHEN ANY(A AS a)")
    assert list(program.queries) == ["Q"]
    assert cedr.explain(program).as_text() == cedr.explain("EVENT Q WHEN ANY(A AS a)").as_text()
    assert "at STRONG" in cedr.explain(program, consistency="STRONG").as_text()


def test_compile_checks_names_once_a_type_is_declared(tmp_path: Path) -> None:
    text = "EVENT Q WHEN ANY(A AS a) WHERE {a.y = 1}"
    with pytest.raises(cedr.LanguageError):
        cedr.compile(f"TYPE A (x INTEGER); {text}")
    (tmp_path / "types.cedr").write_text("TYPE A (x INTEGER)")
    with pytest.raises(cedr.LanguageError):
        cedr.compile(text, tmp_path / "types.cedr")
    with pytest.raises(cedr.LanguageError):
        cedr.compile(text, cedr.EventTypes({"A": cedr.EventType("A")}))
    assert cedr.compile(text, cedr.EventTypes({"A": cedr.EventType("A", {"y": cedr.DataType.INTEGER})}))
