"""What the intake refuses is shown at the line and field it came from.  Readings: R37, R39, R41."""

from __future__ import annotations

import pytest

from cedr.connect.dead_letters import drawn
from cedr.connect.messages import take_messages
from cedr.model.intake import Intake
from cedr.model.schema import DataType, EventType, EventTypes


def row(id: str = "a", vs: int = 5, **more: object) -> dict[str, object]:  # noqa: A002 - the paper's word
    return {"insert": {"type": "A", "id": id, "vs": vs, **more}}


CASES = {
    "broken-guarantee": ([{"guarantee": 7}, row()], 2, "5"),
    "key-reused": ([row(k="K"), row("b", k="K")], 2, '"K"'),
    "second-live-row": ([row(k="K"), row(k="L")], 2, '"a"'),
    "retraction-without-insert": ([{"retract": {"k": "never", "oe": 3}}], 1, '"never"'),
    "lengthening-retraction": ([row(ve=7, k="K"), {"retract": {"k": "K", "ve": 9}}], 2, "9"),
    "revision-too-late": ([row(vs=5, os=9)], 1, "9"),
    "valid-end-before-start": ([row(k="K"), {"retract": {"k": "K", "ve": 2}}], 2, "2"),
}


@pytest.mark.parametrize("code", CASES)
def test_a_dead_letter_is_drawn_at_its_field(code: str) -> None:
    messages, line, marked = CASES[code]
    declared = EventTypes({"A": EventType("A", {"x": DataType.INTEGER})})
    arrived = take_messages(messages, declared)
    assert arrived.dead_letters == []
    intake = Intake(declared)
    for number, (_, message) in enumerate(arrived.messages, 1):
        intake.receive(message, number)
    (letter,) = drawn(intake.dead_letters(final=True), [position for position, _ in arrived.messages])
    assert letter.span is not None
    assert (letter.code, letter.span.line, letter.span.text) == (code, line, marked)
    assert letter.severity == "dead letter"
    assert "^" in letter.render()
