"""Measures of a running query, as Spark's own observed metrics.

Paper: Figure 8 (blocking, state size, output size).  They are in every progress event of the streaming query, under
the name ``cedr`` and that of the query.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import functions as F

from cedr.consistency.emission.changes import Changes
from cedr.consistency.measures import Measures
from cedr.model.time import Time
from cedr.spark.layout.layout import Layout

_SUMS: Final = (
    "received",
    "late",
    "held",
    "inserts",
    "retractions",
    "duplicates",
    "ties",
    "frozen",
    "unknown",
    "dead_letters",
    "state_rows",
    "state_bytes",
)
_OVER_STAGES: Final = tuple(name for name in _SUMS if name not in ("inserts", "retractions"))
"""Measures that are summed over the stages of a query; inserts and retractions are those of the last stage."""
MEASURES: Final = ("level_number", "level", *_SUMS, "longest_held", "guarantee")
COLUMNS: Final = "level_number int, level string, " + ", ".join(f"{name} long" for name in MEASURES[2:])


_NAME: Final = "cedr "


def metric_name(layout: Layout) -> str:
    """The name under which Spark reports the measures of a query."""
    return _NAME + layout.query.name


def measure_level(number: int, measures: Measures, changes: Changes, guarantee: Time, letters: int) -> dict[str, Any]:
    """The measures of one level in one bucket; inserts, retractions and dead letters are those of the batch."""
    return {
        "level_number": number,
        "level": measures.level.name,
        "received": measures.received,
        "late": measures.late,
        "held": measures.held,
        "inserts": changes.inserts,
        "retractions": changes.retractions,
        "duplicates": measures.duplicates,
        "ties": measures.ties,
        "frozen": measures.frozen,
        "unknown": measures.unknown,
        "dead_letters": letters,
        "state_rows": measures.total_rows,
        "state_bytes": measures.total_bytes,
        "longest_held": measures.longest_held,
        "guarantee": guarantee,
    }


def with_earlier_stages(row: Mapping[str, Any], before: Mapping[str, int]) -> dict[str, Any]:
    """The measures of a bucket plus those of earlier stages, which only the first bucket receives."""
    return {**row, **{name: row[name] + before.get(name, 0) for name in _OVER_STAGES}}


def measures_for_next_stage(row: Mapping[str, Any], before: Mapping[str, int]) -> dict[str, int]:
    """The measures that a bucket sends to the next stage; those of earlier stages are in them."""
    sums = with_earlier_stages(row, before)
    return {name: sums[name] for name in _OVER_STAGES if sums[name]}


def observed(layout: Layout) -> list[Any]:
    """The metrics over all buckets, as Spark columns; those of a second level end in ``_2``."""
    metrics = []
    for number in range(len(layout.levels)):
        suffix = "" if number == 0 else f"_{number + 1}"

        def own(name: str, number: int = number) -> Any:
            return F.when(F.col("level_number") == number, F.col(name))

        metrics += [F.sum(own(name)).alias(name + suffix) for name in _SUMS]
        metrics.append(F.max(own("longest_held")).alias(f"longest_held{suffix}"))
        metrics.append(F.min(own("guarantee")).alias(f"guarantee{suffix}"))
        metrics.append(F.max(own("level")).alias(f"level{suffix}"))
    return metrics


def status(running: Any) -> dict[str, Any]:
    """The newest measures that Spark has reported of a running query; empty before the first batch.

    ``running`` is what ``writeStream.start()`` returned.  A batch without input reports nothing and is skipped.
    """
    for progress in reversed(running.recentProgress):
        for name, row in progress["observedMetrics"].items():
            metrics = _by_name(row.asDict())
            if name.startswith(_NAME) and metrics.get("received") is not None:
                return {"query": name.removeprefix(_NAME), "batch": progress["batchId"], **metrics}
    return {}


def _by_name(row: dict[str, Any]) -> dict[str, Any]:
    """Metrics by name; Spark Connect gives a list of values and a schema."""
    if row.keys() == {"values", "schema"}:
        return {field["name"]: value for field, value in zip(row["schema"]["fields"], row["values"], strict=True)}
    return row
