"""FROM queries on Spark: the algebra of Section 6, bounded and as a stream.  Readings: R29 to R33, R35, R40."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import cedr
from cedr.consistency.pipeline import Pipeline
from cedr.model.event import primitive_contributors
from cedr.model.stream import Guarantee, Message, Retract, default_key, insert
from cedr.plan.compile import compile_text
from tests.spark.flow import batches as numbered
from tests.spark.streaming import Stream

TYPES = "TYPE TRADE (symbol STRING, price INTEGER); TYPE NEWS (symbol STRING, score INTEGER);"
WINDOWS = """EVENT T FROM TRADE AS t WINDOW MOVING 10 OUTPUT t.symbol AS symbol, t.price AS value;
EVENT N FROM NEWS AS n WINDOW MOVING 7 OUTPUT n.symbol AS symbol, n.score AS value;"""
AVERAGE = "FROM TRADE AS t WINDOW MOVING 10 GROUP BY t.symbol OUTPUT t.symbol AS symbol, AVG(t.price) AS price"
COUNTS = "FROM TRADE AS t WINDOW TUMBLING 10 GROUP BY t.symbol OUTPUT t.symbol AS symbol, COUNT(*) AS n"
JOIN = "FROM T AS t JOIN N AS n ON t.symbol = n.symbol OUTPUT t.symbol AS symbol, t.value AS price, n.value AS score"
QUERIES = {
    "average": f"EVENT Q {AVERAGE}",
    "tumbling": f"EVENT Q {COUNTS}",
    "hopping": "EVENT Q FROM TRADE AS t WINDOW HOPPING 20 EVERY 7 GROUP BY t.symbol OUTPUT MAX(t.price) AS highest",
    "running": "EVENT Q FROM TRADE AS t GROUP BY t.symbol OUTPUT t.symbol AS symbol, COUNT(*) AS n",
    "session": "EVENT Q FROM TRADE AS t WINDOW SESSION 6 GROUP BY t.symbol OUTPUT t.symbol AS s, MIN(t.price) AS p",
    "top": "EVENT Q FROM TRADE AS t WINDOW MOVING 10 GROUP BY t.symbol TOP 2 BY t.price DESC",
    "distinct": "EVENT Q FROM TRADE AS t WINDOW MOVING 10 OUTPUT DISTINCT t.symbol AS symbol, t.price % 3 AS price",
    "rows": "EVENT Q FROM TRADE AS t WHERE t.price > 5 OUTPUT t.symbol AS symbol, t.price * 2 AS price",
    "join": f"{WINDOWS} EVENT Q {JOIN}",
    "left join": f"{WINDOWS} EVENT Q {JOIN.replace('JOIN', 'LEFT JOIN')}",
    "anti join": f"{WINDOWS} EVENT Q FROM T AS t ANTI JOIN N AS n ON t.symbol = n.symbol AND t.value = n.value",
    "except": f"{WINDOWS} EVENT Q FROM T AS t EXCEPT N AS n",
    "union": f"{WINDOWS} EVENT Q FROM T AS t UNION N AS n",
    "aggregate over a pattern": """EVENT P WHEN SEQUENCE(NEWS AS n, TRADE AS t, 10) WHERE {n.symbol = t.symbol}
        OUTPUT t.symbol AS symbol, t.price AS price;
        EVENT Q FROM P AS p WINDOW MOVING 10 GROUP BY p.symbol OUTPUT p.symbol AS symbol, SUM(p.price) AS price""",
    "pattern over an aggregate": f"""EVENT M {AVERAGE};
        EVENT Q WHEN SEQUENCE(LAST M AS m, TRADE AS t, 10) WHERE {{m.symbol = t.symbol}} AND {{t.price > m.price}}
        OUTPUT t.symbol AS symbol, m.price AS average, t.price AS price""",
    "over everything": "EVENT Q FROM TRADE AS t WINDOW TUMBLING 10 OUTPUT COUNT(*) AS n, SUM(t.price) AS total",
    "by another key": f"EVENT C {COUNTS}; EVENT Q FROM C AS c GROUP BY c.n OUTPUT c.n AS n, COUNT(*) AS groups",
}
SCHEMA = "kind string, id string, time long, symbol string, price long, score long"


def market(count: int = 120, seed: int = 1) -> list[tuple[Any, ...]]:
    """Trades and news of five symbols, one of them NULL, in no order of time."""
    chosen = random.Random(seed)
    rows: list[tuple[Any, ...]] = []
    for number in range(count):
        time, symbol = number // 2 + chosen.randrange(-6, 7) + 10, chosen.choice(["a", "b", "c", "d", None])
        if chosen.random() < 0.6:
            rows.append(("TRADE", f"e{number}", time, symbol, chosen.randrange(9), None))
        else:
            rows.append(("NEWS", f"e{number}", time, symbol, None, chosen.randrange(9)))
    return rows


def as_message(row: tuple[Any, ...]) -> dict[str, Any]:
    kind, id_, time, symbol, price, score = row
    payload = {"symbol": symbol} | ({"price": price} if kind == "TRADE" else {"score": score})
    return {"insert": {"type": kind, "id": id_, "vs": time, "payload": payload}}


def shown(rows: list[Any]) -> list[tuple[Any, ...]]:
    """ID, lifetime, contributors and payload of rows of a DataFrame."""
    found = []
    for row in rows:
        whole = row.asDict(recursive=True)
        payload = [value for name, value in whole.items() if name not in HEADER]
        found.append((row["id"], row["Vs"], row["Ve"], sorted(row["contributors"] or []), payload))
    return sorted(found, key=repr)


HEADER = ("id", "Vs", "Ve", "Os", "Oe", "Rt", "contributors")


def meant(query: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """What the oracle says."""
    found = []
    for row in cedr.evaluate(TYPES + query, map(as_message, rows), event="Q", host="oracle").rows:
        parts = sorted(part.id for part in primitive_contributors(row) if part.stream in ("TRADE", "NEWS"))
        found.append((row.id, row.valid_start, row.valid_end, parts, list(row.payload.values())))
    return sorted(found, key=repr)


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(market(), SCHEMA)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_bounded_rows_have_their_final_ends(frame: DataFrame, query: str) -> None:
    """R33: what is shortened on a stream when its end is due has that end in a table."""
    events = cedr.events(frame, type="kind", id="id")
    found = cedr.query(TYPES + query, events, event="Q").collect()
    assert shown(found) == meant(query, market())
    assert found


def test_the_split_is_by_group_and_by_join(frame: DataFrame) -> None:
    """By the attribute of the group or of the join; what acts over everything has one bucket, and says why."""
    events = cedr.events(frame, type="kind", id="id")

    def split(name: str) -> str:
        return str(cedr.explain(cedr.query(TYPES + QUERIES[name], events, event="Q"))).partition("on Spark: ")[2]

    assert split("average").startswith("split by TRADE.symbol into 2 buckets")
    assert split("join").startswith("split by TRADE.symbol, NEWS.symbol into 2 buckets")
    assert split("rows").startswith("split by ID into 2 buckets")
    assert split("over everything").startswith("one bucket: an aggregate without GROUP BY is over the whole stream")
    assert split("by another key").startswith("one bucket: GROUP BY is by another key")


# -- streams ----------------------------------------------------------------------------------------------------------

Batch = Sequence[tuple[Any, ...]]
LEVELS = (cedr.MIDDLE, cedr.STRONG)


def trade(id_: str, time: int, symbol: str, price: int, change: str | None = None) -> tuple[Any, ...]:
    return ("TRADE", id_, time, symbol, price, None, change)


def news(id_: str, time: int, symbol: str, score: int) -> tuple[Any, ...]:
    return ("NEWS", id_, time, symbol, None, score, None)


def guarantee(time: int) -> tuple[Any, ...]:
    return (None, None, time, None, None, None, "guarantee")


BATCHES: list[Batch] = [
    [trade("t1", 1, "a", 4), trade("t2", 3, "b", 2), news("n1", 2, "a", 4)],
    [trade("t3", 5, "a", 6), news("n2", 6, "b", 2), trade("t4", 6, "c", 1)],
    [trade("t5", 4, "a", 8), guarantee(3)],  # late
    [trade("t3", 5, "a", 6, "retract"), trade("t6", 15, "b", 3), news("n3", 15, "a", 8)],
    [guarantee(14)],
    [trade("t7", 17, "c", 9), trade("t8", 16, "a", 2), guarantee(16)],
    [trade("t9", 40, "d", 5)],
    [guarantee(60)],
]


def messages(batch: Batch) -> list[Message]:
    """A batch as the local host takes it: inserts, retractions, guarantees."""
    found: list[tuple[int, Message]] = []
    for kind, id_, time, symbol, price, score, change in batch:
        if change == "guarantee":
            found.append((2, Guarantee(time)))
            continue
        payload = {"symbol": symbol} | ({"price": price} if kind == "TRADE" else {"score": score})
        row = cedr.primitive(kind, id_, time, payload=payload)
        found.append((1, Retract(default_key(row))) if change else (0, insert(row)))
    return [message for _, message in sorted(found, key=lambda item: item[0])]


def changed(row: Any, level: str, number: int) -> tuple[Any, ...]:
    names = ("change", "id", "Vs", "Ve", "Os", "Oe", "Rt", "symbol")
    return (number, level, *(row[name] for name in names))


def locally(text: str) -> list[tuple[Any, ...]]:
    """What one pipeline says of the batches."""
    program = compile_text(text)
    pipeline = Pipeline(program.queries["Q"].plan, LEVELS, program.types)
    found = []
    for number, batch in enumerate(BATCHES):
        for said in pipeline.step(messages(batch), number):
            found += [changed(row, said.level.name, number) for row in said.to_arrow().to_pylist()]
    return sorted(found, key=repr)


@pytest.mark.parametrize("name", ["average", "running", "except"])
def test_a_stream_says_what_the_local_host_says(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """R33, R40: ends are told when they are due, idle buckets included.

    The second run goes on with pipelines that worker processes keep.  The third goes on from a copy of the checkpoint
    of the first, of which no process has a pipeline any more.
    """
    text, schema = TYPES + QUERIES[name], f"{SCHEMA}, change string"
    stream, again = Stream(spark, tmp_path / "stream", schema), Stream(spark, tmp_path / "again", schema)
    events = cedr.events(stream.frame, type="kind", id="id", change="change")
    asked = cedr.query(text, events, event="Q", consistency=LEVELS)
    for batch in BATCHES[:4]:
        stream.put(batch)
    stream.run(asked)
    shutil.copytree(stream.folder / "checkpoint", again.folder / "checkpoint")
    for batch in BATCHES[4:]:
        stream.put(batch)
    stream.run(asked)
    again.run(asked)
    expected = locally(text)
    assert said(stream, stream.written()) == expected
    written = spark.read.parquet(str(again.folder / "out" / "*.parquet"))  # Spark's log of the sink begins before it
    assert said(again, written.collect()) == [change for change in expected if change[0] >= 4]
    assert {change[0] for change in expected} > {0, 7}


def said(stream: Stream, rows: list[Row]) -> list[tuple[Any, ...]]:
    numbers = numbered(stream.folder)
    told = [row for row in rows if row["change"] in ("insert", "retract")]
    return sorted((changed(row, row["level"], numbers[row["Cs"]]) for row in told), key=repr)
