"""Measures as Spark reports them, in classic PySpark and under Connect.  Paper: Figure 8."""

from __future__ import annotations

from types import SimpleNamespace

from pyspark.sql import Row

import cedr

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
