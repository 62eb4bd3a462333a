"""Which messages a batch of changes gives.

Readings: R36 (what a guarantee promises), R48.

    changes     each change row
    upsert      for each id what has become of it in the batch: the row, or that it is gone
    final       a row, once, when it can no longer change
    stages      a row as *provisional* when it is said, *confirmed* when it can no longer change, or *withdrawn* before

A row is final when the guarantee has reached its Os, its Ve where ends are open, and as much more as its events may be
revised.  The key of a message is the same whenever it is made: a receiver that remembers keys acts once.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.change_rows import GUARANTEE, RETRACT, is_row
from cedr.model.time import FOREVER, Time, plus
from cedr.sinks.contract import Output
from cedr.sinks.net import net
from cedr.sinks.streams.lines import Data, as_data

ENVELOPES: Final = ("changes", "upsert", "final", "stages")
EVERYTHING: Final = FOREVER - 1
"""The guarantee that nothing more comes."""


class Message(NamedTuple):
    """A message that is to be delivered."""

    key: str
    id: str
    """Messages about one id are delivered in order."""
    body: str


class Held(NamedTuple):
    """A row that waits until it is final."""

    key: str
    """K of the row."""
    settles: Time
    """It is final once the guarantee has reached this; FOREVER: once nothing more comes."""
    row: Data


def message(output: Output, batch: int, key: str, kind: str, row: Data) -> Message:
    """A message about a row."""
    whole = f"{output.name}/{key}"
    body = {"key": whole, "kind": kind, "output": output.name, "batch": batch, "row": row}
    return Message(whole, str(row.get("id") or ""), json.dumps(body, ensure_ascii=False, separators=(",", ":")))


def each_change(output: Output, batch: int, changes: pa.Table) -> list[Message]:
    """One for each change row; its key is the row's ``seq``."""
    return [message(output, batch, str(row["seq"]), row["change"], row) for row in as_data(changes)]


def each_id(output: Output, batch: int, changes: pa.Table) -> list[Message]:
    """One for each id that the batch has changed; its key is the batch and the id."""
    change = net(changes)
    rows = [message(output, batch, f"{batch}/{row['id']}", "upsert", row) for row in as_data(change.present)]
    gone = {row["id"]: row for row in as_data(change.gone)}
    return [*rows, *(message(output, batch, f"{batch}/{of}", "delete", row) for of, row in gone.items())]


def last_of_each_key(changes: pa.Table, output: Output) -> tuple[list[Held], list[str]]:
    """The rows that are held after a batch, with when they settle; and K of those that are not."""
    rows = changes.filter(is_row(changes))
    if not rows.num_rows:
        return [], []
    places = rows.select(["K"]).append_column("at", pa.array(np.arange(rows.num_rows)))
    kept = places.group_by("K").aggregate([("at", "max")]).column("at_max")
    last = rows.take(kept.take(pc.sort_indices(kept)))
    held = pc.and_(pc.is_null(last.column("Oe")), pc.not_equal(last.column("change"), RETRACT))
    present, gone = last.filter(held), last.filter(pc.invert(held))
    settles = _settles(present, output)
    names = [name for name in present.column_names if name not in ("change", "Oe")]
    shown = as_data(present.select(names))
    return [Held(row["K"], at, row) for row, at in zip(shown, settles, strict=True)], gone.column("K").to_pylist()


def _settles(rows: pa.Table, output: Output) -> list[Time]:
    times = numbers(rows.column("Os"))
    if output.open_ends:
        times = [max(os, ve) for os, ve in zip(times, numbers(rows.column("Ve")), strict=True)]
    return [plus(time, output.revisable) for time in times]


def numbers(times: Any) -> list[Time]:
    """Times of change rows as numbers; NULL is FOREVER."""
    return [int(time) for time in pc.fill_null(times.cast(pa.int64()), FOREVER).to_pylist()]


def guarantee_in(changes: pa.Table) -> Time | None:
    """The last guarantee of a batch; ``EVERYTHING`` where nothing more comes."""
    told = changes.filter(pc.equal(changes.column("change"), GUARANTEE))
    return min(numbers(told.column("Os"))[-1], EVERYTHING) if told.num_rows else None
