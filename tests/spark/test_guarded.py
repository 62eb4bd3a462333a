"""What a query's DataFrame raises is our error, with Spark's as its cause; and streams have as many partitions as
buckets, whatever the session says.  Reading: R38.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import cedr
from cedr.spark.session.cores import PARTITIONS
from tests.spark.streaming import Stream, told
from tests.spark.test_session import set_to
from tests.spark.test_standing import ALERT, BATCHES, SCHEMA, asked

BROKEN = "A,a,one,1\n"
COLUMNS = "kind string, id string, time long, key long"
QUERY = "EVENT Q WHEN ANY(A AS a) OUTPUT a.key AS key"


@pytest.fixture
def broken(spark: SparkSession, tmp_path: Path) -> DataFrame:
    (tmp_path / "broken.csv").write_text(BROKEN)
    given = cedr.files(spark, tmp_path / "broken.csv", COLUMNS, type="kind", id="id")
    found = cedr.query(QUERY, given)
    assert isinstance(found, DataFrame)
    return found


def lazily(frame: DataFrame) -> Iterator[Any]:
    return iter(list(frame.toLocalIterator()))


@pytest.mark.parametrize(
    "run",
    [
        lambda frame: frame.collect(),
        lambda frame: frame.count(),
        lambda frame: frame.toArrow(),
        lazily,
        lambda frame: frame.select("key").where("key > 0").collect(),
        lambda frame: frame.groupBy("key").count().collect(),
        lambda frame: frame.write.format("noop").mode("overwrite").save(),
    ],
)
def test_every_action_raises_our_error(broken: DataFrame, tmp_path: Path, run: Callable[[DataFrame], object]) -> None:
    with pytest.raises(cedr.StreamError) as caught:
        run(broken)
    assert str(caught.value) == (
        f"error[unreadable-line]: {tmp_path}/broken.csv, line 1, cannot be read\n"
        '    = column "time": "one" is not a whole number\n'
        "    = hint: mend it, or have it among the dead letters: dead_letters=True, or "
        'unreadable="dead-letter"'
    )
    assert isinstance(caught.value.__cause__, PySparkException)
    assert cedr.failure(caught.value) is caught.value


def test_other_errors_stay_what_they_are(broken: DataFrame) -> None:
    with pytest.raises(PySparkException, match="nothing"):
        broken.select("nothing")
    with pytest.raises(AttributeError):
        _ = broken.nothing
    assert "split by ID" in str(cedr.explain(broken.select("key")))


def test_a_stream_raises_our_error_first(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "broken.csv").write_text(BROKEN)
    given = cedr.files(spark, tmp_path / "in", COLUMNS, format="csv", streaming=True, type="kind", id="id", disorder=5)
    writer = cedr.query(QUERY, given).writeStream.format("noop").option("checkpointLocation", str(tmp_path / "point"))
    running = writer.trigger(availableNow=True).start()
    with pytest.raises(
        cedr.StreamError, match=r"^error\[unreadable-line\]: .*broken\.csv, line 1, cannot be"
    ) as caught:
        running.awaitTermination()
    assert isinstance(caught.value.__cause__, StreamingQueryException)
    assert str(running.exception()) == str(caught.value)


def test_a_stream_on_sparks_own_partitions_has_a_bucket_for_each_core(spark: SparkSession, tmp_path: Path) -> None:
    """And the session has its own number again when the stream has started."""
    stream = Stream(spark, tmp_path, SCHEMA)
    for batch in BATCHES:
        stream.put(batch)
    with set_to(spark, PARTITIONS, "200"):
        stream.run(asked(stream))
        assert spark.conf.get(PARTITIONS) == "200"
    assert {row["K"] for row in stream.written() if row["change"] == "guarantee"} == {"1/2", "2/2"}
    assert len(list((tmp_path / "checkpoint" / "state" / "0").glob("[0-9]*"))) == 2


def test_a_stream_goes_on_with_the_buckets_of_its_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    """Although the default is another by then; also where it is not ours to start: a select by another way."""
    whole, broken = Stream(spark, tmp_path / "whole", SCHEMA), Stream(spark, tmp_path / "broken", SCHEMA)
    for batch in BATCHES:
        whole.put(batch)
    whole.run(asked(whole))
    broken.put(BATCHES[0])
    broken.run(asked(broken))
    for batch in BATCHES[1:]:
        broken.put(batch)
    with set_to(spark, PARTITIONS, "1"):
        frame = asked(broken)
        assert "into 1 bucket" in str(cedr.explain(frame))
        broken.run(frame)
    assert told(whole.written(), cs=True) == told(broken.written(), cs=True)
    assert {row["K"] for row in broken.written() if row["change"] == "guarantee"} == {"1/2", "2/2"}


def test_a_number_of_buckets_that_was_asked_for_is_the_number_of_partitions(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path, SCHEMA)
    stream.put([*BATCHES[0], *BATCHES[4]])
    stream.run(asked(stream, ALERT, buckets=3))
    assert {row["K"] for row in stream.written() if row["change"] == "guarantee"} == {"1/3", "2/3", "3/3"}
    assert len(list((tmp_path / "checkpoint" / "state" / "0").glob("[0-9]*"))) == 3
