"""A small Spark of its own: two cores, no web page, quick to start; what it logs goes to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from cedr.errors import Diagnostic, HostError
from cedr.spark.java import ensure_java

_SETTINGS: Final[Mapping[str, str]] = {
    "spark.master": "local[2]",
    "spark.app.name": "cedr demo",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # the first compiler of the JVM is enough for a minute, and half the time to start
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # so is no compiler at all for expressions over a few hundred rows
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "10000",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}


def start(folder: Path) -> SparkSession:
    """Start Spark; its files and its log, ``spark.log``, are in a folder.  A session that is running is used."""
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    own = {"spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    settings = SparkConf(loadDefaults=False).setAll([*_SETTINGS.items(), *own.items()])
    with (folder / "spark.log").open("wb") as log:  # the JVM keeps its own handle
        launch: Callable[..., Any] = launch_gateway  # it has no types
        try:
            gateway = launch(settings, {"stdout": log, "stderr": log})
        except PySparkRuntimeError as error:
            raise _not_started(error) from error
    return SparkSession(SparkContext(conf=settings, gateway=gateway))


def _not_started(error: PySparkRuntimeError) -> HostError:
    hint = "its log says why; cedr demo --host local needs no Spark"
    return HostError(Diagnostic("spark-not-started", f"Spark has not started: {error}", hint=hint))
