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
_OF_ALL: Final = tuple(name for name in _SUMS if name not in ("inserts", "retractions"))
"""What the stages of a query measure together; what is said is what the last one says."""
MEASURES: Final = ("of", "level", *_SUMS, "longest_held", "guarantee")
COLUMNS: Final = "of int, level string, " + ", ".join(f"{name} long" for name in MEASURES[2:])


_NAME: Final = "cedr "


def metric_name(layout: Layout) -> str:
    """The name under which Spark reports the measures of a query."""
    return _NAME + layout.query.name


def measured(of: int, measures: Measures, changes: Changes, guarantee: Time, letters: int) -> dict[str, Any]:
    """The measures of one level of one bucket; inserts, retractions and dead letters are those of the batch."""
    return {
        "of": of,
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


def with_stages_before(row: Mapping[str, Any], before: Mapping[str, int]) -> dict[str, Any]:
    """The measures of a bucket with those of the stages before it, as far as it has heard of them."""
    return {**row, **{name: row[name] + before.get(name, 0) for name in _OF_ALL}}


def of_stage(row: Mapping[str, Any], before: Mapping[str, int]) -> dict[str, int]:
    """What the next stage hears of the measures of a bucket, and of those before it."""
    found = with_stages_before(row, before)
    return {name: found[name] for name in _OF_ALL if found[name]}


def observed(layout: Layout) -> list[Any]:
    """The metrics of all buckets together; those of a second level and further ones are numbered."""
    found = []
    for number in range(len(layout.levels)):
        suffix = "" if number == 0 else f"_{number + 1}"

        def own(name: str, number: int = number) -> Any:
            return F.when(F.col("of") == number, F.col(name))

        found += [F.sum(own(name)).alias(name + suffix) for name in _SUMS]
        found.append(F.max(own("longest_held")).alias(f"longest_held{suffix}"))
        found.append(F.min(own("guarantee")).alias(f"guarantee{suffix}"))
        found.append(F.max(own("level")).alias(f"level{suffix}"))
    return found


def status(running: Any) -> dict[str, Any]:
    """Where a running query stands: the newest measures that Spark has reported of it; empty before the first batch.

    ``running`` is what ``writeStream.start()`` gave.  A batch without input reports nothing, and is passed over.
    """
    for progress in reversed(running.recentProgress):
        for name, row in progress["observedMetrics"].items():
            found = _named(row.asDict())
            if name.startswith(_NAME) and found.get("received") is not None:
                return {"query": name.removeprefix(_NAME), "batch": progress["batchId"], **found}
    return {}


def _named(row: dict[str, Any]) -> dict[str, Any]:
    """Metrics by name; Spark Connect gives them as values beside their schema."""
    if row.keys() == {"values", "schema"}:
        return {field["name"]: value for field, value in zip(row["schema"]["fields"], row["values"], strict=True)}
    return row
