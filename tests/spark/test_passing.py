"""What processes hand to each other: columns by shared memory, tickets for what was said."""

from __future__ import annotations

import threading
from multiprocessing import Pipe
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cedr.diagnostics.exceptions import HostError
from cedr.spark.layout.read_faults import Misread
from cedr.spark.output.rows import Columns, Told, dead_letters
from cedr.spark.step import shared_memory as passing
from cedr.spark.step import stepping
from cedr.spark.step.pipeline_cache import Holder
from cedr.spark.step.shared_memory import LEAST, Ticket, claimed, hand, take
from cedr.spark.step.unpack import Unpack
from cedr.spark.step.worker import Done, Spoke, Work
from tests.spark.test_output import planned, rows

LARGE = pa.record_batch(
    {
        "number": np.arange(100_000),
        "text": [f"row {number}" for number in range(100_000)],
        "parts": pa.ListArray.from_arrays(np.arange(100_001, dtype=np.int32), pa.array([None] * 100_000, pa.string())),
    }
)


def passed(thing: Any) -> Any:
    """What arrives at the other end."""
    here, there = Pipe()
    sending = threading.Thread(target=hand, args=(here, thing))
    sending.start()
    found = take(there)
    sending.join()
    return found


@pytest.mark.parametrize("thing", [None, "layout", ("small", pa.array([1, 2])), {"large": LARGE, "and": b"more"}])
@pytest.mark.parametrize("shares", [True, False])
def test_what_is_handed_over_arrives(thing: Any, shares: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passing, "SHARES", shares and passing.SHARES)
    assert passed(thing) == thing


def test_large_columns_are_read_where_they_lie() -> None:
    """They outlive the connection and both ends of it."""
    before = pa.total_allocated_bytes()
    found = passed(LARGE)
    assert pa.total_allocated_bytes() - before < LEAST
    assert found.equals(LARGE)


@pytest.fixture(autouse=True)
def reused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a worker process that goes on to the next task."""
    monkeypatch.setenv("SPARK_REUSE_WORKER", "1")


def said(holder: Holder, nonce: str, rows: pa.RecordBatch = LARGE, before: str = "") -> Any:
    """What is left of what a step said when the step is over."""
    columns = Columns(Told("STRONG", 7, None, rows), 5, 0, None)
    address = holder.keep("bucket", object(), nonce)  # type: ignore[arg-type]
    done = Done(nonce, 7, [Spoke({"inserts": rows.num_rows}, columns)], [], {}, [])
    ((measures, found),) = holder._set_aside(Work("bucket", before, [], 0, [], 0, []), done, address)
    assert measures == {"inserts": rows.num_rows}
    return found


def test_what_was_said_is_claimed_once() -> None:
    ticket = said(Holder(), "first")
    assert isinstance(ticket, Ticket)
    assert claimed(ticket).told.rows.equals(LARGE)
    with pytest.raises(HostError, match="gone"):
        claimed(ticket)


def test_little_is_said_at_once() -> None:
    few = LARGE.slice(0, 3)
    assert said(Holder(), "first", pa.RecordBatch.from_pylist(few.to_pylist())).told.rows.num_rows == 3


def test_what_nobody_claims_is_dropped_at_the_step_after_the_next() -> None:
    """In one batch there may be two steps, one about rows and one about silence."""
    holder = Holder()
    first, second, third = (
        said(holder, nonce, before=before)
        for before, nonce in (("", "first"), ("first", "second"), ("second", "third"))
    )
    with pytest.raises(HostError, match="gone"):
        claimed(first)
    assert claimed(second).told.rows.equals(LARGE)
    assert claimed(third).told.rows.equals(LARGE)


def test_a_process_that_ends_with_its_task_sets_nothing_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark may be told not to use its workers again."""
    monkeypatch.delenv("SPARK_REUSE_WORKER")
    assert said(Holder(), "first").told.rows.equals(LARGE)


def test_who_has_ended_cannot_be_asked() -> None:
    with pytest.raises(HostError, match="gone"):
        claimed(Ticket("\0cedr-nobody", "secret", "bucket", "first", 0))


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
def test_what_is_not_set_aside_travels_in_parts(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures and dead letters with the first, the guarantee with the last; nothing is lost on the way."""
    monkeypatch.setattr(stepping, "_ROWS", at_once)
    told = Told("STRONG", 9, 2, rows([("A", "a1")], [("A", "a2")], [("B", "b1")]))
    of = planned("*", letters=True)
    letters = dead_letters(of.layout, [Misread("bad", "here", "why", "what")], 9)
    sent = [*stepping._rows(Spoke({"inserts": 3}, Columns(told, 2, 0, letters)))]
    assert [row.get("inserts") for row in sent] == [3, *[None] * (len(sent) - 1)]
    blobs = pa.record_batch({"said": pa.array([row["said"] for row in sent], pa.binary())})
    found = [row for batch in Unpack(of.layout)(iter([blobs])) for row in batch.to_pylist()]
    assert [row["change"] for row in found] == ["dead-letter", "insert", "insert", "insert", "guarantee"]
    assert [row["contributors"] for row in found[1:4]] == [["a1"], ["a2"], ["b1"]]


def test_where_only_time_went_on_there_is_a_guarantee() -> None:
    of = planned()
    (sent,) = stepping._rows(Spoke({}, Columns(Told("STRONG", 9, 5, rows()), 5, 1, None)))
    blobs = pa.record_batch({"said": pa.array([sent["said"]], pa.binary())})
    (found,) = (row for batch in Unpack(of.layout)(iter([blobs])) for row in batch.to_pylist())
    assert (found["change"], found["K"], found["Os"]) == ("guarantee", "2/2", 5)
