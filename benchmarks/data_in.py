"""Data as people have it: the card example from CSV and data frames beside messages, and events from Parquet.

All ratios are taken within one run.  Seconds are those of the processor.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import cedr
from benchmarks import machines as draw
from benchmarks.expected import CIDR07, FIRST
from benchmarks.measuring import Showing, Sizes, drive_whole, one_thread, pipeline_of, verdict
from cedr.model.level import STRONG

Row = dict[str, Any]

EXAMPLES = Path(__file__).parent.parent / "examples"
FASTER = 20.0
"""So many times faster than through messages."""
HALF = 2.0
"""At most so many times the seconds of the runtime alone, and so many times the bytes of the columns, in and out."""
FEW = FIRST.replace("OUTPUT", "AND {y.Load > 0.998} OUTPUT")
"""A query with few rows, so that the columns are those of the input."""


def run(sizes: Sizes, showing: Showing) -> dict[str, list[Row]]:
    """Both tables."""
    one_thread()
    with TemporaryDirectory() as name:
        folder = Path(name)
        return {
            "200,000 card transactions, times faster than as messages on the local host": _cards(
                folder, sizes, showing
            ),
            "events from Parquet, beside the runtime alone": _parquet(folder, sizes, showing),
        }


# -- cards ------------------------------------------------------------------------------------------------------------


def _cards(folder: Path, sizes: Sizes, showing: Showing) -> list[Row]:
    path, lines = folder / "cards.csv", folder / "cards.jsonl"
    subprocess.run([sys.executable, EXAMPLES / "cards.py", path], check=True)
    _as_messages(path, lines)
    query = (EXAMPLES / "fraud.cedr").read_text("utf-8")
    words: dict[str, Any] = {"type": "TX", "time": "ts", "id": "tx_id"}
    types = "TYPE TX (card STRING, amount FLOAT, country STRING);\n"
    frame = pd.read_csv(path)
    cases: dict[str, tuple[Callable[[], Any], int]] = {
        "messages, oracle": (lambda: cedr.evaluate(types + query, lines, host="oracle"), 1),
        "messages, local": (lambda: cedr.evaluate(types + query, lines, host="local"), 1),
        "CSV": (lambda: cedr.evaluate(query, path, **words), sizes.rounds),
        "pandas": (lambda: cedr.evaluate(query, frame, **words), sizes.rounds),
    }
    done = showing.bar("cards", sum(times for _, times in cases.values()) + 1)
    cedr.evaluate(query, path, **words)
    done()
    found: dict[str, tuple[float, list[Any]]] = {}
    for case, (evaluate, times) in cases.items():
        seconds = []
        for _ in range(times):
            start = process_time()
            rows = sorted(map(str, evaluate().to_arrow(["card", "first", "second", "contributors"]).to_pylist()))
            seconds.append(process_time() - start)
            done()
        found[case] = median(seconds), rows
    base, right = found["messages, local"]
    return [
        {
            "case": case,
            "rows": len(rows),
            "right": rows == right,
            "seconds": round(seconds, 3),
            "times": round(base / seconds, 1),
            "verdict": "" if "messages" in case else ("ok" if base / seconds >= FASTER else "under"),
        }
        for case, (seconds, rows) in found.items()
    ]


def _as_messages(path: Path, lines: Path) -> None:
    with path.open(encoding="utf-8", newline="") as source, lines.open("w", encoding="utf-8") as target:
        for row in csv.DictReader(source):
            try:
                payload = {"card": row["card"], "amount": float(row["amount"]), "country": row["country"]}
            except ValueError:
                continue
            if row["ts"] != "unknown":
                message = {"insert": {"type": "TX", "id": row["tx_id"], "vs": row["ts"], "payload": payload}}
                target.write(json.dumps(message) + "\n")


# -- Parquet ----------------------------------------------------------------------------------------------------------


def _parquet(folder: Path, sizes: Sizes, showing: Showing) -> list[Row]:
    drawn = draw.machines(sizes.events, sizes.keys)
    feed = [*draw.batches(drawn, len(drawn))]
    tables = {
        message.stream: pa.table({"id": message.ids, "time": message.vs, **message.payload})
        for batch in feed
        for message in batch.messages()
        if hasattr(message, "stream")
    }
    for kind, table in tables.items():
        pq.write_table(table, folder / f"{kind}.parquet")
    read = sum(table.nbytes for table in tables.values())
    found = []
    for name, text in (("few rows", FEW), ("FIRST", FIRST), ("CIDR07", CIDR07)):
        done = showing.bar(name, 2 * sizes.rounds)
        alone, whole = [], []
        for _ in range(sizes.rounds):
            alone.append(drive_whole(pipeline_of(draw.TYPES + text, STRONG), feed).seconds)
            done()
            start = process_time()
            data = {kind: folder / f"{kind}.parquet" for kind in tables}
            rows = len(cedr.evaluate(draw.TYPES + text, data, id="id", time="time", time_unit="us"))
            whole.append(process_time() - start)
            done()
        peak, made = _peak(folder, draw.TYPES + text, list(tables))
        ratio = median(mine / theirs for mine, theirs in zip(whole, alone, strict=True))
        found.append(
            {
                "case": name,
                "rows": rows,
                "runtime alone": round(median(alone), 2),
                "seconds": round(median(whole), 2),
                "times": round(ratio, 2),
                "limit": HALF,
                "verdict": verdict(ratio, HALF),
                "columns in, MB": round(read / 1e6),
                "out": round(made / 1e6),
                "peak": round(peak / 1e6),
                "times both": round(peak / (read + made), 2),
                "memory": verdict(peak / (read + made), HALF),
            }
        )
    return found


_CHILD = """
import cedr
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
warm = {{kind: [{{"id": 1, "time": 1, "Machine_Id": 1, "Serial": 1, "Load": 1.0}}] for kind in {kinds!r}}}
cedr.evaluate({text!r}, warm, id="id", time="time", time_unit="us")
base = peak()
data = {{kind: {folder!r} + "/" + kind + ".parquet" for kind in {kinds!r}}}
result = cedr.evaluate({text!r}, data, id="id", time="time", time_unit="us")
print(peak() - base, result.to_arrow().nbytes)
"""


def _peak(folder: Path, text: str, kinds: list[str]) -> tuple[int, int]:
    """Bytes that a process of its own takes at most, beyond what it takes for a few events; and those of the result."""
    lines = _CHILD.format(text=text, folder=str(folder), kinds=kinds)
    done = subprocess.run([sys.executable, "-c", lines], check=True, capture_output=True, text=True)
    peak, made = map(int, done.stdout.split())
    return peak, made
