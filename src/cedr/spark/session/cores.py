"""Finds how many tasks Spark runs at once, with the public API only."""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import functions as F

PARTITIONS: Final = "spark.sql.shuffle.partitions"
_PARALLELISM: Final = "spark.default.parallelism"


def cores(session: Any) -> int:
    """The number of tasks that run at once, at most the number of shuffle partitions of the session.

    A classic session has this number.  Spark Connect does not show it: there a small job counts the partitions that
    Spark makes of a range of numbers.
    """
    most = int(session.conf.get(PARTITIONS))
    return max(1, min(most, _parallelism(session)))


def _parallelism(session: Any) -> int:
    try:
        return int(session.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context; the error differs between versions
        pass
    configured = session.conf.get(_PARALLELISM, "")
    if configured:
        return int(configured)
    numbers = session.range(4096).select(F.spark_partition_id().alias("partition"))
    last = numbers.agg(F.max("partition")).collect()[0][0]
    return int(last) + 1
