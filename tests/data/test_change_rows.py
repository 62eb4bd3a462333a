"""Change rows: applied in the order of seq they are the latest belief after every step.  Readings: R10, R48."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cedr.consistency.pipeline import Pipeline
from cedr.data.change_rows import HEADER, batch_of, change_rows, change_schema, seq_of
from cedr.data.results import Shape
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.host import said_by
from cedr.model.level import MIDDLE, STRONG, WEAK
from cedr.model.stream import Change
from cedr.model.time import FOREVER
from tests.sinks.runs import RUNS, Run, runs


def by_seq(table: pa.Table) -> dict[str, tuple[object, ...]]:
    """The consumer that R48 describes: a table by id."""
    rows: dict[str, tuple[object, ...]] = {}
    names = [name for name in table.column_names if name not in ("change", "seq", "Cs")]
    for each in sorted(table.to_pylist(), key=lambda row: row["seq"]):
        match each["change"]:
            case "insert" if each["Oe"] is None:
                rows[each["id"]] = tuple(map(str, (each[name] for name in names)))
            case "shorten" if each["Oe"] is None:
                rows[each["id"]] = tuple(map(str, (each[name] for name in names)))
            case "shorten" | "retract":
                rows.pop(each["id"], None)
    return rows


@settings(max_examples=30, deadline=None)
@given(run=runs(), level=st.sampled_from([STRONG, MIDDLE, WEAK]))
def test_a_table_by_id_is_the_latest_belief_after_every_step(run: Run, level: object) -> None:
    changes: list[Change] = []
    tables: list[pa.Table] = []
    for batch, table, said in run.steps(level):
        changes += said
        tables.append(table)
        believed = [row for row in said_by(changes, batch) if row.occurrence_end == FOREVER]
        kept = by_seq(pa.concat_tables(tables))
        assert sorted(kept) == sorted(row.id for row in believed)
        assert sorted((row.valid_start, row.valid_end) for row in believed) == sorted(
            (int(row[2]), FOREVER if row[3] == "None" else int(row[3])) for row in kept.values()
        )


def test_seq_rises_over_batches_and_repeats_in_a_replay() -> None:
    first, second = seq_of(1, 1_000).to_pylist(), seq_of(2, 2).to_pylist()
    assert first == sorted(set(first))
    assert first[-1] < second[0]
    assert first == seq_of(1, 1_000).to_pylist()
    assert {batch_of(seq) for seq in first} == {1}
    assert seq_of(1, 1, bucket=3)[0].as_py() > seq_of(1, 1, bucket=2)[0].as_py()


@pytest.mark.parametrize("batch", [-1, 1 << 40])
def test_a_batch_that_has_no_seq_is_refused(batch: int) -> None:
    with pytest.raises(StreamError, match="bad-batch-number"):
        seq_of(batch, 1)


def test_columns_are_known_before_the_first_row() -> None:
    run = RUNS["aggregate"]
    pipeline = Pipeline(run.query.plan, MIDDLE, run.types)
    shape = Shape(run.query.name, run.query.output, frozenset({"A"}), timestamps=False)
    assert change_schema(shape).names[: len(HEADER)] == list(HEADER)
    empty = change_rows(1, 1, pipeline.step([], 1)[0].to_arrow(), shape, level=STRONG, guarantee=7)
    assert empty.schema == change_schema(shape)
    assert empty.select(["change", "K", "Os"]).to_pylist() == [
        {"change": "level", "K": "STRONG", "Os": None},
        {"change": "guarantee", "K": None, "Os": 7},
    ]
