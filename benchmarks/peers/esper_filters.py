"""Subscriptions beside Esper 9: ``python -m benchmarks.peers.esper_filters [--events N]``.

One statement of Esper for each subscription, the same stream, the same matches, one thread, CPU time of the best round.
Needs a JDK and Maven, which brings Esper's jars once.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import one_thread
from benchmarks.reporting import keep, print_tables, wide
from benchmarks.subscriptions import WARM, Measured, Stream, limits_of, matched, stepped, stream_of

FOLDER = Path(".build/peers/esper")
SOURCE = Path(__file__).with_name("EsperFilters.java")
JARS = (
    "com.espertech:esper-common:9.0.0",
    "com.espertech:esper-compiler:9.0.0",
    "com.espertech:esper-runtime:9.0.0",
    "org.antlr:antlr4-runtime:4.13.1",
    "org.codehaus.janino:commons-compiler:3.1.12",
    "org.codehaus.janino:janino:3.1.12",
    "org.slf4j:slf4j-api:1.7.36",
    "org.slf4j:slf4j-nop:1.7.36",
)
ROUNDS = 4
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


def main() -> None:
    """Run both at a thousand and at ten thousand subscriptions, compare the matches, keep the figures."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers.esper_filters", description="subscriptions beside Esper 9")
    parser.add_argument("--events", type=int, default=500_000, help="how many events")
    events = parser.parse_args().events
    one_thread()
    prepare()
    stream = stream_of(events, max(1, events // 10))
    rows = [row for count in (1_000, 10_000) for row in contest(stream, count)]
    console, tables = wide(), {"symbol = X AND price > p, one thread": rows}
    print_tables(console, tables)
    console.print(f"kept in {keep('esper', tables, {'events': events})}")


def prepare() -> None:
    """The jars and the compiled program."""
    for program in ("mvn", "javac", "java"):
        if shutil.which(program) is None:
            sys.exit(f"esper: {program} is not there: a JDK and Maven are needed")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for jar in JARS:
        _, name, version = jar.split(":")
        if not (FOLDER / f"{name}-{version}.jar").is_file():
            _run("mvn", "-q", _COPY, f"-Dartifact={jar}", f"-DoutputDirectory={FOLDER.resolve()}")
    _run("javac", "-cp", f"{FOLDER}/*", "-d", str(FOLDER), str(SOURCE))


def contest(stream: Stream, count: int) -> list[dict[str, Any]]:
    """Both, and how many times faster than Esper."""
    ways: dict[str, Callable[[], Measured]] = {
        "Esper, a statement each": lambda: esper(stream, count),
        "cedr, step with beliefs": lambda: best(stream, lambda: stepped(stream, count, lambda: None)),
        "cedr, match": lambda: best(stream, lambda: matched(stream, count, lambda: None, coded=True)),
    }
    rows: list[dict[str, Any]] = []
    first: Measured = (0.0, 0)
    for name, way in ways.items():
        seconds, pairs = way()
        first = first if rows else (seconds, pairs)
        rows.append(
            {
                "way": name,
                "subscriptions": count,
                "million events/s": round(1 / seconds / 1e6, 2),
                "times Esper": round(first[0] / seconds, 1),
                "matches": pairs,
                "right": pairs == first[1],
            }
        )
    return rows


def esper(stream: Stream, count: int) -> Measured:
    """Seconds for an event, and the matches of those that are measured elsewhere, too."""
    limits, events = FOLDER / "limits.txt", FOLDER / "events.bin"
    limits.write_text("\n".join(map(repr, limits_of(count).tolist())))
    packed = np.empty(sum(map(len, stream.symbols[WARM:])), np.dtype([("symbol", "<i4"), ("price", "<f8")]))
    packed["symbol"], packed["price"] = np.concatenate(stream.symbols[WARM:]), np.concatenate(stream.prices[WARM:])
    events.write_bytes(packed.tobytes())
    options = ["-Xmx3g", "-XX:+UseSerialGC", "-cp", f"{FOLDER}/*:{FOLDER}"]
    said = _run("java", *options, "EsperFilters", str(count), str(limits), str(events))
    seconds, sent, matches = said.split()
    return float(seconds) / int(sent), int(matches)


def best(stream: Stream, way: Callable[[], Measured]) -> Measured:
    """The best of some rounds: seconds for an event, and the matches."""
    rounds = [way() for _ in range(ROUNDS)]
    return min(seconds for seconds, _ in rounds) / sum(map(len, stream.symbols[WARM:])), rounds[0][1]


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"esper: failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
