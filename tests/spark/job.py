"""A streaming job as a process of its own, so that it can be killed: ``python -m tests.spark.job FOLDER``.

The folder holds ``in`` (files of ``cedr generate``), ``control``, ``checkpoint`` and ``out``; ``job.json`` says what to
run.  Each file is a batch.  The job takes all that is there and ends; started again it goes on.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import cedr
from tests.spark.conftest import SETTINGS

SHORT_LIVED = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""A process that lives for some seconds spends most of them compiling, unless it is told not to."""

MORTAL = {"spark.python.daemon.module": "tests.spark.mortal"}
"""Python workers that can be told to die."""

SCHEMA = (
    "change string, type string, id string, vs timestamp, os timestamp, guarantee timestamp, "
    "Machine_Id string, Load double"
)
QUERY = """EVENT Alert
WHEN UNLESS(SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 4 hours), RESTART AS z, 30 minutes)
WHERE CorrelationKey(Machine_Id, EQUAL) AND {x.Load < 0.8}
OUTPUT x.Machine_Id AS machine, x.Load AS load, y.Vs AS down"""


@dataclass(frozen=True)
class Job:
    """What a job runs, and where."""

    folder: str
    types: str
    levels: list[str]
    master: str = "local[2,4]"  # a task is tried four times
    settings: dict[str, str] = field(default_factory=dict)

    def write(self) -> None:
        """For the process to read."""
        (Path(self.folder) / "job.json").write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, folder: str) -> Job:
        return cls(**json.loads((Path(folder) / "job.json").read_text()))

    @property
    def text(self) -> str:
        return self.types + QUERY

    def result(self, spark: SparkSession) -> DataFrame:
        """The change stream of the files."""
        frame = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(f"{self.folder}/in")
        events = cedr.events(
            frame,
            type="type",
            id="id",
            time="vs",
            occurrence_start="os",
            change="change",
            guarantee="guarantee",
            stable_key=True,
        )
        control = Path(self.folder) / "control"
        control.mkdir(exist_ok=True)
        options: dict[str, Any] = {"consistency": self.levels, "buckets": 2, "control": control}
        return cedr.query(self.text, events, dead_letters=True, columns=["*", "contributor_types"], **options)

    def run(self, spark: SparkSession) -> list[dict[str, Any]]:
        """Take all that is there; the progress of each batch."""
        writer = self.result(spark).writeStream.format("parquet").option("path", f"{self.folder}/out")
        writer = writer.option("checkpointLocation", f"{self.folder}/checkpoint").trigger(availableNow=True)
        query = writer.start()
        query.awaitTermination()
        return [dict(progress) for progress in query.recentProgress]

    def session(self) -> SparkSession:
        """A session of its own."""
        os.environ["PYSPARK_PYTHON"] = sys.executable
        settings = {**SETTINGS, **SHORT_LIVED, "spark.log.level": "OFF", **self.settings}
        return cedr.spark_session(self.master, app_name="cedr job", config=settings)


if __name__ == "__main__":
    job = Job.read(sys.argv[1])
    session = job.session()
    job.run(session)
    session.stop()
