"""A seeded trading day for the three applications of the paper's introduction, on the local host or on Spark.

    python examples/desk.py                      the local host
    python examples/desk.py --host spark         the same on Spark
    python examples/desk.py --messages day.jsonl the feed alone, for `cedr run`

Ticks come late by up to two minutes, some are corrected by the exchange, some are taken back; a file is on its way for
as long as a quarter of an hour.  The same seed gives the same day.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import cedr

TEXT = (Path(__file__).parent / "desk.cedr").read_text("utf-8")
QUERIES = ("Portfolio", "Reaction", "Breach")
START = datetime(2026, 1, 30, 9, tzinfo=UTC)
SYMBOLS = {"ACME": 40.0, "BOLT": 25.0, "CORE": 60.0}
HOLDINGS = (("rates", "ACME", 100), ("rates", "BOLT", 200), ("growth", "CORE", 50))
LATEST = 120
"""Seconds by which a message may come late."""
PERIOD = 240.0
"""Seconds between two guarantees, and between two batches."""
CORRECTED = 600
"""Seconds within which the exchange corrects a tick."""
ATTRIBUTES = ("desk", "symbol", "shares", "price", "tone", "trader", "ticket")
SHOWN = ("level", "change", "id", "K", "Vs", "Ve", "Os", "Oe", "Cs", "Rt", "contributors", "final")
"""What stands in a row on Spark beside the payload."""
Row = dict[str, Any]


def day(minutes: int = 60, seed: int = 7) -> list[Row]:
    """The day as rows in the order in which they arrive, with a guarantee after each batch."""
    chance = random.Random(seed)
    told = [(0.0, row("HOLDING", f"h{n}", 0, desk=d, symbol=s, shares=k)) for n, (d, s, k) in enumerate(HOLDINGS)]
    for what in (_ticks, _news, _fills):
        told += what(chance, minutes * 60)
    told.sort(key=lambda each: each[0])
    rows: list[Row] = []
    due = PERIOD
    for arrival, each in told:
        while arrival > due:
            rows.append({"change": "guarantee", "vs": at(due - LATEST - 1)})
            due += PERIOD
        rows.append(each)
    return [*rows, {"change": "guarantee", "vs": at(10 * 3600)}]


def _ticks(chance: random.Random, seconds: int) -> Iterator[tuple[float, Row]]:
    prices = dict(SYMBOLS)
    for number, second in enumerate(range(5, seconds, 15)):
        symbol = chance.choice(list(prices))
        prices[symbol] = round(prices[symbol] + chance.gauss(0, 0.8), 2)
        arrival = second + (chance.uniform(1, LATEST - 1) if chance.random() < 0.2 else 0)
        tick = row("TICK", f"t{number}", second, symbol=symbol, price=prices[symbol])
        fate = chance.random()
        if fate < 0.05:  # ten times the price: the exchange corrects it, or takes it back
            wrong = row("TICK", f"t{number}", second, symbol=symbol, price=round(10 * prices[symbol], 2))
            yield arrival, wrong
            later = arrival + chance.uniform(LATEST, CORRECTED)
            yield later, (_corrected(tick, later) if fate < 0.03 else wrong | {"change": "retract"})
        else:
            yield arrival, tick


def _corrected(tick: Row, second: float) -> Row:
    """A version of its own, stated when the exchange noticed."""
    return tick | {"k": f"{tick['k']}, corrected", "os": at(second - LATEST / 2)}


def _news(chance: random.Random, seconds: int) -> Iterator[tuple[float, Row]]:
    for number, second in enumerate(range(240, seconds, 420)):
        item = row("NEWS", f"n{number}", second, symbol=chance.choice(list(SYMBOLS)), tone=chance.choice((-1, 1)))
        yield second + chance.uniform(0, 30), item


def _fills(chance: random.Random, seconds: int) -> Iterator[tuple[float, Row]]:
    for number, second in enumerate(range(20, seconds, 45)):
        trader, ticket = chance.choice(("ann", "bob", "cleo")), f"k{number}"
        yield second, row("FILL", f"f{number}", second, trader=trader, ticket=ticket)
        if trader == "bob" and chance.random() < 0.5:
            continue  # nobody confirms
        confirmed = second + chance.randrange(5, 100)
        confirm = row("CONFIRM", f"c{number}", confirmed, ticket=ticket)
        yield confirmed + chance.uniform(0, LATEST - 1), confirm


def row(kind: str, name: str, second: float, **payload: Any) -> Row:
    """An event as a row of a table."""
    return {"change": "insert", "type": kind, "id": name, "k": name, "vs": at(second), **payload}


def at(second: float) -> str:
    """An instant of the day."""
    return (START + timedelta(seconds=int(second))).isoformat().replace("+00:00", "Z")


def batches(rows: list[Row]) -> list[list[Row]]:
    """What arrives together: all up to a guarantee."""
    found: list[list[Row]] = [[]]
    for each in rows:
        found[-1].append(each)
        if each["change"] == "guarantee":
            found.append([])
    return [batch for batch in found if batch]


def message(row: Row) -> Row:
    """A row as a message."""
    if row["change"] == "guarantee":
        return {"guarantee": row["vs"]}
    if row["change"] == "retract":
        return {"retract": {"k": row["k"]}}
    event = {name: row[name] for name in ("type", "id", "vs", "os", "k") if name in row}
    return {"insert": event | {"payload": {name: row[name] for name in ATTRIBUTES if name in row}}}


# -- the hosts --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """What a query has said: how many rows it emitted, how many it took back or closed, and those that stand."""

    emitted: int
    taken_back: int
    rows: list[tuple[datetime, datetime | None, Row]]
    """From, to (None: for good), payload; in the order of time."""


def on_local(rows: list[Row], event: str) -> Said:
    """The local host, batch by batch."""
    standing: dict[str, tuple[int, int, Row]] = {}
    emitted = taken_back = 0
    arriving = [[message(row) for row in batch] for batch in batches(rows)]
    for change in cedr.run(TEXT, arriving, event=event):
        if change.event is None:
            continue
        key, row = change.message.lineage_key, change.event
        if change.kind == "insert":
            emitted += 1
            standing[key] = (row.valid_start, row.valid_end, dict(row.payload))
        elif change.message.removes or change.message.occurrence_end is not None:
            taken_back += 1
            del standing[key]
        else:
            end = change.message.valid_end
            standing[key] = (row.valid_start, row.valid_end if end is None else end, dict(row.payload))
    return Said(emitted, taken_back, _in_order((instant(vs), instant(ve), row) for vs, ve, row in standing.values()))


def on_spark(rows: list[Row], event: str, spark: Any = None) -> Said:
    """Spark, each batch a file that a stream reads."""
    spark = spark or cedr.spark_session("local[2]")
    folder = Path(tempfile.mkdtemp())
    (folder / "in").mkdir()
    for number, batch in enumerate(batches(rows)):
        path = folder / "in" / f"{number:03}.json"
        path.write_text("".join(json.dumps(row) + "\n" for row in batch), "utf-8")
        os.utime(path, (number + 1, number + 1))  # Spark reads the oldest file first
    schema = "change string, type string, id string, k string, vs string, os string, desk string, symbol string, "
    schema += "shares long, price double, tone long, trader string, ticket string"
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    names = {"type": "type", "id": "id", "time": "vs", "occurrence_start": "os", "key": "k", "change": "change"}
    events = cedr.events(stream, **names, stable_key=True)
    writer = cedr.query(TEXT, events, event=event).writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    writer.option("path", str(folder / "out")).trigger(availableNow=True).start().awaitTermination()
    return _told(spark.read.parquet(str(folder / "out")).collect())


def _told(changes: list[Any]) -> Said:
    standing: dict[str, tuple[datetime, datetime | None, Row]] = {}
    emitted = taken_back = 0
    for change in sorted(changes, key=lambda each: (each["Cs"], each["change"] != "retract")):
        payload = {name: value for name, value in change.asDict().items() if name not in SHOWN}
        if change["change"] == "insert":
            emitted += 1
            standing[change["K"]] = (change["Vs"].replace(tzinfo=UTC), _utc(change["Ve"]), payload)
        elif change["change"] == "retract" and change["Oe"] is not None:
            taken_back += 1
            del standing[change["K"]]
        elif change["change"] == "retract":
            standing[change["K"]] = (change["Vs"].replace(tzinfo=UTC), _utc(change["Ve"]), payload)
    return Said(emitted, taken_back, _in_order(standing.values()))


def _utc(time: datetime | None) -> datetime | None:
    return None if time is None else time.replace(tzinfo=UTC)


def _in_order(rows: Iterable[tuple[datetime, datetime | None, Row]]) -> list[tuple[datetime, datetime | None, Row]]:
    return sorted(rows, key=lambda row: (row[0], str(row[2])))


def instant(time: int) -> datetime | None:
    """An instant of CEDR's clocks; None for FOREVER."""
    return None if time == cedr.FOREVER else datetime.fromtimestamp(time / 1e6, UTC)


def show(event: str, said: Said, most: int = 4) -> None:
    """The counts, and the last rows."""
    print(
        f"{event}: {said.emitted} rows emitted, {said.taken_back} taken back; the last of {len(said.rows)} that stand:"
    )
    for start, end, row in said.rows[-most:]:
        until = "on" if end is None else f"to {end:%H:%M:%S}"
        values = (f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values())
        print(f"  {start:%H:%M:%S} {until:<11}  {'  '.join(values)}")


def main(arguments: list[str] | None = None) -> None:
    """Print what each query says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--host", choices=("local", "spark"), default="local")
    parser.add_argument("--messages", type=Path, help="only write the day as messages, one a line")
    given = parser.parse_args(arguments)
    rows = day()
    if given.messages:
        given.messages.write_text("".join(json.dumps(message(row)) + "\n" for row in rows), "utf-8")
        return
    for event in QUERIES:
        show(event, on_local(rows, event) if given.host == "local" else on_spark(rows, event))


if __name__ == "__main__":
    main()
