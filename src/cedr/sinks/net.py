"""The net change of a batch by id: which rows a view has afterwards, and which it has no more.

Readings: R10 (the latest belief), R48.  A row of the view is the last one said of its id whose Oe is FOREVER.  What is
taken away is named by id *and* K, so that the end of an old version never removes the present one.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.change_rows import RETRACT, is_row

_NOT_IN_VIEW: Final = ("change", "Oe", "Cs")
"""What kind of change it was, and Oe, which is FOREVER in all rows of the latest belief."""


class Net(NamedTuple):
    """What a batch comes to."""

    present: pa.Table
    """Rows that are there afterwards, one for each id that a change was about."""
    gone: pa.Table
    """``id`` and ``K`` of the rows that are not; never an id of ``present``."""


def view_schema(changes: pa.Schema) -> pa.Schema:
    """The columns of a view, of those of change rows: ``id`` first, ``seq`` of the last change of a row at the end."""
    names = [name for name in changes.names if name not in (*_NOT_IN_VIEW, "seq")]
    return pa.schema([changes.field(name) for name in (*names, "seq")])


def net(changes: pa.Table) -> Net:
    """The net change of the rows of a batch, which stand in the order of ``seq``."""
    columns = view_schema(changes.schema).names
    rows = changes.filter(is_row(changes))
    held = pc.and_(pc.is_null(rows.column("Oe")), pc.not_equal(rows.column("change"), RETRACT))
    numbered = pa.table(
        {"id": rows.column("id"), "K": rows.column("K"), "held": held, "place": _counted(rows.num_rows)}
    )
    last = numbered.take(_last(numbered, "K"))
    present = last.filter(last.column("held"))
    present = present.take(_last(present, "id"))
    gone = last.filter(pc.invert(last.column("held")))
    gone = gone.filter(pc.invert(pc.is_in(gone.column("id"), present.column("id").combine_chunks())))
    return Net(rows.select(columns).take(present.column("place")), gone.select(["id", "K"]))


def _last(rows: pa.Table, by: str) -> pa.ChunkedArray:
    """The place in ``rows`` of the last one of each value, in order."""
    at = rows.select([by]).append_column("at", _counted(rows.num_rows))
    places = at.group_by(by).aggregate([("at", "max")]).column("at_max")
    return places.take(pc.sort_indices(places))


def _counted(count: int) -> pa.Array:
    return pa.array(np.arange(count, dtype=np.int64))
