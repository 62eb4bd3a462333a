"""The record of a bucket in the checkpoint: its text stays as it is, so that old checkpoints can be read."""

from __future__ import annotations

import json

import pytest

from cedr.diagnostics.exceptions import HostError
from cedr.spark.state.pipeline_cache import StepResult
from cedr.spark.state.record import Record
from tests.spark.test_output import planned

WRITTEN = (
    '{"fingerprint": {"the query": "f"}, "asked": ["MIDDLE"], "lineage": "bucket", "nonce": "step", "time": 7, '
    '"names": ["rows"], "heard": [[0, null, 5, 4]], "holder": ["socket", "secret"], "version": 1}'
)


def test_the_text_of_a_record_stays() -> None:
    heard = [[0, None, 5, 4]]
    record = Record({"the query": "f"}, ["MIDDLE"], "bucket", "step", 7, {"rows": None}, heard, ["socket", "secret"])
    assert record.as_text() == WRITTEN


def test_a_record_is_read_as_it_was_written() -> None:
    layout = planned().layout
    new = Record.new(layout)
    after = new.after(StepResult("second", 9, [], [], {}, [[0, "p", 8, 3]], ("socket", "secret")), layout)
    assert Record.read(after.as_text(), layout) == after
    assert (after.lineage, after.nonce, after.time, after.holder) == (new.lineage, "second", 9, ["socket", "secret"])


def test_a_record_of_another_version_is_refused() -> None:
    with pytest.raises(HostError, match="version 2, this program reads version 1"):
        Record.read(json.dumps({**json.loads(WRITTEN), "version": 2}), planned().layout)
