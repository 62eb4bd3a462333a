"""The whole tree of exceptions; every one carries one or more diagnostics.

CedrError
LanguageError     the text of a query is wrong (syntax, names, types, scopes)
PlanError         the query is well formed but cannot be planned
StreamError       a message or a file of messages cannot be used
HostError         a host (oracle, local, spark) failed
SinkError         a place where answers go cannot take them
MissingExtraError   a part of CEDR needs packages that an extra installs
InternalError     our bug: says so and asks for a report
"""

from __future__ import annotations

from collections.abc import Iterable

from cedr.diagnostics.diagnostic import Diagnostic


class CedrError(Exception):
    """Base of all errors of this package; carries its diagnostics."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        given = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__("\n\n".join(d.render() for d in given))
        self.diagnostics: tuple[Diagnostic, ...] = given

    def __reduce__(self) -> tuple[type[CedrError], tuple[tuple[Diagnostic, ...]]]:
        """As it was made, so that an error of another process arrives whole."""
        return type(self), (self.diagnostics,)


class LanguageError(CedrError):
    """The text of a query is wrong; fix the text at the places drawn."""


class PlanError(CedrError):
    """The query is well formed but has no plan; the message says which part and why."""


class StreamError(CedrError):
    """A message cannot be used; the message says which one and why."""


def unwritable(path: object, error: OSError) -> StreamError:
    """The error for a file that cannot be written."""
    reason = error.strerror or str(error)
    return StreamError(Diagnostic("cannot-write", f'cannot write "{path}": {reason[:1].lower()}{reason[1:]}'))


class HostError(CedrError):
    """A host failed while running a query."""


class MissingExtraError(HostError, ModuleNotFoundError):
    """A part of CEDR needs packages that are not installed; the message says how to install them."""


class SinkError(CedrError):
    """A place where answers go cannot take them; nothing of the batch was stored."""


class InternalError(CedrError):
    """A defect of CEDR itself; please report it with the text shown."""
