"""Spark's own standalone cluster on loopback: a master and workers, each a JVM of its own."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from tests.spark.processes import Process, command, descendants

_HOME = Path(pyspark.__file__).parent
_MASTER = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
_READY = 120.0

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.blockManager.port": "0",
    "spark.network.timeout": "60s",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # both workers take part from the first batch
    "spark.excludeOnFailure.enabled": "false",
}
"""What an application needs that runs there.  Executors are found dead by their connection, not by the clock."""


class Cluster:
    """A master and its workers."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._processes: list[Process] = []
        self.workers: list[Process] = []
        try:
            master = self._start("master.Master", "master", [])
            self._await(master, _MASTER)
            self.url = _MASTER.findall(master.log.read_text())[0]
            for number in range(workers):
                given = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work{number}"), self.url]
                self.workers.append(self._start("worker.Worker", f"worker{number}", given))
            for worker in self.workers:
                self._await(worker, re.compile("Successfully registered with master"))
        except BaseException:
            self.stop()
            raise

    def _start(self, name: str, log: str, given: list[str]) -> Process:
        arguments = [str(_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
        arguments += ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]  # any free port
        environment = {
            "SPARK_HOME": str(_HOME),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_CONF_DIR": str(_log_to_console(self._folder)),
            "SPARK_NO_DAEMONIZE": "1",
        }
        process = Process([*arguments, *given], self._folder / f"{log}.log", environment)
        self._processes.append(process)
        return process

    def _await(self, process: Process, told: re.Pattern[str]) -> None:
        if not process.await_that(lambda: told.search(process.log.read_text()) is not None, _READY):
            message = f"the cluster did not start: {process.said()}"
            raise RuntimeError(message)

    def executors(self, worker: int) -> list[int]:
        """The executors of a worker: processes that run what applications ask for."""
        found = descendants(self.workers[worker].pid)
        return [pid for pid in found if "CoarseGrainedExecutorBackend" in command(pid)]

    def stop(self) -> None:
        """Kill what is still there, with all that it has started."""
        for process in self._processes[::-1]:
            process.kill()


def _log_to_console(folder: Path) -> Path:
    """A folder of settings in which the master's words are not turned off by anybody's."""
    conf = folder / "conf"
    conf.mkdir(exist_ok=True)
    lines = [
        "rootLogger.level = info",
        "rootLogger.appenderRef.stdout.ref = console",
        "appender.console.type = Console",
    ]
    lines += ["appender.console.name = console", "appender.console.target = SYSTEM_ERR"]
    lines += ["appender.console.layout.type = PatternLayout", "appender.console.layout.pattern = %p %c{1}: %m%n"]
    (conf / "log4j2.properties").write_text("\n".join(lines) + "\n")
    return conf


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster for as long as it is needed."""
    found = Cluster(folder)
    try:
        yield found
    finally:
        found.stop()


def listening(pids: list[int]) -> set[str]:
    """The addresses on which processes listen, from /proc; as the kernel writes them, in hexadecimal."""
    inodes = set()
    for pid in pids:
        folder = Path("/proc") / str(pid) / "fd"
        for name in os.listdir(folder) if folder.is_dir() else []:
            try:
                inodes.add(os.readlink(folder / name))
            except OSError:
                continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in (Path("/proc/net") / table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                found.add(fields[1].partition(":")[0])
    return found
