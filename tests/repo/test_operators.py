"""Every pattern operator stands in every place that CONTRIBUTING lists, under one stem."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import pytest

import cedr
from cedr.consistency.pipeline import Pipeline
from cedr.language import syntax
from cedr.language.syntax import Operator
from cedr.model.level import MIDDLE
from cedr.plan import logical
from cedr.plan.logical import Node
from cedr.plan.traits.registry import TRAITS
from cedr.runtime.dataflow import build
from cedr.semantics import evaluate
from cedr.testing.patterns import FAMILIES
from tests.conformance import operators
from tests.conformance.operators import all_classes, classes, plan_of
from tests.exhaustive.patterns import CASES
from tests.repo.files import ROOT, SOURCE

SUGAR = {"All", "Any", "AtMost"}
"""What runs as another operator: ALL and ANY by their definitions (R13), ATMOST as a count (R14)."""


def words(kind: type[Operator]) -> list[str]:
    """The words of a class's name: ``AtLeast`` is at, least."""
    return [word.lower() for word in re.findall(r"[A-Z][a-z]+", kind.__name__)]


def stem(kind: type[Operator]) -> str:
    return "_".join(words(kind))


def node(kind: type[Operator]) -> type[Node]:
    found: type[Node] = getattr(logical, kind.__name__)
    return found


@cache
def text(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def names(folder: str, kind: type[Operator]) -> bool:
    """Whether some module of a folder defines something under the stem."""
    defined = rf"^(def {stem(kind)}_?\b|class {kind.__name__}\b|{stem(kind).upper()}: )"
    return any(re.search(defined, path.read_text("utf-8"), re.MULTILINE) for path in (SOURCE / folder).glob("*.py"))


def is_built(kind: type[Operator]) -> bool:
    return any(re.fullmatch(rf"{stem(kind)}(_|_of)?", name) for name in cedr.__all__)


PLACES: dict[str, Callable[[type[Operator]], bool]] = {
    "src/cedr/language/grammar.lark": lambda kind: f'"{kind.form.word}"' in text("src/cedr/language/grammar.lark"),
    "src/cedr/language/syntax.py": lambda kind: kind.__module__ == syntax.__name__,
    "src/cedr/plan/logical.py": lambda kind: issubclass(node(kind), logical.Pattern),
    "src/cedr/plan/traits": lambda kind: node(kind) in TRAITS and names("plan/traits", kind),
    "src/cedr/semantics": lambda kind: kind.__name__ in SUGAR or kind is syntax.Not or names("semantics", kind),
    "src/cedr/semantics/evaluate.py": lambda kind: f"node: logical.{kind.__name__})" in text(evaluate_py),
    "src/cedr/runtime/operators/pattern": lambda kind: kind.__name__ in SUGAR or node(kind) in build.PATTERNS,
    "src/cedr/builder/patterns.py": lambda kind: bool(
        re.search(rf"^def {stem(kind)}(_|_of)?\(", text("src/cedr/builder/patterns.py"), re.MULTILINE)
    ),
    "src/cedr/__init__.py": is_built,
    "src/cedr/testing/patterns.py": lambda kind: kind.form.word in FAMILIES,
    "tests/conformance/operators.py": lambda kind: node(kind) in classes(),
    "tests/exhaustive/patterns.py": lambda kind: any(f"{kind.form.word}(" in str(case) for case in CASES),
    "docs/reference/language.md": lambda kind: f"| `{kind.form.word}(" in text("docs/reference/language.md"),
}
evaluate_py = f"src/{evaluate.__name__.replace('.', '/')}.py"


@pytest.mark.parametrize("kind", syntax.OPERATORS, ids=lambda kind: kind.form.word)
@pytest.mark.parametrize("place", PLACES)
def test_operator_has_its_place(kind: type[Operator], place: str) -> None:
    assert PLACES[place](kind), f"{kind.form.word} is missing in {place}"


@pytest.mark.parametrize("kind", sorted(all_classes(), key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__)
def test_every_class_of_the_logical_plan_has_an_operator(kind: type[Node]) -> None:
    """A query that compiles runs: of each class that a query may hold there is a plan here, and it is started."""
    listed = map(plan_of, (*operators.PATTERNS, *operators.FROM))
    plans = [plan for plan in listed if kind in map(type, logical.walk(plan))]
    assert plans, f"tests/conformance/operators.py has no plan with {kind.__name__}"
    for plan in plans:
        Pipeline(plan, MIDDLE, operators.PLAIN)


def test_contributing_lists_exactly_these_places() -> None:
    _, _, section = text("CONTRIBUTING.md").partition("## How to add an operator")
    listed = re.findall(r"`((?:src|tests|docs)/[^`]+)`", section)
    assert [path.rstrip("/") for path in listed] == list(PLACES)
    assert all((ROOT / path).exists() for path in listed)


def test_an_operator_takes_ten_files_of_the_package() -> None:
    assert sum(place.startswith("src/") for place in PLACES) == 10
