"""``cedr generate``: events of machines from a seed, to a file, to a folder, or as lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from cedr.cli.reporting import say
from cedr.connect.delivery import Counts, Delivery, Disorder
from cedr.connect.generated import types_of
from cedr.connect.machines import CORRECTABLE, Fleet, Story
from cedr.connect.values import Misfit, time_of
from cedr.connect.writing import Done, Pace, format_of, write_file, write_folder, write_lines
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.queries import parse_duration
from cedr.model.time import Time


@dataclass(frozen=True, slots=True)
class Order:
    """Where the messages go, and how."""

    to: str
    format: str | None
    per_file: int
    pace: float | None
    types: bool
    replace: bool


@dataclass(frozen=True, slots=True)
class Shares:
    """Which share of the events has which fate."""

    late: float
    lost: float
    twice: float
    corrected: float
    retracted: float


@dataclass(frozen=True, slots=True)
class Durations:
    """Times as they were written."""

    start: str
    span: str
    delay: str
    within: str
    guarantees: str | None


def generate_messages(
    order: Order,
    shares: Shares,
    durations: Durations,
    events: int,
    machines: int,
    *,
    seed: int,
    corrects: Sequence[str] | None,
) -> None:
    """Write the messages; what they are goes to standard error where they do not go there themselves."""
    given = {name: text for name, text in asdict(durations).items() if name != "start" and text is not None}
    spans = {name: parse_duration(text, f"--{name}") for name, text in given.items()}
    start, span = _start(durations.start), spans.pop("span")
    story = Story(events, machines, seed, start, span, tuple(corrects or CORRECTABLE))
    delivery = Delivery(Fleet(story), Disorder(**asdict(shares), **spans))
    if order.types:
        sys.stdout.write(types_of(delivery))
        return
    with _shown(events) as done:
        place = _write(order, delivery, done)
    say(f"{place}{_summary(delivery.counts)}")


def _write(order: Order, delivery: Delivery, done: Done) -> str:
    pace = None if order.pace is None else Pace(order.pace)
    if order.to == "-":
        if order.format not in (None, "jsonl"):
            reason = f'standard output takes lines of JSON, not "{order.format}"'
            raise StreamError(Diagnostic("unknown-format", reason, hint="name a file or a folder"))
        write_lines(delivery, sys.stdout.buffer, pace=pace, done=done)
        return ""
    path = Path(order.to)
    if order.to.endswith(("/", "\\")) or path.is_dir():
        form = format_of(order.to, order.format or "jsonl")
        files = write_folder(delivery, path, form, per_file=order.per_file, pace=pace, replace=order.replace, done=done)
        return f"{path}: {files:,} file{'' if files == 1 else 's'}, "
    if pace is not None:
        reason = "a single file is there once it is whole, so it has no pace"
        raise StreamError(Diagnostic("bad-pace", reason, hint="name a folder/, or - for standard output"))
    write_file(delivery, path, format_of(order.to, order.format), replace=order.replace, done=done)
    return f"{path}: "


def _start(text: str) -> Time:
    try:
        return time_of(text)
    except Misfit as misfit:
        raise StreamError(Diagnostic("bad-start", f"--start: {misfit}")) from None


def _summary(counts: Counts) -> str:
    fates = (
        (counts.late, "late"),
        (counts.lost, "lost"),
        (counts.twice, "sent twice"),
        (counts.corrected, "corrected"),
        (counts.retracted, "retracted"),
        (counts.orphaned, "retracted without ever arriving"),
        (counts.guarantees, "guarantee" if counts.guarantees == 1 else "guarantees"),
    )
    named = ", ".join(f"{count:,} {name}" for count, name in fates if count)
    return f"{counts.events:,} events, {counts.messages:,} messages: {named}"


@contextmanager
def _shown(events: int) -> Iterator[Done]:
    """A bar on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("generating", total=events)
        yield lambda count: progress.update(task, completed=count)
