"""How long the oracle takes: 20,000 events with a key and a scope, plain and with modifications.

The oracle is slow on purpose; this shows that restricting candidates to key and scope keeps it usable.  The ratio to
the time of reading the same messages is printed beside each figure, because machines differ.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import process_time
from typing import Any

from cedr.model.event import Event, primitive
from cedr.model.intake import Intake
from cedr.model.schema import EventTypes
from cedr.model.stream import insert
from cedr.model.time import FOREVER, HOUR, MINUTE
from cedr.plan.compile import compile_text
from cedr.semantics.evaluate import evaluate

TYPES = "".join(f"TYPE {name} (k INT, v INT) REVISABLE; " for name in ("INSTALL", "SHUTDOWN", "RESTART"))
KEY = "WHERE CorrelationKey(k, EQUAL)"
QUERIES = {
    "CIDR07": f"UNLESS(SEQUENCE(INSTALL x, SHUTDOWN y, 12 hours), RESTART z, 5 minutes) {KEY}",
    "first": f"SEQUENCE(INSTALL x, FIRST SHUTDOWN y, 12 hours) {KEY}",
    "chronicle": f"SEQUENCE(FIRST INSTALL x CONSUME, SHUTDOWN y CONSUME, 12 hours) {KEY}",
    "disjoint": f"SEQUENCE(INSTALL x, SHUTDOWN y, 12 hours) DISJOINT {KEY}",
    "quorum": f"ATLEAST(2, INSTALL x, SHUTDOWN y, RESTART z, 1 hour) {KEY}",
    "calm": f"ATMOST(3, INSTALL x, SHUTDOWN y, 1 hour) {KEY}",
    "cancel": f"CANCEL-WHEN(SEQUENCE(INSTALL x, SHUTDOWN y, 12 hours), RESTART z) {KEY}",
}
SHARES = {"INSTALL": 0.4, "SHUTDOWN": 0.4, "RESTART": 0.2}


def events(count: int, keys: int, modified: float, seed: int = 7) -> list[Event]:
    """Machine events over 24 hours; a share of them is modified within the hour."""
    random = Random(seed)
    found: list[Event] = []
    for stream, share in SHARES.items():
        for number in range(int(count * share)):
            start = random.randrange(24 * HOUR)
            payload = {"k": random.randrange(keys), "v": random.randrange(100)}
            found.append(primitive(stream, f"{stream}{number}", start, payload=payload))
            if random.random() < modified:
                later = start + random.randrange(MINUTE, HOUR)
                revised = payload | {"v": random.randrange(100)}
                found.append(primitive(stream, f"{stream}{number}", start, occurrence_start=later, payload=revised))
    return found


def run(done: Callable[[], object], count: int = 20_000, keys: int = 500) -> list[dict[str, Any]]:
    """Measure every query on plain events and on events of which a tenth is modified."""
    rows = []
    for modified in (0.0, 0.1):
        rows += _measure(count, keys, modified)
        done()
    return rows


def _measure(count: int, keys: int, modified: float) -> list[dict[str, Any]]:
    program = compile_text(TYPES + "".join(f"EVENT Q{i} WHEN {q};" for i, q in enumerate(QUERIES.values())))
    catalog: EventTypes = program.types
    messages = [insert(event) for event in events(count, keys, modified)]
    start = process_time()
    intake = Intake(catalog)
    for message in messages:
        intake.receive(message)
    tables = intake.rows()
    reading = process_time() - start
    results = []
    for number, name in enumerate(QUERIES):
        start = process_time()
        rows = evaluate(program.queries[f"Q{number}"].plan, tables)
        seconds = process_time() - start
        results.append(
            {
                "query": name,
                "events": count,
                "keys": keys,
                "modified": modified,
                "rows": len(rows),
                "open": sum(row.occurrence_end == FOREVER for row in rows),
                "seconds": round(seconds, 3),
                "times_reading": round(seconds / reading, 1),
            }
        )
    return results
