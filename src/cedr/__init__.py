"""CEDR: consistent streaming through time.

    import cedr
    result = cedr.evaluate(query, "messages.jsonl")
    print(result)

Everything public is here, and is imported when it is first used: ``import cedr`` itself costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "evaluate": "cedr.evaluation",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
