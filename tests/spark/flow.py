"""What flows through the jobs of tests, what came out of them, and what one process says of the same."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Hashable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq

import cedr
from cedr.connect.delivery import Delivery, Disorder
from cedr.connect.generated import types_of
from cedr.connect.machines import Fleet, Story
from cedr.connect.writing import write_folder
from cedr.consistency.pipeline import Pipeline
from cedr.evaluation.queries import parse_level
from cedr.model.stream import Guarantee, Message, Retract, default_key, insert
from cedr.model.time import FOREVER, HOUR
from cedr.plan.compile import compile_text
from tests.spark.job import Job

LEVELS = ["STRONG", "MIDDLE"]
Said = Counter[Hashable]


def prepared(folder: Path, events: int, per_file: int, seed: int = 1, **settings: Any) -> Job:
    """A job, and files for it: late, repeated, corrected and retracted events of machines."""
    story = Story(events=events, machines=max(5, events // 50), seed=seed, corrects=("Load",))
    disorder = Disorder(late=0.2, delay=2 * HOUR, twice=0.02, corrected=0.05, retracted=0.05)
    delivery = Delivery(Fleet(story), disorder)
    write_folder(delivery, folder / "in", "parquet", per_file=per_file)
    for number, path in enumerate(files(folder)):  # read in the order of their age, which is data here
        os.utime(path, (1_700_000_000 + number,) * 2)
    return Job(str(folder), types_of(delivery), LEVELS, **settings)


def files(folder: Path) -> list[Path]:
    return sorted((folder / "in").glob("*.parquet"))


# -- what came out ----------------------------------------------------------------------------------------------------


def batches(folder: Path) -> dict[int, int]:
    """The number of the batch of each CEDR time, as the checkpoint has them."""
    found = {}
    for path in (folder / "checkpoint" / "offsets").iterdir():
        if path.name.isdigit():
            found[json.loads(path.read_text().splitlines()[1])["batchTimestampMs"] * 1_000] = int(path.name)
    return found


def sunk(folder: Path) -> list[dict[str, Any]]:
    """The rows of the files that Spark's log of the sink names; others are of batches that never ended."""
    log = folder / "out" / "_spark_metadata"
    names = {int(path.name.split(".")[0]): path for path in log.iterdir() if not path.name.startswith(".")}
    whole = max((number for number, path in names.items() if path.suffix), default=0)
    found: list[dict[str, Any]] = []
    for number in sorted(number for number in names if number >= whole):
        for line in names[number].read_text().splitlines()[1:]:
            path = unquote(urlparse(json.loads(line)["path"]).path)
            found += pq.read_table(path, coerce_int96_timestamp_unit="us").to_pylist()
    return found


def written(folder: Path) -> Said:
    """All rows with the number of their batch for its CEDR time, which no two runs share; how often each is there."""
    times = batches(folder)
    found: Said = Counter()
    for row in sunk(folder):
        row["Cs"] = times[micros(row["Cs"])]
        if row["change"] in ("insert", "retract"):
            key, _, said = row["K"].rpartition("/")
            row["K"] = f"{key}/{times[int(said)]}"
        found[json.dumps(row, sort_keys=True, default=str)] += 1
    return found


def changes(said: Said) -> Said:
    """Inserts and retractions alone, in the form of ``locally``."""
    found: Said = Counter()
    for text, count in said.items():
        row = json.loads(str(text))
        if row["change"] in ("insert", "retract"):
            ends = [_instant(row[name]) for name in ("Vs", "Ve", "Os", "Oe")]
            parts = tuple((part["type"], part["id"]) for part in row["contributors"])
            found[row["Cs"], row["level"], row["change"], row["id"], *ends, parts, row["machine"], row["load"]] += count
    return found


def micros(time: datetime) -> int:
    moment = time.replace(tzinfo=UTC) if time.tzinfo is None else time
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)


def _instant(text: str | None) -> int:
    return FOREVER if text is None else micros(datetime.fromisoformat(text))


# -- the same in one process ------------------------------------------------------------------------------------------


def messages(path: Path) -> list[Message]:
    """A file as the local host takes it: inserts, then retractions, then guarantees."""
    found: list[tuple[int, Message]] = []
    for row in pq.read_table(path).to_pylist():
        if row["change"] == "guarantee":
            if row["guarantee"] is not None:
                found.append((2, Guarantee(micros(row["guarantee"]))))
            continue
        payload = {name: row[name] for name in ("Machine_Id", "Load")}
        event = cedr.primitive(
            row["type"], row["id"], micros(row["vs"]), occurrence_start=micros(row["os"]), payload=payload
        )
        found.append((1, Retract(default_key(event))) if row["change"] == "retract" else (0, insert(event)))
    return [message for _, message in sorted(found, key=lambda item: item[0])]


def locally(job: Job, switches: Mapping[int, tuple[str, int]] | None = None) -> Said:
    """What one pipeline says batch by batch; ``switches`` has the level, and of which output, by batch."""
    program = compile_text(job.text)
    pipeline = Pipeline(program.queries["Alert"].plan, [parse_level(each) for each in job.levels], program.types)
    found: Said = Counter()
    for number, path in enumerate(files(Path(job.folder))):
        if switches and number in switches:
            level, of = switches[number]
            pipeline.switch(parse_level(level), of=of)
        for said in pipeline.step(messages(path), number + 1):
            for row in said.to_arrow().to_pylist():
                ends = [row[name] for name in ("Vs", "Ve", "Os", "Oe")]
                parts = tuple((part["type"], part["id"]) for part in row["contributors"])
                text = (number, said.level.name, row["change"], row["id"], *ends, parts, row["machine"], row["load"])
                found[text] += 1
    return found


def difference(found: Said, expected: Said) -> str:
    """Empty where two are the same; else what is lost and what is there too often."""
    lost, more = expected - found, found - expected
    if not lost and not more:
        return ""
    shown = [f"lost: {row}" for row in list(lost)[:3]] + [f"too much: {row}" for row in list(more)[:3]]
    return "\n".join([f"{lost.total()} rows lost, {more.total()} too many", *shown])
