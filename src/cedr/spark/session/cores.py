"""How many tasks Spark runs at once, by the public API alone."""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import functions as F

PARTITIONS: Final = "spark.sql.shuffle.partitions"
_TOLD: Final = "spark.default.parallelism"


def cores(session: Any) -> int:
    """How many tasks run at once, and no more than the partitions that the session asks for.

    A classic session tells it.  Spark Connect does not: there the number of partitions that Spark itself makes of a
    range of numbers is counted, which is a small job.
    """
    most = int(session.conf.get(PARTITIONS))
    return max(1, min(most, _parallelism(session)))


def _parallelism(session: Any) -> int:
    try:
        return int(session.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context; which error says so differs from version to version
        pass
    told = session.conf.get(_TOLD, "")
    if told:
        return int(told)
    numbers = session.range(4096).select(F.spark_partition_id().alias("of"))
    last = numbers.agg(F.max("of")).collect()[0][0]
    return int(last) + 1
