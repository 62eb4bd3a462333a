"""The examples in the docstrings of the model and of the testing tools are true."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import cedr.model
import cedr.testing

MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (cedr.model, cedr.testing)
    for module in iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
