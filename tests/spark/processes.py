"""Processes that tests start and kill: a job and all that it starts in turn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.spark.job import Job

ROOT = Path(__file__).resolve().parents[2]
SOURCES = f"{ROOT}{os.pathsep}{ROOT / 'src'}"
"""The tests and the package of this tree, whichever is installed."""
DAEMONS = ("pyspark.daemon ", "tests.spark.mortal ")


def parents() -> dict[int, int]:
    """The parent of each process."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:  # it has ended
                continue
            found[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def descendants(pid: int) -> list[int]:
    """All that a process has started, and what these have."""
    known, found = parents(), [pid]
    for each in found:
        found += [child for child, parent in known.items() if parent == each]
    return found[1:]


def command(pid: int) -> str:
    """The command line of a process; empty where it has ended."""
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def workers(pid: int) -> list[int]:
    """The Python workers that a process has started, and their daemons; the JVM names these too, in its settings."""
    return [each for each in descendants(pid) if command(each).partition(" -m ")[2].startswith(DAEMONS)]


def kill(*pids: int) -> None:
    """At once, without a word; when this returns they do nothing any more."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    for pid in pids:
        while command(pid):  # empty as soon as it is dead, though its parent may not have heard of it
            time.sleep(0.001)


class Process:
    """A child process, with its words in a file."""

    def __init__(self, arguments: list[str], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self.log = log
        given = {**os.environ, "PYTHONPATH": SOURCES, "SPARK_LOCAL_IP": "127.0.0.1", **(environment or {})}
        with log.open("ab") as stream:
            self._child = subprocess.Popen(  # our own programs
                arguments, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=given, cwd=ROOT
            )

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    def await_that(self, holds: Callable[[], bool], seconds: float) -> bool:
        """Look until something holds; False if the process has ended before, or time is up."""
        end = time.monotonic() + seconds
        while not holds():
            if not self.alive or time.monotonic() > end:
                return holds()
            time.sleep(0.0005)
        return True

    def wait(self, seconds: float = 600) -> int:
        """The exit code."""
        return self._child.wait(seconds)

    def kill(self) -> None:
        """The process and all that it has started."""
        kill(self.pid, *descendants(self.pid))
        self._child.wait(60)

    def said(self) -> str:
        """The end of what it wrote."""
        return self.log.read_text("utf-8", "replace")[-4000:]


def start(job: Job, environment: Mapping[str, str] | None = None) -> Process:
    """A job as a process."""
    job.write()
    arguments = [sys.executable, "-m", "tests.spark.job", job.folder]
    return Process(arguments, Path(job.folder) / "log", environment)
