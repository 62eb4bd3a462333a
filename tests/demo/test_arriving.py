"""The files of the demo: what arrives, and the sync point at its end.  Definition 2, R7."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from cedr.diagnostics.exceptions import StreamError
from cedr.model.intake import Intake
from cedr.model.stream import Guarantee, Insert, Retract
from cedr_demo.arriving import QUIET, Arriving, Scale


@pytest.fixture(scope="module")
def arriving() -> Arriving:
    return Arriving(Scale(events=300, machines=30, files=5, seed=3))


def test_messages_are_as_the_files_say_them(arriving: Arriving) -> None:
    assert len(arriving.files) == 7
    for file in arriving.files:
        assert file.table.num_rows == len(file.messages)
    kinds = [row["change"] for file in arriving.files for row in file.table.to_pylist()]
    assert kinds == [type(message).__name__.lower() for message in arriving.messages]
    assert kinds.count("retract") > 5


def test_a_correction_retracts_an_event_and_inserts_another(arriving: Arriving) -> None:
    """Not a new version of it: types that get new versions are kept until a guarantee at every level (R34)."""
    assert "REVISABLE" not in arriving.declared
    found = 0
    for file in arriving.files:
        for before, message in pairwise(file.messages):
            if isinstance(message, Insert) and message.lineage_key in file.corrected:
                found += 1
                event = message.event
                assert isinstance(before, Retract)
                assert before.removes
                assert before.lineage_key.startswith(f"{event.stream}/{event.id.removesuffix('b')}@")
                assert event.valid_start == event.occurrence_start == event.root_time
    assert found == arriving.counts.corrected > 5
    retractions = sum(isinstance(message, Retract) for message in arriving.messages)
    assert retractions == found + arriving.counts.retracted


def test_columns_and_messages_say_the_same(arriving: Arriving) -> None:
    for file in arriving.files:
        for row, message in zip(file.table.to_pylist(), file.messages, strict=True):
            if isinstance(message, Insert):
                event = message.event
                assert (row["type"], row["id"]) == event.reference
                assert row["Machine_Id"] == event.payload["Machine_Id"]
                assert [_micros(row[name]) for name in ("vs", "os")] == [event.valid_start, event.occurrence_start]


def _micros(time: datetime) -> int:
    return (time - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1)


def test_no_guarantee_is_broken_and_nothing_is_too_late(arriving: Arriving) -> None:
    intake = Intake(arriving.types)
    for message in arriving.messages:
        assert intake.receive(message) is None
    assert intake.dead_letters(final=True) == []
    assert sum(len(file.late) for file in arriving.files) > 50


def test_the_last_but_one_file_is_a_sync_point(arriving: Arriving) -> None:
    """Definition 2: all that has come has a Sync up to it, and nothing comes after it but that nothing happened."""
    *before, last, quiet = arriving.files
    assert last.messages == (Guarantee(arriving.sync_point),)
    assert quiet.messages == (Guarantee(arriving.sync_point + QUIET),)
    assert before[-1].high == arriving.sync_point
    intake = Intake(arriving.types)
    for message in arriving.messages:
        intake.receive(message)
    assert max(each.sync for each in intake.accepted) == arriving.sync_point


def test_more_files_than_events_are_refused() -> None:
    with pytest.raises(StreamError, match="from 1 to 3 files"):
        Scale(events=3, files=4)
