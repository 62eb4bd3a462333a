"""What is packed is unpacked as it was, in fewer bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cedr.spark.map_task.pack import pack_by_bucket, pack_table, unpack_table

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300)
ROWS = st.lists(st.tuples(NUMBERS, st.none() | NUMBERS, st.text(max_size=3), st.integers(0, 2), st.integers(-2, 3)))


def table(rows: list[tuple[int, int | None, str, int, int]]) -> pa.Table:
    columns = {
        name: [row[at] for row in rows] for at, name in enumerate(("number", "perhaps", "text", "bucket", "code"))
    }
    kinds = {"number": pa.int64(), "perhaps": pa.int64(), "text": pa.string(), "bucket": pa.int32(), "code": pa.int8()}
    return pa.table({name: pa.array(columns[name], of) for name, of in kinds.items()})


@given(ROWS)
def test_rows_come_back(rows: list[tuple[int, int | None, str, int, int]]) -> None:
    given = table(rows).replace_schema_metadata({"told": "something"})
    found = unpack_table(pack_table(given))
    assert found.equals(given)
    assert found.schema.metadata[b"told"] == b"something"


@given(ROWS, st.data())
def test_each_bucket_gets_its_rows_type_by_type(
    rows: list[tuple[int, int | None, str, int, int]], data: st.DataObject
) -> None:
    given = table(rows)
    buckets, codes = given.column("bucket").to_numpy(), given.column("code").to_numpy()
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), np.bool_)
    blobs = pack_by_bucket(given, buckets, 3, codes, chosen)
    kept = [row for row, wanted in zip(given.to_pylist(), chosen.tolist(), strict=True) if wanted]
    for bucket in range(3):
        own = sorted((row for row in kept if row["bucket"] == bucket), key=lambda row: row["code"])
        assert (unpack_table(blobs[bucket]).to_pylist() if bucket in blobs else []) == own


def test_what_counts_up_is_small() -> None:
    assert pack_table(pa.table({"id": pa.array(range(10_000, 20_000))})).size < 15_000
