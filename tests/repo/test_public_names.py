"""What `import cedr` offers is what it says it offers, and each name says what it is."""

from __future__ import annotations

import inspect
import typing
from types import ModuleType
from typing import Any

import pytest

import cedr


def offered() -> set[str]:
    """The public names of the package that are not submodules, nor what its own code needed from elsewhere."""
    return {name for name in dir(cedr) if not name.startswith("_") and not _foreign(name, getattr(cedr, name))}


def _foreign(name: str, value: Any) -> bool:
    if name in cedr.__all__:
        return False
    module = getattr(value, "__module__", None) or type(value).__module__
    return isinstance(value, ModuleType) or name in typing.__all__ or module in {"__future__", "typing"}


def test_all_names_exactly_what_is_offered() -> None:
    assert set(cedr.__all__) == offered()


def test_all_names_each_name_once_and_in_order() -> None:
    assert list(cedr.__all__) == sorted(set(cedr.__all__), key=lambda name: (name.startswith("_"), name))


@pytest.mark.parametrize("name", sorted(cedr.__all__))
def test_public_name_is_documented(name: str) -> None:
    value = getattr(cedr, name)
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return  # a constant is documented where it is defined
    text = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    assert text, f"cedr.{name} has no docstring"
    assert not text.startswith(f"{name}("), f"cedr.{name} has only the docstring that dataclass made"
