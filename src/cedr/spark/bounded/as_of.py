"""AS OF a CEDR time: the rows that a history had emitted by then and not retracted.  Readings: R5, R8 (K), R24."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.model.time import Time
from cedr.spark.layout.read_faults import Letter
from cedr.spark.output.rows import EmittedColumns
from cedr.spark.output.step_output import StepOutput


class OutputAsOf(NamedTuple):
    """The rows of each level at a CEDR time."""

    time: Time
    changes: list[EmittedColumns]
    letters: list[Letter]


def output_as_of(steps: Iterable[StepOutput], time: Time) -> OutputAsOf:
    """Combine all steps up to a CEDR time."""
    batches: dict[int, list[pa.RecordBatch]] = {}
    names: list[str] = []
    letters: list[Letter] = []
    for step in steps:
        if step.time > time:
            break
        names = [changes.level_name for changes in step.changes]
        for level, changes in enumerate(step.changes):
            batches.setdefault(level, []).append(changes.to_arrow())
        letters += step.letters
    levels = [EmittedColumns(name, time, None, standing_rows(batches[level])) for level, name in enumerate(names)]
    return OutputAsOf(time, levels, letters)


def standing_rows(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """The last change of each K, unless it removed its row."""
    emitted = [batch for batch in batches if batch.num_rows] or batches[:1]  # an empty batch does not know its types
    tables = [pa.Table.from_batches([batch]) for batch in emitted]
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
