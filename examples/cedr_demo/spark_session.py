"""Starts a small Spark for the demo: two cores, no web page, quick to start, with its log in a file."""

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

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.spark.session.class_archive import keep, keeping, kept_classes, loading
from cedr.spark.session.java import ensure_java

_SETTINGS: Final[Mapping[str, str]] = {
    "spark.master": "local[2]",
    "spark.app.name": "cedr demo",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # for a few hundred rows it is quicker not to compile expressions
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    # the default one starts some forty programs in each batch; nobody continues from the checkpoint of the demo
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "10000",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}

_BRIEF: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""The first compiler of the JVM is enough for a run of a minute, and halves the start."""


class Spark:
    """A Spark that this process starts and stops."""

    def __init__(self, folder: Path) -> None:
        """Start Spark; its files and its log ``spark.log`` are in the folder."""
        self._folder = folder
        self._kept = kept_classes(ensure_java())
        self._new = folder / "classes.jsa"
        self.keeps = self._kept is not None and not self._kept.is_file()
        """Whether its classes are to be kept when it has stopped, because there is no such file yet."""
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        self._gateway, settings = self._launched()
        self.session = SparkSession(SparkContext(conf=settings, gateway=self._gateway))

    def stop(self) -> None:
        """Stop Spark."""
        self.session.stop()

    def keep(self) -> None:
        """After ``stop``, wait some seconds until Java has written its classes, and keep them."""
        if self.keeps and self._kept is not None:
            self._gateway.shutdown()
            self._gateway.proc.communicate()  # Java ends when its input ends
            keep(self._new, self._kept)

    def _launched(self) -> tuple[Any, SparkConf]:
        own = {
            "spark.local.dir": str(self._folder / "local"),
            "spark.sql.warehouse.dir": str(self._folder / "warehouse"),
            "spark.driver.extraJavaOptions": self._options(),
        }
        settings = SparkConf(loadDefaults=False).setAll([*_SETTINGS.items(), *own.items()])
        with (self._folder / "spark.log").open("wb") as log:  # the JVM keeps its own handle
            launch: Callable[..., Any] = launch_gateway  # it has no types
            try:
                return launch(settings, {"stdout": log, "stderr": log}), settings
            except PySparkRuntimeError as error:
                raise _not_started(error) from error

    def _options(self) -> str:
        if self._kept is None:
            return _BRIEF
        return f"{_BRIEF} {keeping(self._new) if self.keeps else loading(self._kept)}"


def _not_started(error: PySparkRuntimeError) -> HostError:
    hint = "its log says why; cedr demo --host local needs no Spark"
    return HostError(Diagnostic("spark-not-started", f"Spark has not started: {error}", hint=hint))
