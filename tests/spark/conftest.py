"""One Spark session for all tests: two cores, two buckets, as ``cedr.spark_session`` makes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import cedr

SETTINGS = {"spark.sql.session.timeZone": "America/New_York"}  # instants must not depend on it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    running = SparkSession.getActiveSession()
    if running is not None:  # of a page of the docs, with other settings
        running.stop()
    session = cedr.spark_session("local[2]", app_name="cedr tests", config=SETTINGS)
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
