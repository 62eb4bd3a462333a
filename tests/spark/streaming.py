"""Streams for tests: batches as files, one file a batch; a run takes all that is there and ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession

import cedr


class Stream:
    """A folder of files that a streaming query reads one by one, a checkpoint, and what was written."""

    def __init__(self, spark: SparkSession, folder: Path, schema: str) -> None:
        self.spark, self.folder, self.schema = spark, folder, schema
        self.names = [column.strip().split()[0] for column in schema.split(",")]
        for name in ("in", "control"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.count = 0

    def put(self, rows: Iterable[Sequence[Any]]) -> None:
        """One more batch.  Files are read in the order of their age, which is data here and not the clock's."""
        self.count += 1
        lines = [json.dumps(dict(zip(self.names, row, strict=True))) for row in rows]
        hidden = self.folder / f".{self.count}"
        hidden.write_text("\n".join(lines) + "\n")
        os.utime(hidden, (1_700_000_000 + self.count,) * 2)
        hidden.replace(self.folder / "in" / f"{self.count:05d}.json")

    @property
    def frame(self) -> DataFrame:
        reader = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return reader.json(str(self.folder / "in"))

    def run(self, result: DataFrame) -> list[dict[str, Any]]:
        """Take all that is there; the progress of each batch."""
        writer = result.writeStream.format("parquet").option("path", str(self.folder / "out"))
        query = writer.option("checkpointLocation", str(self.folder / "checkpoint")).trigger(availableNow=True).start()
        query.awaitTermination()
        return [dict(progress) for progress in query.recentProgress]

    def refused(self, frame: Any) -> cedr.CedrError:
        """The error of ours with which a query ends."""
        with pytest.raises(cedr.CedrError) as caught:
            self.run(frame)
        assert isinstance(caught.value.__cause__, StreamingQueryException)
        return caught.value

    def written(self) -> list[Row]:
        """All that was said so far."""
        return self.spark.read.parquet(str(self.folder / "out")).collect()


def told(rows: Iterable[Row], *, cs: bool = False) -> list[tuple[Any, ...]]:
    """What inserts and retractions say, batch by batch, without the CEDR times that Spark's clock gave."""
    found = [row.asDict(recursive=True) for row in rows if row["change"] in ("insert", "retract")]
    times = {time: number for number, time in enumerate(sorted({row["Cs"] for row in found}))}
    shown = []
    for row in found:
        parts = tuple(row["contributors"])
        rest = tuple(v for n, v in row.items() if n not in ("change", "K", "Cs", "contributors"))
        shown.append((*((times[row["Cs"]],) if cs else ()), row["change"], parts, *rest))
    return sorted(shown, key=repr)
