"""What had been said up to a CEDR time: the rows that stood then.  Readings: R5, R8 (K), R24."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.model.time import Time
from cedr.spark.layout.read_faults import Letter
from cedr.spark.output.rows import Told
from cedr.spark.step.bucket import Step


class Stood(NamedTuple):
    """What stood at a time, at each level."""

    time: Time
    said: list[Told]
    letters: list[Letter]


def stood(steps: Iterable[Step], time: Time) -> Stood:
    """What the steps up to a time amount to."""
    said: dict[int, list[pa.RecordBatch]] = {}
    names: list[str] = []
    letters: list[Letter] = []
    for step in steps:
        if step.time > time:
            break
        names = [changes.level_name for changes in step.said]
        for of, changes in enumerate(step.said):
            said.setdefault(of, []).append(changes.to_arrow())
        letters += step.letters
    return Stood(time, [Told(name, time, None, standing(said[of])) for of, name in enumerate(names)], letters)


def standing(said: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Of each K the last that was said, unless it was taken back."""
    told = [batch for batch in said if batch.num_rows] or said[:1]  # before the first row types are a guess
    tables = [pa.Table.from_batches([batch]) for batch in told]
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    numbered = table.select(["id", "Os", "said"]).append_column("row", pa.array(np.arange(table.num_rows)))
    last = numbered.group_by(["id", "Os", "said"]).aggregate([("row", "max")]).column("row_max")
    rows = table.take(pc.take(last, pc.sort_indices(last)))
    ended = pc.or_(pc.less_equal(rows["Oe"], rows["Os"]), pc.less_equal(rows["Ve"], rows["Vs"]))
    kinds = rows["change"].cast(pa.string())
    rows = rows.filter(pc.invert(pc.and_(pc.equal(kinds, "retract"), ended)))
    inserts = pa.DictionaryArray.from_arrays(np.zeros(rows.num_rows, np.int8), pa.array(["insert", "retract"]))
    rows = rows.set_column(rows.schema.get_field_index("change"), "change", inserts)
    return pa.RecordBatch.from_struct_array(rows.to_struct_array().combine_chunks())
