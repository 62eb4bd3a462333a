"""What flows through the jobs of tests, what came out of them, and what one process says of the same."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
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
from cedr.hosts.queries import parse_level
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


def composed(folder: Path) -> list[list[Path]]:
    """The files of each batch, as the checkpoint has them.

    Mostly one.  If the driver dies when Spark has noted a file and not yet of which batch it is, the next one takes it
    along with its own: nothing was said of it, so it may.
    """
    noted: dict[Path, int] = {}
    for log in (folder / "checkpoint" / "sources" / "0").iterdir():
        for line in log.read_text().splitlines()[1:] if not log.name.startswith(".") else ():
            entry = json.loads(line)
            noted[folder / "in" / Path(unquote(urlparse(entry["path"]).path)).name] = entry["batchId"]
    found, last = [], -1
    for number in sorted(batches(folder).values()):
        offset = json.loads((folder / "checkpoint" / "offsets" / str(number)).read_text().splitlines()[2])["logOffset"]
        found.append(sorted(path for path, place in noted.items() if last < place <= offset))
        last = offset
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
            parts = tuple(zip(row["contributor_types"], row["contributors"], strict=True))
            found[row["Cs"], row["level"], row["change"], row["id"], *ends, parts, row["machine"], row["load"]] += count
    return found


def standing(said: Said) -> Said:
    """What is left at each level when all that was said is taken together: whatever the batches were."""
    rows = [json.loads(str(text)) for text in said.elements()]
    rows = [row for row in rows if row["change"] in ("insert", "retract")]
    held: dict[tuple[str, str], tuple[Any, ...]] = {}
    for row in sorted(rows, key=lambda row: (row["Cs"], row["change"] == "retract")):
        name = row["level"], row["K"]
        ends = tuple(_instant(row[end]) for end in ("Vs", "Ve", "Os", "Oe"))
        held[name] = (row["level"], row["id"], *ends, row["machine"], row["load"])
        if ends[3] <= ends[2]:
            del held[name]
    return Counter(held.values())


def micros(time: datetime) -> int:
    moment = time.replace(tzinfo=UTC) if time.tzinfo is None else time
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)


def _instant(text: str | None) -> int:
    return FOREVER if text is None else micros(datetime.fromisoformat(text))


# -- the same in one process ------------------------------------------------------------------------------------------


def messages(paths: Iterable[Path]) -> list[Message]:
    """Files as the local host takes them: inserts, then retractions, then guarantees."""
    found: list[tuple[int, Message]] = []
    for row in (row for path in paths for row in pq.read_table(path).to_pylist()):
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
    for number, paths in enumerate(composed(Path(job.folder))):
        if switches and number in switches:
            level, of = switches[number]
            pipeline.switch(parse_level(level), of=of)
        for said in pipeline.step(messages(paths), number + 1):
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
