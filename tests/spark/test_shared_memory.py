"""What processes send to each other: columns by shared memory, tickets for the output of steps."""

from __future__ import annotations

import threading
from multiprocessing import Pipe
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cedr.diagnostics.exceptions import HostError
from cedr.spark.layout.read_faults import ReadFault
from cedr.spark.output.result_rows import ResultRows
from cedr.spark.output.rows import EmittedColumns, LevelOutput, dead_letter_rows
from cedr.spark.state import shared_memory
from cedr.spark.state.pipeline_cache import MeasuredOutput, PipelineCache, StepRequest, StepResult
from cedr.spark.state.shared_memory import LEAST, Ticket, claim, receive, send
from cedr.spark.step import worker
from tests.spark.test_output import planned, rows

LARGE = pa.record_batch(
    {
        "number": np.arange(100_000),
        "text": [f"row {number}" for number in range(100_000)],
        "parts": pa.ListArray.from_arrays(np.arange(100_001, dtype=np.int32), pa.array([None] * 100_000, pa.string())),
    }
)


def sent(value: Any) -> Any:
    """What arrives at the other end."""
    here, there = Pipe()
    sending = threading.Thread(target=send, args=(here, value))
    sending.start()
    found = receive(there)
    sending.join()
    return found


@pytest.mark.parametrize("value", [None, "layout", ("small", pa.array([1, 2])), {"large": LARGE, "and": b"more"}])
@pytest.mark.parametrize("shares", [True, False])
def test_what_is_sent_arrives(value: Any, shares: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_memory, "HAS_UNNAMED_MEMORY", shares and shared_memory.HAS_UNNAMED_MEMORY)
    assert sent(value) == value


def test_large_columns_are_read_where_they_lie() -> None:
    """They outlive the connection and both ends of it."""
    before = pa.total_allocated_bytes()
    found = sent(LARGE)
    assert pa.total_allocated_bytes() - before < LEAST
    assert found.equals(LARGE)


@pytest.fixture(autouse=True)
def reused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a worker process that goes on to the next task."""
    monkeypatch.setenv("SPARK_REUSE_WORKER", "1")


def new_cache() -> PipelineCache[object]:
    """A cache whose buckets give the result that stands in their place."""
    return PipelineCache(lambda bucket, _request, _layout: bucket)  # type: ignore[return-value, arg-type]


def emitted(cache: PipelineCache[object], nonce: str, rows: pa.RecordBatch = LARGE, before: str = "") -> Any:
    """What a step gives of its output: the output itself, or a ticket."""
    output = LevelOutput(EmittedColumns("STRONG", 7, None, rows), 5, 0, None)
    result = StepResult(nonce, 7, [MeasuredOutput({"inserts": rows.num_rows}, output)], [], {}, [])
    request = StepRequest("bucket", before, [], 0, [], 0, [])
    ((measures, given),) = cache.step(result, request, None).levels  # type: ignore[arg-type]
    assert measures == {"inserts": rows.num_rows}
    return given


def test_an_output_is_claimed_once() -> None:
    ticket = emitted(new_cache(), "first")
    assert isinstance(ticket, Ticket)
    assert claim(ticket).columns.rows.equals(LARGE)
    with pytest.raises(HostError, match="gone"):
        claim(ticket)


def test_a_small_output_needs_no_ticket() -> None:
    few = LARGE.slice(0, 3)
    assert emitted(new_cache(), "first", pa.RecordBatch.from_pylist(few.to_pylist())).columns.rows.num_rows == 3


def test_what_nobody_claims_is_dropped_at_the_step_after_the_next() -> None:
    """In one batch there may be two steps, one about rows and one about silence."""
    cache = new_cache()
    first, second, third = (
        emitted(cache, nonce, before=before)
        for before, nonce in (("", "first"), ("first", "second"), ("second", "third"))
    )
    with pytest.raises(HostError, match="gone"):
        claim(first)
    assert claim(second).columns.rows.equals(LARGE)
    assert claim(third).columns.rows.equals(LARGE)


def test_a_process_that_ends_with_its_task_keeps_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark may be told not to use its workers again."""
    monkeypatch.delenv("SPARK_REUSE_WORKER")
    assert emitted(new_cache(), "first").columns.rows.equals(LARGE)


def test_a_process_that_has_ended_cannot_be_asked() -> None:
    with pytest.raises(HostError, match="gone"):
        claim(Ticket("\0cedr-nobody", "secret", "bucket", "first", 0))


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
def test_an_output_without_a_ticket_travels_in_parts(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures and dead letters with the first, the guarantee with the last; nothing is lost on the way."""
    monkeypatch.setattr(worker, "_ROWS", at_once)
    columns = EmittedColumns("STRONG", 9, 2, rows([("A", "a1")], [("A", "a2")], [("B", "b1")]))
    of = planned("*", letters=True)
    letters = dead_letter_rows(of.layout, [ReadFault("bad", "here", "why", "what")], 9)
    given = [*worker._output_rows(MeasuredOutput({"inserts": 3}, LevelOutput(columns, 2, 0, letters)))]
    assert [row.get("inserts") for row in given] == [3, *[None] * (len(given) - 1)]
    blobs = pa.record_batch({"emitted": pa.array([row["emitted"] for row in given], pa.binary())})
    found = [row for batch in ResultRows(of.layout)(iter([blobs])) for row in batch.to_pylist()]
    assert [row["change"] for row in found] == ["dead-letter", "insert", "insert", "insert", "guarantee"]
    assert [row["contributors"] for row in found[1:4]] == [["a1"], ["a2"], ["b1"]]


def test_where_only_time_went_on_there_is_a_guarantee() -> None:
    of = planned()
    output = LevelOutput(EmittedColumns("STRONG", 9, 5, rows()), 5, 1, None)
    (given,) = worker._output_rows(MeasuredOutput({}, output))
    blobs = pa.record_batch({"emitted": pa.array([given["emitted"]], pa.binary())})
    (found,) = (row for batch in ResultRows(of.layout)(iter([blobs])) for row in batch.to_pylist())
    assert (found["change"], found["K"], found["Os"]) == ("guarantee", "2/2", 5)
