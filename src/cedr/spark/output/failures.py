"""Failures in a worker: the error names query, operator, line of the text and event before Spark's and Python's trace.

An error in a worker reaches the driver as the text of one of Spark's exceptions; ``failure`` reads it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from cedr.diagnostics import exceptions
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import CedrError, HostError
from cedr.plan.describe import word
from cedr.plan.logical import Node
from cedr.spark.layout.layout import Layout


@contextmanager
def describe_failures(layout: Layout, bucket: int) -> Iterator[None]:
    """Put the query, the operator and the event before the diagnostics of any error."""
    try:
        yield
    except GeneratorExit:
        raise
    except CedrError as error:
        raise type(error)([_place(layout, bucket, error), *error.diagnostics]) from error
    except Exception as error:
        raise HostError(_place(layout, bucket, error)) from error


def failure(error: BaseException) -> CedrError | None:
    """The error of a CEDR query that failed in a worker, read from the error that Spark raised; None if there is none.

    Spark's error is its cause.  A DataFrame of ``cedr.query`` raises such errors by itself; this function is for errors
    that arrive in other ways, such as a temporary view or a listener.
    """
    if isinstance(error, CedrError):
        return error
    lines = str(error).splitlines()
    starts = [number for number, line in enumerate(lines) if _ERROR.match(line)]
    if not starts:
        return None
    block: list[str] = []
    for line in lines[starts[-1] :]:
        if not line.startswith((" ", "error[", "cedr.")) and line.strip():
            break
        block.append(_STATES.sub("", line))
    match = _ERROR.match(block[0])
    assert match is not None
    rest = "\n".join([match["primary"], *block[1:]]).rstrip()
    kind = getattr(exceptions, match["kind"], HostError)
    ours: CedrError = kind(Diagnostic(code=match["code"], primary=rest))
    ours.__cause__ = error
    return ours


_STATES = re.compile(r"(?:\s*SQLSTATE: \w+)+$")
"""What Spark adds to a message."""
_ERROR = re.compile(r"cedr\.diagnostics\.exceptions\.(?P<kind>\w+): error\[(?P<code>[a-z0-9-]+)\]: (?P<primary>.*)")


def _place(layout: Layout, bucket: int, error: Exception) -> Diagnostic:
    node, event = _innermost(error.__traceback__)
    operator = "" if node is None else f", operator {word(node)}"
    primary = f'query "{layout.query.name}"{operator} failed in bucket {bucket + 1} of {layout.buckets}'
    about = f"event {event}: " if event else ""
    return Diagnostic(
        "worker-failed",
        primary,
        span=None if node is None else node.span,
        detail=f"{about}{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}",
    )


def _innermost(trace: TracebackType | None) -> tuple[Node | None, str]:
    """The innermost operator and event in the frames of a failure."""
    node, event = None, ""
    while trace is not None:
        local = trace.tb_frame.f_locals
        owner = local.get("self")
        for candidate in (local.get("node"), getattr(owner, "node", None), getattr(owner, "_node", None)):
            if isinstance(candidate, Node):
                node = candidate
        message = local.get("message")
        name = getattr(getattr(message, "event", None), "id", None) or getattr(message, "lineage_key", None)
        event = name if isinstance(name, str) else event
        trace = trace.tb_next
    return node, event
