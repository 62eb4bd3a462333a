"""What many queries in one pipeline cost, as ratios: to as many pipelines, and to a median step.

All ratios are taken within one run, in CPU time.  Each query emits in one pipeline what it emits in one of its own:
both are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks.measuring import Showing, Sizes, verdict
from cedr.consistency.batch import EventBatch
from cedr.consistency.emitter import Output
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE
from cedr.model.stream import Guarantee
from cedr.plan.compile import compile_text

Row = dict[str, Any]
STREAMS = [f"T{number}" for number in range(12)]
TYPES = "".join(f"TYPE {name} (k INTEGER, v INTEGER); " for name in STREAMS)
QUERIES = 100
RUNNING = 1_000


def run(sizes: Sizes, showing: Showing) -> dict[str, list[Row]]:
    """The tables: queries together and apart, and the stall of one more."""
    events, batch = min(sizes.events, 50_000), min(sizes.batch, 2_000)
    steps = _steps(events, batch)
    cases = {"a common prefix": _with_prefix(), "different patterns": _different()}
    rows = []
    for name, texts in cases.items():
        done = showing.bar(name, len(texts))
        together, found = _run(_outputs(texts), steps)
        apart, expected = 0.0, 0
        for text in texts:
            spent, count = _run(_outputs([text]), steps)
            apart, expected = apart + spent, expected + count
            done()
        assert found == expected, f"{name}: {found} changes together, {expected} apart"
        limit = 1 / 3 if name == "a common prefix" else 0.9
        ratio = together / apart
        rows.append(
            {
                "case": name,
                "queries": len(texts),
                "together s": together,
                "apart s": apart,
                "ratio": ratio,
                "changes": found,
                "verdict": verdict(ratio, limit),
            }
        )
    return {"many queries": rows, "one more query": [_stall(steps)]}


def _with_prefix() -> list[str]:
    """Patterns that go on differently from one and the same pattern."""
    prefix = "SEQUENCE(T0 AS a, T1 AS b, 400) AS p"
    where = "WHERE CorrelationKey(k, EQUAL)"
    return [
        f"EVENT Q{number} WHEN SEQUENCE({prefix}, T{2 + number % 10} AS c, {500 + number}) {where}"
        for number in range(QUERIES)
    ]


def _different() -> list[str]:
    where = "WHERE CorrelationKey(k, EQUAL)"
    return [
        f"EVENT Q{number} WHEN SEQUENCE(T{number % 12} AS a, T{(number * 5 + 1) % 12} AS b, {200 + number}) {where}"
        for number in range(QUERIES)
    ]


def _steps(events: int, batch: int) -> list[list[Any]]:
    """Batches of columns, each with a guarantee."""
    chance, found = np.random.default_rng(7), []
    for first in range(0, events, batch):
        times = np.arange(first, first + batch, dtype=np.int64)
        kinds, keys = chance.integers(0, len(STREAMS), batch), chance.integers(0, 200, batch)
        step: list[Any] = []
        for kind, stream in enumerate(STREAMS):
            at = times[kinds == kind]
            payload = {"k": keys[kinds == kind], "v": at % 7}
            step.append(EventBatch(stream, [f"{stream}-{time}" for time in at.tolist()], at, payload=payload))
        found.append([*step, Guarantee(int(times[-1]))])
    return found


def _outputs(texts: Sequence[str]) -> tuple[list[Output], Any]:
    program = compile_text(TYPES + ";".join(texts))
    return [Output(name, query.plan, MIDDLE) for name, query in program.queries.items()], program.types


def _run(given: tuple[list[Output], Any], steps: Sequence[Sequence[Any]]) -> tuple[float, int]:
    """CPU seconds of the steps, and how many changes left."""
    pipeline, changes = Pipeline(given[0], (), given[1]), 0
    begun = process_time()
    for number, step in enumerate(steps, 1):
        changes += sum(map(len, pipeline.step(step, number)))
    return process_time() - begun, changes


def _stall(steps: Sequence[Sequence[Any]]) -> Row:
    """What it takes to add a query to many that run, beside a step of these."""
    texts = [
        f"EVENT Q{n} WHEN SEQUENCE(T{n % 12} AS a, T{(n + 1 + n // 12) % 12} AS b, {50 + n})" for n in range(RUNNING)
    ]
    outputs, types = _outputs(texts)
    pipeline, spent = Pipeline(outputs, (), types), list[float]()
    for number, step in enumerate(steps[:8], 1):
        begun = process_time()
        pipeline.step(step, number)
        spent.append(process_time() - begun)
    begun = process_time()
    plan = compile_text(TYPES + "EVENT One WHEN SEQUENCE(T3 AS a, T7 AS b, 60)").queries["One"].plan
    pipeline.add([Output("One", plan, MIDDLE, pipeline.birth(retained=False))])
    stall = process_time() - begun
    usual = median(spent)
    return {
        "running": RUNNING,
        "median step s": usual,
        "added in s": stall,
        "ratio": stall / usual,
        "verdict": verdict(stall / usual, 10),
    }
