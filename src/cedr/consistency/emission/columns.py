"""The columns of what is said, by name: the header, then the payload."""

from __future__ import annotations

from typing import Final

SAID: Final = ("change", "id", "said", "Vs", "Ve", "Os", "Oe", "Cs", "Rt", "contributors")
"""The columns before the payload; ``said`` is when the row was said first, which is part of its K.  Reading: R8."""


def payload_column(name: str) -> str:
    """The column of an attribute: its name, unless that is one of the header's.

    >>> payload_column("load"), payload_column("id")
    ('load', 'payload_id')
    """
    return f"payload_{name}" if name in SAID else name
