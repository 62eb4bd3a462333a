"""The modules of a folder, for what is found by where it stands.

Paper: Section 3.3.2 (operators).  Where a folder holds one module for each operator, a list of them by hand would be a
further place to forget.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def modules_of(package: str) -> Iterator[ModuleType]:
    """All modules of a package, in the order of their names."""
    found = import_module(package)
    for each in sorted(iter_modules(found.__path__), key=lambda each: each.name):
        yield import_module(f"{package}.{each.name}")


def modules_beside(module: str) -> Iterator[ModuleType]:
    """The other modules of a module's package."""
    package = module.rpartition(".")[0]
    return (each for each in modules_of(package) if each.__name__ != module)
