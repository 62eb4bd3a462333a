"""A real cluster: a master, two workers and a driver, all processes of their own.  Readings: R33, R40."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.spark import flow
from tests.spark.cluster import SETTINGS, cluster, listening
from tests.spark.crashes import Checkpoint
from tests.spark.processes import descendants, start

LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


@pytest.mark.slow
def test_a_cluster_says_what_one_process_says_also_when_a_worker_is_killed(tmp_path: Path) -> None:
    """One of two workers, its executor and its Python processes die in the middle; what they held is restored."""
    job = flow.prepared(tmp_path / "job", 2_000, 300, settings=SETTINGS)
    with cluster(tmp_path / "cluster") as running:
        job = replace(job, master=running.url)
        driver = start(job)
        try:
            checkpoint = Checkpoint(Path(job.folder))
            assert driver.await_that(lambda: checkpoint.offsets(3), 300), driver.said()
            assert [len(running.executors(worker)) for worker in (0, 1)] == [1, 1]
            assert listening([each for w in running.workers for each in (w.pid, *descendants(w.pid))]) <= LOOPBACK
            running.workers[0].kill()
            assert not checkpoint.commit(len(flow.files(Path(job.folder))) - 1)  # it was in the middle
            assert driver.wait() == 0, driver.said()
            assert not running.workers[0].alive
            assert len(running.executors(1)) <= 1
        finally:
            driver.kill()
    assert Checkpoint(Path(job.folder)).next == len(flow.files(Path(job.folder)))
    assert flow.difference(flow.changes(flow.written(Path(job.folder))), flow.locally(job)) == ""
