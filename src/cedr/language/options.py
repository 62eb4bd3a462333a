"""The options of TYPE … FROM … WITH (…): which there are, and which values each takes.

They are the words by which columns are mapped to events everywhere: in ``cedr.events``, in ``cedr.evaluate``, on the
command line.  Readings: R2 (defaults of a header), R50 (units of time).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from cedr.expression.render import quote_name, quote_text


class Kind(Enum):
    """What an option takes, as messages say it."""

    COLUMN = "the name of a column"
    COLUMN_OR_CONSTANT = "the name of a column, or a constant in single quotes"
    WORD = "one of the words"
    TEXT = "a text in single quotes"
    FLAG = "TRUE or FALSE"
    DURATION = "a duration, or a whole number of ticks"


@dataclass(frozen=True, slots=True)
class Known:
    """An option that exists: what it takes, an example, and the words where it takes one of a few."""

    kind: Kind
    example: str
    words: tuple[str, ...] = ()

    @property
    def takes(self) -> str:
        """What it takes, in words."""
        return f"one of {', '.join(self.words)}" if self.words else self.kind.value


_COLUMNS = {
    "time": "ts",
    "id": "tx_id",
    "valid_end": "until",
    "occurrence_start": "stated",
    "occurrence_end": "withdrawn",
    "key": "row_key",
    "change": "op",
    "guarantee": "watermark",
    "arrival": "received",
}

OPTIONS: Final[Mapping[str, Known]] = {
    "type": Known(Kind.COLUMN_OR_CONSTANT, "'TX'"),
    "time": Known(Kind.COLUMN, _COLUMNS.pop("time")),
    "time_unit": Known(Kind.WORD, "ms", ("s", "ms", "us", "ns", "ticks")),
    "time_format": Known(Kind.TEXT, "'%d.%m.%Y %H:%M'"),
    "zone": Known(Kind.TEXT, "'Europe/Berlin'"),
    "truncate": Known(Kind.FLAG, "TRUE"),
    **{name: Known(Kind.COLUMN, example) for name, example in _COLUMNS.items()},
    "provider": Known(Kind.COLUMN_OR_CONSTANT, "'plant 1'"),
    "disorder": Known(Kind.DURATION, "10 minutes"),
    "idle": Known(Kind.DURATION, "1 minute"),
    "stable_key": Known(Kind.FLAG, "TRUE"),
    "format": Known(Kind.WORD, "csv", ("csv", "json", "parquet")),
    "separator": Known(Kind.TEXT, "';'"),
    "header": Known(Kind.FLAG, "FALSE"),
    "encoding": Known(Kind.TEXT, "'latin-1'"),
}
"""All options, by name, in the order of the reference."""


def written(name: str, value: str | int | bool) -> str:  # noqa: FBT001 - a flag is one of the values
    """The value of an option as the language writes it."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    kind = OPTIONS[name].kind if name in OPTIONS else Kind.TEXT
    if kind is Kind.DURATION:
        return value
    if kind is Kind.TEXT:
        return quote_text(value)
    constant = kind is Kind.COLUMN_OR_CONSTANT and is_constant(value)
    return quote_text(value[1:-1]) if constant else quote_name(value)


def is_constant(value: str) -> bool:
    """Whether the value of ``type`` or ``provider`` is a constant: it stands in single quotes.

    >>> is_constant("'TX'"), is_constant("TX")
    (True, False)
    """
    return len(value) > 1 and value[0] == value[-1] == "'"
