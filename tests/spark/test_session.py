"""``cedr.spark_session``, and what a session of somebody else lacks: said in one sentence before anything starts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

import pytest
from pyspark.sql import SparkSession

import cedr
from cedr.spark.extra import check_packages
from cedr.spark.session.check_session import ROCKSDB, STATE_STORE, check_session, check_workers
from cedr.spark.session.cores import PARTITIONS, cores
from cedr.spark.session.session import session_settings

HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"


@contextmanager
def set_to(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    before = spark.conf.get(name)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.set(name, str(before))


def refusal(spark: SparkSession, **asked: object) -> str:
    with pytest.raises(cedr.HostError) as caught:
        cedr.spark_session(**asked)  # type: ignore[arg-type]
    assert caught.value.diagnostics[0].code == "session-differs"
    assert SparkSession.getActiveSession() is spark
    return str(caught.value)


def test_the_session_that_runs_is_given_where_it_fits(spark: SparkSession) -> None:
    assert cedr.spark_session() is spark
    assert cedr.spark_session("local[2]", config={"spark.ui.enabled": False}) is spark
    assert spark.conf.get(STATE_STORE) == ROCKSDB
    assert spark.conf.get(PARTITIONS) == "2"
    assert spark.sparkContext.pythonExec == sys.executable


def test_what_differs_is_said(spark: SparkSession) -> None:
    assert refusal(spark, master="local[7]", config={"spark.ui.enabled": True}) == (
        "error[session-differs]: a Spark session runs already, and differs: spark.master is local[2], and local[7] is "
        "asked for\n"
        "    = spark.ui.enabled is false, and true is asked for\n"
        "    = hint: stop it before: spark.stop(); or go on with it, and leave out what differs"
    )
    assert "spark.driver.memory is" in refusal(spark, memory="77g")
    with set_to(spark, STATE_STORE, HDFS):
        assert f"{STATE_STORE} is {HDFS}, and {ROCKSDB} is needed" in refusal(spark)


def test_settings_follow_the_cores() -> None:
    assert session_settings("local[3]")[PARTITIONS] == session_settings("local[3,4]")[PARTITIONS] == "3"
    assert session_settings("local")[PARTITIONS] == "1"
    assert int(session_settings("local[*]")[PARTITIONS]) >= 1
    assert session_settings("local[2]")["spark.driver.bindAddress"] == "127.0.0.1"
    on_a_cluster = session_settings("spark://host:7077")
    assert PARTITIONS not in on_a_cluster
    assert "spark.driver.host" not in on_a_cluster
    assert on_a_cluster[STATE_STORE] == ROCKSDB


def test_tasks_at_once_are_not_sparks_200(spark: SparkSession) -> None:
    with set_to(spark, PARTITIONS, "200"):
        assert cores(spark) == 2
    with set_to(spark, PARTITIONS, "1"):
        assert cores(spark) == 1


def test_the_wrong_state_store(spark: SparkSession) -> None:
    with set_to(spark, STATE_STORE, HDFS):
        check_session(spark, streaming=False)
        with pytest.raises(cedr.HostError) as caught:
            check_session(spark, streaming=True)
    assert str(caught.value) == (
        "error[unfit-session]: the session keeps the state of streams in HDFSBackedStateStoreProvider, and a query "
        "needs RocksDB\n"
        f'    = hint: spark.conf.set("{STATE_STORE}", "{ROCKSDB}"), or make the session with cedr.spark_session()'
    )


@pytest.mark.parametrize(
    ("python", "wrong"),
    [("/nowhere/python3", "is not there"), ("/bin/false", "is Python of an unknown version, and this one is {}")],
)
def test_the_wrong_python_of_the_workers(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, python: str, wrong: str
) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", python)
    with pytest.raises(cedr.HostError) as caught:
        check_workers(spark)
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert str(caught.value) == (
        f"error[unfit-session]: the workers of the session run the Python {python}, which {wrong.format(own)}\n"
        '    = hint: say os.environ["PYSPARK_PYTHON"] = sys.executable before the session starts, or make the session '
        "with cedr.spark_session()"
    )


def test_a_python_without_cedr(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter that the environment was made of: the same version, without our packages."""
    bare = getattr(sys, "_base_executable", "")
    if not bare or bare == sys.executable:
        pytest.skip("this Python is in no environment of its own")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", bare)
    with pytest.raises(cedr.HostError, match=r"which has no cedr\[spark\] installed"):
        check_workers(spark)


@pytest.mark.parametrize(
    ("package", "found", "message"),
    [
        ("pandas", "3.0.1", "pandas 2.2 or newer, but older than 3, and pandas 3.0.1 is installed"),
        ("pandas", "2.1.4", "pandas 2.2 or newer, but older than 3, and pandas 2.1.4 is installed"),
        ("pyarrow", "17.0.0", "pyarrow 18 or newer, and pyarrow 17.0.0 is installed"),
        ("protobuf", "5.29.0", "protobuf 6.33 or newer, and protobuf 5.29.0 is installed"),
        ("protobuf", "", "protobuf 6.33 or newer, and it is not installed"),
    ],
)
def test_packages(package: str, found: str, message: str) -> None:
    def told(name: str) -> str:
        if name == package and not found:
            raise PackageNotFoundError(name)
        return found if name == package else version(name)

    check_packages()
    with pytest.raises(ModuleNotFoundError) as caught:
        check_packages(told)
    assert isinstance(caught.value, cedr.HostError)
    expected = f"error[missing-extra]: cedr on Spark needs {message}\n    = hint: pip install 'cedr[spark]'"
    assert str(caught.value) == expected
