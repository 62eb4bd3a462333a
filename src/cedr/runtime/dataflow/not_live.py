"""What does not run on live streams."""

from __future__ import annotations

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.plan.logical import Node


def not_live(node: Node) -> HostError:
    """The error for an operator that does not run on live streams."""
    name = type(node).__name__
    return HostError(
        Diagnostic(
            "not-live",
            f"{name} does not run on live streams",
            node.span,
            hint="the host oracle evaluates it on a finite file: --host oracle",
        )
    )
