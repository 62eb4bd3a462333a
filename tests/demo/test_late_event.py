"""The picture of the README, docs/images/late-event.svg: what the three levels emit about the same late event.

Paper: Section 5.  Readings: R33 to R35.
"""

from __future__ import annotations

import pytest

import cedr

QUERY = "EVENT Down WHEN UNLESS(SHUTDOWN AS s, RESTART AS r, 5) WHERE CorrelationKey(m, EQUAL) OUTPUT s.m AS m"
ARRIVES = {
    0: {"insert": {"type": "SHUTDOWN", "id": "s1", "vs": 1000, "payload": {"m": "M1"}}},
    8: {"insert": {"type": "SHUTDOWN", "id": "s2", "vs": 1008, "payload": {"m": "M2"}}},
    20: {"insert": {"type": "RESTART", "id": "r1", "vs": 1003, "payload": {"m": "M1"}}},
    30: {"guarantee": 1015},
}
"""Minutes after 10:00, the time 1000, at which a message arrives."""


@pytest.mark.parametrize(
    ("level", "emitted"),
    [
        ("STRONG", [(30, "insert", "M2")]),
        ("MIDDLE", [(0, "insert", "M1"), (8, "insert", "M2"), (20, "retract", "M1")]),
        ("WEAK", [(0, "insert", "M1"), (8, "insert", "M2")]),
    ],
)
def test_what_the_picture_shows(level: str, emitted: list[tuple[int, str, str]]) -> None:
    minutes = iter(ARRIVES)
    changes = cedr.run(QUERY, ARRIVES.values(), consistency=level, clock=lambda: 1 + next(minutes))
    found = [
        (change.cedr_time - 1, change.kind, change.event.payload["m"]) for change in changes if change.event is not None
    ]
    assert found == emitted
