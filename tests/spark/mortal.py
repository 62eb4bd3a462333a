"""Python workers that die at a chosen place of a step: given to Spark as ``spark.python.daemon.module``.

The places are those between which a step could be torn: before it, when the pipeline has gone on but nothing is
written, between two segments of its state, before and after the record that names the step, and when the output of the
step is claimed: here every output waits to be claimed, however small it is.  A file
``PLACE@BATCH`` in the folder named by CEDR_TEST_DEATHS is an order: the first process that comes by takes it and is
killed (kill -9).  Everything else is Spark's own daemon.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from pyspark import daemon

PLACES = ("packing", "before-step", "after-step", "in-write", "before-record", "after-record", "claiming")
FOLDER = "CEDR_TEST_DEATHS"


def perhaps_die(place: str) -> None:
    """Die here if it was ordered."""
    from pyspark import TaskContext

    context = TaskContext.get()
    batch = None if context is None else context.getLocalProperty("streaming.sql.batchId")
    folder = Path(os.environ[FOLDER])
    try:
        os.rename(folder / f"{place}@{batch}", folder / f"dead-{place}@{batch}-{os.getpid()}")
    except OSError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def _arm() -> None:
    from cedr.spark.map_task.pack import Pack
    from cedr.spark.output import result_rows
    from cedr.spark.state import pipeline_cache
    from cedr.spark.step.worker import Worker

    pipeline_cache.LEAST = 1
    packed, stepped, save, claim = Pack._blobs, Worker._step, Worker._save, result_rows.claim

    def dying_claim(ticket: Any) -> Any:
        perhaps_die("claiming")
        return claim(ticket)

    def dying_pack(self: Pack, *given: Any) -> Any:
        perhaps_die("packing")
        return packed(self, *given)

    def dying_step(self: Worker, *given: Any) -> Any:
        perhaps_die("before-step")
        return stepped(self, *given)

    def dying_save(self: Worker, result: Any, record: Any) -> None:
        perhaps_die("after-step")
        self._segments = _Dying(self._segments, "in-write", None)
        self._record = _Dying(self._record, "before-record", "after-record")
        save(self, result, record)

    Pack._blobs, Worker._step, Worker._save = dying_pack, dying_step, dying_save
    result_rows.claim = dying_claim


class _Dying:
    """A state variable whose writes may be the last thing that its process does."""

    def __init__(self, variable: Any, before: str, after: str | None) -> None:
        self._variable, self._before, self._after = variable, before, after
        self._written = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._variable, name)
        return self._dying(found) if name in ("update", "updateValue", "removeKey") else found

    def _dying(self, write: Any) -> Any:
        def dying(*given: Any) -> Any:
            if self._written or self._after:  # segments: when one is written and another is not
                perhaps_die(self._before)
            self._written += 1
            answer = write(*given)
            if self._after:
                perhaps_die(self._after)
            return answer

        return dying


if __name__ == "__main__":
    run = daemon.worker

    def mortal_worker(*given: Any) -> int:
        """Armed after the fork: what is imported here starts threads."""
        _arm()
        return run(*given)

    if FOLDER in os.environ and len(sys.argv) > 1:
        daemon.worker = mortal_worker
    daemon.manager()
