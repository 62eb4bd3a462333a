"""What one pipeline has said, as messages for another that takes its rows in as events.

Paper: Section 3.3.2 (operators compose).  Readings: R3 (messages), R8 (K), R32.  Retractions come first: a row that is
taken back and said anew in one step has the same ID, and never stands twice, also where two pipelines share a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from cedr.consistency.batch import EventBatch
from cedr.model.stream import Retract
from cedr.model.time import FOREVER
from cedr.plan.logical import Made

if TYPE_CHECKING:
    from cedr.consistency.admission.door import Arrivals

HEADER = frozenset({"change", "id", "said", "Vs", "Ve", "Os", "Oe", "Rt"})
"""The columns of what was said that are needed, beside the payload."""


Said = tuple[str | None, pa.Table]
"""What one pipeline said in a step, as ``Changes.to_arrow`` gives it, and its name as a provider."""


def messages_of(said: Sequence[Said], made: Made, arrivals: Arrivals) -> list[Retract | EventBatch]:
    """The messages that a step of some pipelines is to who has received ``arrivals``; to be taken before more are made.

    The Ve of the rows is final.  A row has the default key the first time it is said, so that it is taken in by
    columns; one that comes back has K.
    """
    messages: list[Retract | EventBatch] = []
    come = []
    for provider, rows in said:
        inserts = pc.equal(rows.column("change").cast(pa.string()), "insert")
        messages += _retractions(rows.filter(pc.invert(inserts)), made.type.name, arrivals, provider)
        come.append((provider, rows.filter(inserts)))
    messages += [_batch(rows, made, arrivals, provider) for provider, rows in come if rows.num_rows]
    return messages


def _batch(rows: pa.Table, made: Made, arrivals: Arrivals, provider: str | None) -> EventBatch:
    return EventBatch(
        made.type.name,
        *(rows.column(name) for name in ("id", "Vs", "Ve", "Os", "Oe")),
        keys=_keys(rows, made.type.name, arrivals),
        payload={name: rows.column(name) for name in made.type.attributes},
        provider=provider,
        rt=rows.column("Rt"),
    )


def _keys(rows: pa.Table, stream: str, arrivals: Arrivals) -> pa.Array | None:
    """K of each row whose event is known already, NULL elsewhere."""
    known = arrivals.knows(stream, rows.column("id"))
    if not known.any():
        return None
    return pa.array([key for _, _, key in _names(rows)], pa.string(), mask=~known)


def _retractions(rows: pa.Table, stream: str, arrivals: Arrivals, provider: str | None) -> Iterator[Retract]:
    ends = rows.column("Oe").to_pylist()
    for (id_, os, key), end in zip(_names(rows), ends, strict=True):
        named = key if arrivals.uses_key(stream, id_, key) else f"{stream}/{id_}@{os}"
        yield Retract(named, None if end <= os or end == FOREVER else end, provider=provider)


def _names(rows: pa.Table) -> Iterator[tuple[str, int, str]]:
    """ID, Os and K of each row.  Reading: R8."""
    columns = (rows.column(name).to_pylist() for name in ("id", "Os", "said"))
    return ((id_, os, f"{id_}@{os}/{said}") for id_, os, said in zip(*columns, strict=True))
