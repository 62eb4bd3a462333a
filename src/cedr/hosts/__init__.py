"""Queries on messages: from what a user gives (texts, files, lists) to the rows of a result.

``host`` says what a host is; ``oracle`` and ``local`` are hosts, and ``choice`` has the table of all of them.
``queries`` and ``event_types`` need none; ``run`` does, and is imported when ``evaluate`` is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cedr.hosts.choice import HOSTS
    from cedr.hosts.host import Answer, Job
    from cedr.hosts.result import Result
    from cedr.hosts.run import evaluate

_MODULES = {"HOSTS": "choice", "Answer": "host", "Job": "host", "Result": "result", "evaluate": "run"}

__all__ = ["HOSTS", "Answer", "Job", "Result", "evaluate"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"cedr.hosts.{_MODULES[name]}"), name)
