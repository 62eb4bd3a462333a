"""The same under Spark Connect: only the public DataFrame API is used.  In a process and session of its own, with
Spark's own 200 partitions.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from pyspark.sql import SparkSession
import cedr

builder = SparkSession.builder.remote("local[2]")
for setting in sys.argv[2:]:
    builder = builder.config(*setting.split("=", 1))
spark = builder.getOrCreate()
folder = sys.argv[1]
rows = [("A", "a1", 1, 1), ("A", "a2", 3, 2), ("B", "b2", 6, 2)]
frame = spark.createDataFrame(rows, "kind string, id string, time long, key int").coalesce(1)
query = "EVENT Q WHEN UNLESS(A AS a, B AS b, 10) WHERE CorrelationKey(key, EQUAL)"
found = cedr.query(query, cedr.events(frame, type="kind", id="id"))
assert "split by A.key, B.key" in str(cedr.explain(found))
frame.write.parquet(f"{folder}/in")
stream = spark.readStream.schema(frame.schema).parquet(f"{folder}/in")
changes = cedr.query(query, cedr.events(stream, type="kind", id="id", disorder=0))
writer = changes.writeStream.option("path", f"{folder}/out").option("checkpointLocation", f"{folder}/checkpoint")
running = writer.trigger(availableNow=True).start()
running.awaitTermination()
said = spark.read.parquet(f"{folder}/out").where("change = 'insert'").collect()
status = cedr.status(running)
from pathlib import Path
Path(f"{folder}/bad").mkdir()
Path(f"{folder}/bad/x.csv").write_text("A,a,one,1\\n")
how = {"format": "csv", "type": "kind", "id": "id"}
bad = cedr.files(spark, f"{folder}/bad", frame.schema, **how)
later = cedr.files(spark, f"{folder}/bad", frame.schema, streaming=True, disorder=0, **how)
broken = cedr.query(query.replace("B AS b", "A AS b"), later)
sink = broken.select("change").writeStream.format("noop").option("checkpointLocation", f"{folder}/other")
for run in (cedr.query(query.replace("B AS b", "A AS b"), bad).collect, sink.start().awaitTermination):
    try:
        run()
    except cedr.StreamError as error:
        assert str(error).startswith("error[unreadable-line]: "), error
        assert type(error.__cause__).__module__ == "pyspark.errors.exceptions.connect", error.__cause__
    else:
        raise AssertionError("it should have failed")
assert spark.conf.get("spark.sql.shuffle.partitions") == "200"
told = {row["K"] for row in spark.read.parquet(f"{folder}/out").where("change = 'guarantee'").collect()}
assert told == {"1/2", "2/2"}, told
print(type(spark).__module__, [row["id"] for row in found.collect()], [row["id"] for row in said], status)
"""


@pytest.mark.slow
def test_bounded_and_streaming_under_connect(tmp_path: Path) -> None:
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    settings = [
        "spark.ui.enabled=false",
        "spark.driver.host=127.0.0.1",
        "spark.driver.bindAddress=127.0.0.1",
        f"spark.sql.streaming.stateStore.providerClass={provider}",
    ]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), *settings],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "pyspark.sql.connect.session ['a1'] ['a1'] {'query': 'Q', 'batch': 0, " in done.stdout
