"""The three applications of the paper's introduction: Spark says what the local host says.  Reading: R35."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import desk


@pytest.mark.parametrize("event", desk.QUERIES)
def test_a_trading_day(spark: SparkSession, event: str) -> None:
    """The same rows emitted, taken back and standing: some minutes with late, corrected and retracted ticks."""
    rows = desk.day(minutes=20)
    found, expected = desk.on_spark(rows, event, spark), desk.on_local(rows, event)
    assert found == expected
    assert found.emitted
