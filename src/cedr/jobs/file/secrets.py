"""Secrets of a job: they come from the environment only, and are never shown.

``${NAME}`` in a setting stands for a variable of the environment.  Whatever came in that way is hidden in every
message, because libraries repeat addresses and passwords in their errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import CedrError
from cedr.diagnostics.span import Source, Span

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_SECRET: Final = re.compile(r"(?i)(password|passwd|secret|token|credential|private[._-]?key|api[._-]?key|jaas)")
_IN_ADDRESS: Final = re.compile(r"(?i)(?://[^/@\s:]*:([^@\s$]+)@|\bpassword\s*=\s*([^\s$;]+))")
HIDDEN: Final = "***"


class Secrets:
    """The values that must not be shown."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._hidden: set[str] = set()

    def filled(self, text: str) -> tuple[str, str | None]:
        """A text with its variables filled in; and the name of one that is not set."""
        missing: str | None = None

        def fill(found: re.Match[str]) -> str:
            nonlocal missing
            value = self._environment.get(found[1])
            if value is None:
                missing = missing or found[1]
                return found[0]
            self.add(value)
            return value

        return _VARIABLE.sub(fill, text), missing

    def add(self, value: str) -> None:
        """A value that must not be shown; one of three characters or less would hide half of every text."""
        if len(value) > 3:
            self._hidden.add(value)

    def hide(self, text: str, mark: str = HIDDEN) -> str:
        """A text without the secrets in it."""
        for value in sorted(self._hidden, key=len, reverse=True):
            text = text.replace(value, mark or "*" * len(value))
        return text

    def hidden(self, error: CedrError) -> CedrError:
        """An error without the secrets in it."""
        return type(error)([self._told(each) for each in error.diagnostics])

    def _told(self, diagnostic: Diagnostic) -> Diagnostic:
        span = diagnostic.span
        if span is not None:
            text = self.hide(span.source.text, mark="")  # places stay where they are
            span = Span(Source(span.source.name, text), span.start, span.end)
        return replace(
            diagnostic,
            primary=self.hide(diagnostic.primary),
            detail=self.hide(diagnostic.detail),
            hint=self.hide(diagnostic.hint),
            label=self.hide(diagnostic.label),
            span=span,
        )


def written_secret(name: str, value: Any) -> bool:
    """Whether a setting holds a secret in plain text."""
    if not isinstance(value, str) or not value or value.startswith("${"):
        return False
    if _SECRET.search(name) and not name.endswith((".mechanism", "_file", ".location")):
        return not _VARIABLE.search(value)
    return any(part for found in _IN_ADDRESS.finditer(value) for part in found.groups())
