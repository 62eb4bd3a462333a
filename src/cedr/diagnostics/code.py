"""What is known of one code of an error or warning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """One code: its name, a title, what it means and what to do, and an example.

    ``shown`` stands for an example that is too long to print.
    """

    code: str
    title: str
    explanation: str
    example: str
    shown: str = ""
    warning: bool = False
