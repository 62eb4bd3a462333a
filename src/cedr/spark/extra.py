"""Checks the packages of the extra ``spark``: which are missing, and which have a version that does not work.

It uses only the standard library, because the packages may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import MissingExtraError

_IMPORTED: Final = ("pyspark", "pandas")
"""Modules of this folder cannot be imported without these."""
_VERSIONS: Final[Mapping[str, tuple[tuple[int, ...], tuple[int, ...] | None]]] = {
    "pandas": ((2, 2), (3,)),
    "pyarrow": ((18,), None),
    "protobuf": ((6, 33), None),
}
"""The first version that works, and the first that no longer does."""

Versions = Callable[[str], str]
"""Returns the version of a package.  Raises ``PackageNotFoundError``."""


def check_imports() -> None:
    """Raises ``MissingExtraError`` if ``cedr.spark`` cannot be imported."""
    for name in _IMPORTED:
        if not _is_there(name):
            raise _refusal(name, "it is not installed")


def check_packages(version_of: Versions = version) -> None:
    """Raises ``MissingExtraError`` if a package is missing, too old or too new."""
    for name, (least, end) in _VERSIONS.items():
        wanted = f"{name} {_shown(least)} or newer" + ("" if end is None else f", but older than {_shown(end)}")
        try:
            found = version_of(name)
        except PackageNotFoundError:
            raise _refusal(wanted, "it is not installed") from None
        numbers = tuple(map(int, re.findall(r"\d+", found)[:2]))
        if numbers < least or (end is not None and numbers >= end):
            raise _refusal(wanted, f"{name} {found} is installed")


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def _shown(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def _refusal(wanted: str, otherwise: str) -> MissingExtraError:
    primary = f"cedr on Spark needs {wanted}, and {otherwise}"
    return MissingExtraError(Diagnostic("missing-extra", primary, hint="pip install 'cedr[spark]'"))
