"""Measures as Spark reports them, in classic PySpark and under Connect.  Paper: Figure 8."""

from __future__ import annotations

from types import SimpleNamespace

from pyspark.sql import Row

import cedr
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Retract
from cedr.plan.compile import compile_text
from cedr.spark.output.measures import MEASURES, measure_level

CLASSIC = Row(received=5, level="MIDDLE")
CONNECT = Row("values", "schema")(
    [5, "MIDDLE"], {"type": "struct", "fields": [{"name": "received"}, {"name": "level"}]}
)


def test_the_newest_measures_whatever_their_form() -> None:
    """A batch without input has none, and another query's are not ours."""
    for row in (CLASSIC, CONNECT):
        progress = [
            {"batchId": 0, "observedMetrics": {"cedr Q": Row(received=1, level="MIDDLE")}},
            {"batchId": 1, "observedMetrics": {"other": Row(received=9), "cedr Q": row}},
            {"batchId": 2, "observedMetrics": {"cedr Q": Row(received=None, level=None)}},
        ]
        running = SimpleNamespace(recentProgress=progress)
        assert cedr.status(running) == {"query": "Q", "batch": 1, "received": 5, "level": "MIDDLE"}
    assert cedr.status(SimpleNamespace(recentProgress=[])) == {}


def test_a_bucket_measures_retractions_of_unknown_rows() -> None:
    """R37."""
    plan = compile_text("EVENT Q WHEN ANY(A AS a)", EventTypes(open=True)).queries["Q"].plan
    pipeline = Pipeline(plan, MIDDLE, EventTypes(open=True))
    (changes,) = pipeline.step([Guarantee(5), Retract("A/a@5", valid_end=9)], 1)
    row = measure_level(0, pipeline.measures()[0], changes, 5, 0)
    assert row["unknown"] == 1
    assert set(row) == set(MEASURES)
