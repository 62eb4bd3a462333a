"""Values as databases without their types keep them: times as ISO texts, lists as JSON, durations as numbers."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc


def plain(rows: pa.Table, *, binary_as_hex: bool = False) -> pa.Table:
    """The same rows with columns that are numbers, truth values, texts or bytes."""
    made = {}
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        kind = column.type
        if pa.types.is_list(kind):
            made[name] = _json_lists(column)
        elif pa.types.is_duration(kind):
            made[name] = column.cast(pa.duration("us")).cast(pa.int64())
        elif pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
            made[name] = column.cast(pa.string())
        elif pa.types.is_binary(kind) and binary_as_hex:
            values = [None if value is None else f"\\x{value.hex()}" for value in column.to_pylist()]
            made[name] = pa.chunked_array([pa.array(values, pa.string())])
        else:
            made[name] = column
    return pa.table(made)


def _json_lists(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists of texts as JSON; where no text has a character to escape, in one go."""
    lists = column.combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks) if lists.num_chunks else pa.array([], column.type)
    texts = lists.flatten()
    if pa.types.is_string(texts.type) and not pc.any(pc.match_substring_regex(texts, r'["\\\x00-\x1f]')).as_py():
        joined = pc.binary_join(lists, '","')
        filled = pc.binary_join_element_wise('["', joined, '"]', "")
        some = pc.greater(pc.list_value_length(lists), 0)
        return pa.chunked_array([pc.if_else(some, filled, pa.scalar("[]"))])
    values = [None if each is None else json.dumps(each, ensure_ascii=False) for each in lists.to_pylist()]
    return pa.chunked_array([pa.array(values, pa.string())])
