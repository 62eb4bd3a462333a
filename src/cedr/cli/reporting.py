"""How a command fails: what is wrong on standard error, and an exit status.

0 fine; 1 the query or the messages are wrong; 2 the command was not called rightly, or a file cannot be read;
3 a defect of CEDR itself.  No command ends in a traceback; with ``CEDR_TRACEBACK`` set a defect shows its own.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import CedrError, InternalError

WRONG, USAGE, DEFECT = 1, 2, 3
_USAGE_CODES = {
    "bad-frame",
    "bad-header",
    "bad-word",
    "empty-data",
    "broken-file",
    "mixed-formats",
    "no-data",
    "no-event-type",
    "no-files",
    "no-messages-at-all",
    "time-unit-missing",
    "time-unit-unexpected",
    "too-many-bad-rows",
    "unknown-column",
    "unknown-word",
    "wrong-column-type",
    "wrong-data",
    "wrong-encoding",
    "already-there",
    "bad-setting",
    "bad-toml",
    "missing-setting",
    "missing-variable",
    "query-twice",
    "secret-in-file",
    "unknown-output",
    "unknown-setting",
    "unknown-source",
    "bad-count",
    "bad-duration",
    "bad-pace",
    "bad-share",
    "bad-start",
    "cannot-read",
    "cannot-write",
    "unknown-correction",
    "unknown-format",
    "unknown-host",
    "unknown-level",
    "unknown-query",
}


@contextmanager
def reported() -> Iterator[None]:
    """Turns every exception of a command into a message and an exit status."""
    try:
        yield
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except InternalError as error:
        _defect(error)
    except CedrError as error:
        report(error.diagnostics)
        raise typer.Exit(exit_status(error.diagnostics)) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except (RecursionError, MemoryError) as error:
        limit = Diagnostic("too-large", f"the input is too large or too deep to be handled ({type(error).__name__})")
        report([limit])
        raise typer.Exit(WRONG) from None
    except Exception as error:
        _defect(error)


def _defect(error: Exception) -> None:
    if os.environ.get("CEDR_TRACEBACK"):
        traceback.print_exc()
    say(f"error[internal]: a defect of CEDR: {type(error).__name__}: {error}")
    say("    = hint: please report it, with the query and the output under CEDR_TRACEBACK=1")
    raise typer.Exit(DEFECT) from None


def exit_status(diagnostics: tuple[Diagnostic, ...]) -> int:
    """2 where the call was wrong, 1 where the query or the messages are."""
    return USAGE if any(diagnostic.code in _USAGE_CODES for diagnostic in diagnostics) else WRONG


def report(diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> None:
    """Diagnostics on standard error, a blank line after one that has several lines."""
    for diagnostic in diagnostics:
        text = diagnostic.render()
        say(f"{text}\n" if "\n" in text else text)


def say(text: str) -> None:
    """A line on standard error."""
    print(text, file=sys.stderr)
