"""All filters on one event type, and the events that they match.

Paper: Section 1 (publish/subscribe).  The oracle of an index is each filter alone, asked of each event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.expression.tree import Attribute, Expression, Header, HeaderField, walk
from cedr.model.schema import EventType
from cedr.subscriptions.forms import CONSTANTS, Form
from cedr.subscriptions.frames import Events
from cedr.subscriptions.templates import Failed, Template
from cedr.subscriptions.texts import Read, Reader

Rows = NDArray[np.int64]


class Pairing(NamedTuple):
    """Pairs of events and filters, in the order of events, for each in the order of filters."""

    rows: Rows
    slots: Rows


_ENDS = frozenset({HeaderField.VE, HeaderField.OE})


class Index:
    """The filters on events of one type."""

    def __init__(self, of: EventType) -> None:
        self.type = of
        self.reader = Reader(of)
        self.templates: list[Template] = []
        self._by_form: dict[Form, int] = {}

    def __len__(self) -> int:
        return sum(map(len, self.templates))

    @property
    def reads_ends(self) -> bool:
        """Whether a filter reads when an event ends, so that it may match no longer once that has changed."""
        return any(
            isinstance(part, Header) and part.field in _ENDS
            for template in self.templates
            for expression in _expressions(template.form)
            for part in walk(expression)
        )

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes of events that filters read."""
        return frozenset(
            part.name
            for template in self.templates
            for expression in _expressions(template.form)
            for part in walk(expression)
            if isinstance(part, Attribute) and part.variable != CONSTANTS
        )

    def extend(self, slots: Sequence[int], filters: Sequence[Read]) -> tuple[Rows, Rows]:
        """Add filters; the number of the template of each, and its place there."""
        together: dict[int, list[int]] = {}
        for number, read in enumerate(filters):
            template = self._by_form.get(read.form)
            if template is None:
                template = self._by_form[read.form] = len(self.templates)
                self.templates.append(Template(read.form))
            together.setdefault(template, []).append(number)
        templates, places = np.empty(len(slots), np.int64), np.empty(len(slots), np.int64)
        for template, numbers in together.items():
            first = self.templates[template].extend(
                [slots[number] for number in numbers], [filters[number].values for number in numbers]
            )
            templates[numbers] = template
            places[numbers] = np.arange(first, first + len(numbers))
        return templates, places

    def matches(self, events: Events, failed: Failed) -> Pairing:
        """All pairs of an event and a filter that it matches."""
        parts = [part for template in self.templates if len(template) for part in template.matches(events, failed)]
        if not parts:
            return Pairing(np.empty(0, np.int64), np.empty(0, np.int64))
        if len(parts) == 1:
            rows, slots = parts[0]
            if not (rows[1:] == rows[:-1]).any():
                return Pairing(rows, slots)
        else:
            rows, slots = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return _in_order(rows, slots)


def _in_order(rows: Rows, slots: Rows) -> Pairing:
    width = int(slots.max()) + 1
    if int(rows.max()) < 2**62 // width:
        joined = np.sort(rows * width + slots)
        return Pairing(*np.divmod(joined, width))
    order = np.lexsort((slots, rows))
    return Pairing(rows[order], slots[order])


def _expressions(form: Form) -> list[Expression]:
    return [*form.rest, *(test.value for test in form.tests)]
