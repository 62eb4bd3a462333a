"""Python workers that die at a chosen place of a step: given to Spark as ``spark.python.daemon.module``.

The places are those between which a step could be torn: before it, when the pipeline has gone on but nothing is
written, between two segments of its state, before and after the record that says which step they are of, and when what
was said is claimed: all of it is set aside to be claimed here, however little it is.  A file
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
    from cedr.spark.step import pipeline_cache as holding
    from cedr.spark.step import unpack
    from cedr.spark.step.stepping import Stepping

    holding.LEAST = 1
    packed, stepped, write, claimed = Pack._blobs, Stepping._stepped, Stepping._write, unpack.claimed

    def dying_claim(ticket: Any) -> Any:
        perhaps_die("claiming")
        return claimed(ticket)

    def dying_pack(self: Pack, *given: Any) -> Any:
        perhaps_die("packing")
        return packed(self, *given)

    def dying_step(self: Stepping, *given: Any) -> Any:
        perhaps_die("before-step")
        return stepped(self, *given)

    def dying_write(self: Stepping, done: Any, record: Any) -> None:
        perhaps_die("after-step")
        self._segments = _Dying(self._segments, "in-write", None)
        self._record = _Dying(self._record, "before-record", "after-record")
        write(self, done, record)

    Pack._blobs, Stepping._stepped, Stepping._write = dying_pack, dying_step, dying_write
    unpack.claimed = dying_claim


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
