"""Sync of messages.  Paper: Section 4, Figure 6.  Reading: R7."""

from __future__ import annotations

import pytest

from cedr.model.event import primitive
from cedr.model.stream import Retract
from cedr.model.sync import sync_of

ROW = primitive("A", "a", 2, 20, occurrence_start=4, occurrence_end=30)


@pytest.mark.parametrize(
    ("retraction", "sync"),
    [
        (None, 4),
        (Retract("K"), 4),
        (Retract("K", occurrence_end=4), 4),
        (Retract("K", occurrence_end=3), 4),
        (Retract("K", valid_end=2), 4),
        (Retract("K", occurrence_end=9), 9),
        (Retract("K", valid_end=9), 9),
        (Retract("K", valid_end=3), 4),
        (Retract("K", occurrence_end=9, valid_end=7), 7),
        (Retract("K", occurrence_end=6, valid_end=7), 6),
        (Retract("K", occurrence_end=9, valid_end=2), 4),
    ],
)
def test_sync(retraction: Retract | None, sync: int) -> None:
    """Reading: R7."""
    assert sync_of(ROW, retraction) == sync


def test_a_detection_is_not_removed_by_saying_its_end_again() -> None:
    """Readings: R5, R7: Ve = Vs from the start is no retraction."""
    assert sync_of(primitive("A", "a", 2, 2), Retract("K", valid_end=2)) == 2
