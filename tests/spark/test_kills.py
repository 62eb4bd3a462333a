"""Kill -9 of the driver and of Python workers: no row is lost, none is doubled.  Readings: R38, R40.

``make kills`` does the same fifty times at drawn places.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import cedr
from tests.spark import flow
from tests.spark.crashes import Crashes
from tests.spark.job import MORTAL, Job

ORDERS = ("in-write@0", "after-record@2", "after-step@4")
"""A worker dies between two segments of its state; when all is written and nothing committed; when nothing is."""


@pytest.mark.slow
def test_what_is_killed_goes_on_exactly_with_a_level_switch_pending(spark: SparkSession, tmp_path: Path) -> None:
    """The driver dies between the commits of two buckets, before the batch of the switch ran, and before its commit."""
    job = flow.prepared(tmp_path / "killed", 1_500, 300, settings=MORTAL)
    crashes = Crashes(job, seed=1, kills=10, seconds=1_000, orders=ORDERS)
    crashes.places = [("one state of two written", 1), ("offsets written", 2), ("sink written", 3)]
    for kill in crashes.run():
        if kill["where"] == "one state of two written":
            assert kill["what the batch had left"].startswith("offsets")
            cedr.Control(tmp_path / "killed" / "control").switch("STRONG", of=1)
    found = sorted((row["who"] == "worker", row["where"], row["batch"]) for row in crashes.table)
    assert [each[1:] for each in found] == [
        ("offsets written", 2),
        ("one state of two written", 1),
        ("sink written", 3),
        ("after-record", 2),
        ("after-step", 4),
        ("in-write", 0),
    ]
    assert crashes.starts == 4
    said = flow.written(tmp_path / "killed")
    assert flow.difference(flow.changes(said), flow.locally(job, {2: ("STRONG", 1)})) == ""
    assert flow.difference(said, _undisturbed(job, tmp_path / "whole", spark, 2)) == ""
    assert spark.read.parquet(str(tmp_path / "killed" / "out")).count() == said.total() > 500


def _undisturbed(job: Job, folder: Path, spark: SparkSession, switched: int) -> flow.Said:
    """The same with nobody killed; the switch is said before a batch."""
    (folder / "in").mkdir(parents=True)
    whole = replace(job, folder=str(folder))
    given = flow.files(Path(job.folder))
    for part in (given[:switched], given[switched:]):
        if part[0] != given[0]:
            cedr.Control(folder / "control").switch("STRONG", of=1)
        for path in part:
            shutil.copy2(path, folder / "in")
        whole.run(spark)
    return flow.written(folder)
