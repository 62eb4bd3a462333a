"""How long a single event takes through a pipeline that holds some state: median and 99th percentile."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks import machines as draw
from benchmarks.expected import CIDR07, FIRST
from benchmarks.machines import KINDS, START, TYPES, Machines, batches
from benchmarks.measuring import Showing, Sizes, drive, pipeline_of
from cedr.model.event import primitive
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.stream import Guarantee, Message, insert
from cedr.model.time import HOUR, MINUTE

SPAN = 11 * HOUR


def latencies(sizes: Sizes, showing: Showing) -> list[dict[str, Any]]:
    """Both queries at both levels; each event comes as a message of its own, with a guarantee behind it."""
    state = draw.machines(sizes.small, max(1, sizes.small // 10), span=SPAN, seed=17)
    after = draw.machines(
        sizes.singles, sizes.small // 10, start=START + SPAN, span=30 * MINUTE, first_serial=sizes.small
    )
    messages = singles(after)
    return [
        _measured(name, query, level, state, messages, showing)
        for name, query in (("FIRST", FIRST), ("CIDR07", CIDR07))
        for level in (STRONG, MIDDLE)
    ]


def singles(drawn: Machines) -> list[list[Message]]:
    """A step for each event: its insert, and the guarantee that nothing earlier comes."""
    columns = (drawn.kind, drawn.key, drawn.vs, drawn.serial)
    found: list[list[Message]] = []
    for kind, key, vs, serial in zip(*(column.tolist() for column in columns), strict=True):
        payload = {"Machine_Id": key, "Serial": serial, "Load": 0.5}
        event = primitive(KINDS[kind], f"{KINDS[kind][0]}{serial:09}", vs, payload=payload)
        found.append([insert(event), Guarantee(vs - 1)])
    return found


def _measured(
    name: str,
    query: str,
    level: ConsistencyLevel,
    state: Machines,
    messages: list[list[Message]],
    showing: Showing,
) -> dict[str, Any]:
    pipeline = pipeline_of(TYPES + query, level)
    drive(pipeline, batches(state, 10_000, closing=-1))
    done = showing.bar(f"single events, {name}, {level}", len(messages))
    seconds, said = [], 0
    for number, step in enumerate(messages, start=1_000_000):
        wall, cpu = perf_counter(), process_time()
        (changes,) = pipeline.step(step, number)
        found = changes.to_changes()
        seconds.append((perf_counter() - wall, process_time() - cpu))
        said += len(found)
        done()
    (middle, middle_cpu), (high, high_cpu) = np.percentile(seconds, (50, 99), axis=0).tolist()
    figures = {"median": middle, "99th percentile": high, "CPU median": middle_cpu, "CPU 99th percentile": high_cpu}
    row = {"case": f"{name}, {level}", "events": len(messages), "changes": said}
    return row | {name: round(1_000 * value, 3) for name, value in figures.items()}
