"""Packages that only some sinks need: imported when such a sink is opened; a missing one says how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import MissingExtraError


def package(module: str, extra: str) -> Any:
    """A module of an extra.  Raises ``MissingExtraError``."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        primary = f"this needs the package {module.partition('.')[0].replace('_', '-')}, which is not installed"
        raise MissingExtraError(Diagnostic("missing-extra", primary, hint=f"pip install 'cedr[{extra}]'")) from None
