"""The codes of the language's errors and warnings, in one list.

The page docs/reference/errors.md and the golden messages of the tests are made of it.
"""

from __future__ import annotations

from cedr.diagnostics.code import Code
from cedr.diagnostics.codes_of_meaning import MEANING, WARNINGS
from cedr.diagnostics.codes_of_text import TEXT


def all_codes() -> tuple[Code, ...]:
    """All codes, errors before warnings, in the order of the page."""
    return (*TEXT, *MEANING, *WARNINGS)
