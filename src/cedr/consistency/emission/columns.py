"""The columns of what is emitted: the header, then the payload; and what results are made of.

Reading: R8 (K).  The tables of Python and the DataFrames of Spark are made of these columns.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from cedr.runtime.ids.lineage import lineage_keys

SAID: Final = ("change", "id", "said", "Vs", "Ve", "Os", "Oe", "Cs", "Rt", "contributors")
"""The columns before the payload; ``said`` is when the row was said first, which is part of its K.  Reading: R8."""

TABLE: Final = ("id", "Vs", "Ve", "Os", "Oe", "Rt", "contributors")
"""The columns of a result before its payload."""
STREAM: Final = ("change", "id", "K", "Vs", "Ve", "Os", "Oe", "Cs", "Rt", "contributors")
"""The columns of a change stream before its payload."""


def payload_column(name: str) -> str:
    """The column of an attribute: its name, unless that is one of the header's.

    >>> payload_column("load"), payload_column("id")
    ('load', 'payload_id')
    """
    return f"payload_{name}" if name in SAID else name


def keys_of(rows: pa.RecordBatch) -> pa.Array:
    """K of each row.  Reading: R8."""
    return lineage_keys(rows.column("id"), *(rows.column(name).to_numpy() for name in ("Os", "said")))


class Contributors(NamedTuple):
    """The primitive events that rows are made of, with the offsets of each row's."""

    offsets: pa.Array
    types: pa.Array
    """Plain texts or a dictionary, as they were given."""
    ids: pa.Array

    @classmethod
    def of(cls, column: pa.Array, primitive: Container[str]) -> Contributors:
        """Those of a column of contributors whose type is primitive."""
        offsets = column.offsets.to_numpy()
        parts = column.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
        types, ids = parts.field(0), parts.field(1)
        offsets = offsets - offsets[0]
        coded = types if pa.types.is_dictionary(types.type) else types.dictionary_encode()
        known = np.array([name in primitive for name in coded.dictionary.to_pylist()], np.bool_)
        if not known.all():
            kept = known[coded.indices.to_numpy()]
            types, ids = (each.filter(pa.array(kept)) for each in (types, ids))
            offsets = np.append(0, np.cumsum(kept, dtype=np.int32))[offsets]
        return cls(pa.array(offsets, pa.int32()), types, ids)
