"""The FROM queries of the docs give on Spark what the oracle gives.  Readings: R29 to R33, R45."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import cedr
from cedr.model.schema import DataType, EventType
from cedr.model.time import FOREVER
from tests.docs.from_queries import FromQuery, events, from_queries, messages

_TYPES = {
    DataType.INTEGER: "long",
    DataType.FLOAT: "double",
    DataType.DECIMAL: "decimal(38, 18)",
    DataType.STRING: "string",
    DataType.BOOLEAN: "boolean",
}
HEADER = {"id", "Vs", "Ve", "Os", "Oe", "Rt", "contributors"}
COUNT = 30
_WIDE = Context(prec=60, rounding=ROUND_HALF_UP)


def frame(spark: SparkSession, of: EventType) -> DataFrame:
    """Events of a type as a DataFrame: whole microseconds for times."""
    schema = ", ".join(["id string", "vs long", "ve long", *(f"{n} {_TYPES[t]}" for n, t in of.attributes.items())])
    rows = [(each["id"], each["vs"], each["ve"], *each["payload"].values()) for each in events(of, COUNT, 1)]
    return spark.createDataFrame(rows, schema)


@pytest.mark.parametrize("query", from_queries(), ids=lambda query: f"{query.page} {query.name}")
def test_spark(spark: SparkSession, query: FromQuery) -> None:
    """Random events, with ends and NULLs; all rows are compared."""
    frames = {of.name: frame(spark, of) for of in query.types}
    unit = "us" if "minute" in query.text or "hour" in query.text or "second" in query.text else "ticks"
    given = cedr.events(frames, id="id", time="vs", valid_end="ve", time_unit=unit)
    found = [_shown(row.asDict()) for row in cedr.query(query.text, given, event=query.name).collect()]
    meant = cedr.evaluate(query.text, messages(query, COUNT), event=query.name, host="oracle").rows
    expected = [
        (r.id, r.valid_start, None if r.valid_end == FOREVER else r.valid_end, *r.payload.values()) for r in meant
    ]
    assert sorted(map(_plain, found)) == sorted(map(_plain, expected))


def _shown(row: dict[str, Any]) -> tuple[Any, ...]:
    times = (_micros(row["Vs"]), _micros(row["Ve"]))
    return row["id"], *times, *(value for name, value in row.items() if name not in HEADER)


def _micros(time: datetime | int | None) -> int | None:
    if not isinstance(time, datetime):
        return None if time == FOREVER else time
    return round(time.astimezone(UTC).timestamp() * 1_000_000)


def _plain(row: tuple[Any, ...]) -> str:
    """A row as text; decimals with as many places as their column on Spark, instants as whole microseconds."""
    values = (_micros(value) if isinstance(value, datetime) else value for value in row)
    return repr(
        [
            value.quantize(Decimal(1).scaleb(-18), context=_WIDE) if isinstance(value, Decimal) else value
            for value in values
        ]
    )
