"""Where a check takes down what it finds, and the words that its messages share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.span import Span

_MOST_LISTED = 12


@dataclass
class Problems:
    """The errors and warnings found so far."""

    errors: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)

    def report(self, diagnostic: Diagnostic) -> None:
        """Take down an error that was made elsewhere."""
        self.errors.append(diagnostic)

    def error(
        self,
        code: str,
        primary: str,
        span: Span | None,
        label: str = "",
        *,
        detail: str = "",
        hint: str = "",
        related: tuple[tuple[Span | None, str], ...] = (),
    ) -> None:
        """Take down an error."""
        places = tuple((place, text) for place, text in related if place is not None)
        self.errors.append(Diagnostic(code, primary, span, label, detail, hint, places))

    def warning(self, code: str, primary: str, span: Span | None, *, detail: str = "", hint: str = "") -> None:
        """Take down something that is allowed and hardly ever meant."""
        self.warnings.append(Diagnostic(code, primary, span, "", detail, hint, (), "warning"))


def close(name: str, existing: Iterable[str]) -> str | None:
    """The existing name that was probably meant."""
    names = list(existing)
    for other in names:
        if other.lower() == name.lower():
            return other
    folded = {other.lower(): other for other in names}
    found = get_close_matches(name.lower(), folded, 1)
    return folded[found[0]] if found else None


def listing(words: Iterable[str]) -> str:
    """Names as a message lists them, not too many."""
    names = list(words)
    shown = names[:_MOST_LISTED]
    return ", ".join([*shown, f"… ({len(names)} in all)"] if len(names) > len(shown) else shown)
