"""Which machine the demo shows, and what its lanes hold.  Paper: Section 5, Figure 8."""

from __future__ import annotations

import pytest

from cedr.model.event import Event, primitive
from cedr.model.stream import Insert, Message, Retract, default_key, insert
from cedr_demo.arriving import ArrivingFile
from cedr_demo.lanes import Emitted, Histories

LEVELS = ("STRONG", "MIDDLE", "WEAK")


def arrives(histories: Histories, *messages: tuple[Message, Event], late: str = "", corrected: str = "") -> None:
    keys = [message.lineage_key for message, _ in messages if isinstance(message, Insert)]
    file = ArrivingFile(
        1,
        tuple(message for message, _ in messages),
        None,
        7,
        frozenset(key for key in keys if late and late in key),
        frozenset(key for key in keys if corrected and corrected in key),
    )
    histories.arrive(file, messages)


def shutdown(id_: str, machine: str) -> tuple[Message, Event]:
    event = primitive("SHUTDOWN", id_, 5, payload={"Machine_Id": machine})
    return insert(event), event


def withdrawn(id_: str, machine: str) -> tuple[Message, Event]:
    _, event = shutdown(id_, machine)
    return Retract(default_key(event)), event


@pytest.mark.parametrize(("alerts", "retractions", "kind"), [(0, 0, ""), (3, 0, "+"), (0, 1, "-"), (2, 1, "~")])
def test_a_batch_has_one_kind_of_mark(alerts: int, retractions: int, kind: str) -> None:
    assert Emitted(alerts, retractions).kind == kind


def test_events_are_letters_small_if_late_x_if_withdrawn_and_one_mark_if_corrected() -> None:
    histories = Histories(LEVELS)
    arrives(histories, shutdown("s1", "M1"), shutdown("s2", "M1"), shutdown("s3", "M2"), late="s2")
    arrives(histories, withdrawn("s2", "M1"))
    arrives(histories, withdrawn("s1", "M1"), shutdown("s1b", "M1"), corrected="s1b", late="s1b")
    histories.emit("WEAK", "M1", alert=True)
    assert histories.chosen().arrived == {1: "Ss", 2: "x", 3: "~"}


def test_a_correction_of_an_event_that_has_not_come_is_an_event() -> None:
    histories = Histories(LEVELS)
    arrives(histories, shutdown("s1b", "M1"), corrected="s1b")
    histories.emit("WEAK", "M1", alert=True)
    assert histories.chosen().arrived == {1: "S"}


def test_lanes_count_what_each_level_emitted_in_each_batch() -> None:
    histories = Histories(LEVELS)
    arrives(histories)
    histories.emit("MIDDLE", "M1", alert=True)
    histories.emit("MIDDLE", "M1", alert=True)
    arrives(histories)
    histories.emit("MIDDLE", "M1", alert=False)
    histories.emit("STRONG", "M1", alert=True)
    lanes = histories.chosen()
    assert lanes.lanes == {"STRONG": {2: Emitted(1, 0)}, "MIDDLE": {1: Emitted(2, 0), 2: Emitted(0, 1)}, "WEAK": {}}
    assert lanes.emitted("MIDDLE", range(1, 3)) == Emitted(2, 1)
    assert lanes.times == (7, 7)


def test_kinds_of_marks_come_first_then_batches_that_differ_then_the_name() -> None:
    histories = Histories(LEVELS)
    for _ in range(4):
        arrives(histories)
        for machine in ("M3", "M2"):
            histories.emit("MIDDLE", machine, alert=True)
    assert histories.chosen().machine == "M2"
    arrives(histories)
    histories.emit("MIDDLE", "M3", alert=True)
    assert histories.chosen().machine == "M3"
    histories.emit("MIDDLE", "M4", alert=True)
    arrives(histories)
    histories.emit("MIDDLE", "M4", alert=False)
    assert histories.chosen().machine == "M4"


def test_where_nothing_was_emitted_there_is_no_machine() -> None:
    assert Histories(LEVELS).chosen().machine == ""
