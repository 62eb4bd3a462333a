"""Map tasks that read files, without a JVM: what reaches the buckets.  Readings: R33, R39, R40, R41."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import cedr
from cedr.spark.layout.layout import FileForm
from cedr.spark.map_task.pack_files import PackFiles
from cedr.spark.map_task.unpack import Packed
from cedr.spark.output.rows import dead_letter_rows
from cedr.spark.output.step_output import StepOutput
from cedr.spark.step.bucket import Bucket
from tests.spark.test_bucket import layout

OF = layout()
TYPES = {"kind": "string", "id": "string", "time": "bigint", "key": "bigint"}
FORM = FileForm("json", ",", head=False, zone="UTC", types=TYPES, header={"type": "kind", "vs": "time", "id": "id"})


def line(kind: str, id_: str, time: int, key: int) -> str:
    return json.dumps({"kind": kind, "id": id_, "time": time, "key": key})


def packed(rows: list[dict[str, Any]], task: int = 0, form: FileForm = FORM, **how: Any) -> list[list[Packed]]:
    """What one map task sends to each bucket."""
    found: list[list[Packed]] = [[] for _ in OF.tokens]
    for sent in PackFiles(OF, form, "key", None, **how)(iter([pa.RecordBatch.from_pylist(rows)])):
        (row,) = sent.to_pylist()
        found[OF.tokens.index(row["token"])].append(Packed(task, row["number"], row["head"], row["rows"]))
    return found


def stepped(sent: list[list[Packed]]) -> list[StepOutput]:
    steps = []
    for each in sent:
        bucket = Bucket(OF)
        steps += bucket.steps(each)
        steps.append(bucket.finish(99))
    return steps


def said(steps: list[StepOutput]) -> list[str]:
    return sorted(row["id"] for step in steps for row in step.changes[0].to_arrow().to_pylist())


def test_parts_in_whatever_order_they_come_are_taken_by_path_and_part(tmp_path: Path) -> None:
    """R40: a replayed batch may get its rows in another order, and sends the same."""
    rows = []
    for name in ("b b#1.json", "a%20.json"):
        path = tmp_path / name
        path.write_text("\n".join(line("A", f"{name[0]}{n}", n, n) for n in range(20)))
        rows += [{"path": f"file:{path}", "part": part, "parts": 3, "cedr": 7} for part in (2, 0, 1)]
    sent = packed(rows)
    assert sent == packed(rows[::-1])
    whole = packed([{"path": f"file://{tmp_path / name}", "cedr": 7} for name in ("a%20.json", "b b#1.json")])
    assert [each[0].rows for each in sent] == [each[0].rows for each in whole]
    assert len(said(stepped(sent))) == 40


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_type_of_an_event_may_be_its_id_and_its_key(tmp_path: Path, form: str) -> None:
    """A reader may give it as a dictionary, and in another batch not: here texts that are no numbers come late."""
    header, types = {"type": "kind", "vs": "time", "id": "kind"}, {"kind": "string", "time": "bigint", "key": "bigint"}
    rows = pa.table({"kind": ["A", "B", "A"], "time": ["1", "2", "3"], "key": ["1", "2", "x"]})
    lines = "A,1,1\nB,2,2\n"
    for number, (table, text) in enumerate([(rows.slice(0, 2), lines), (rows, lines + '"A",3,"3"\n')]):
        path = tmp_path / f"{number}.{form}"
        if form == "csv":
            path.write_text(text)
        else:
            parquet.write_table(table, path)
    given = replace(FORM, name=form, types=types, header=header)
    paths = [{"path": str(tmp_path / f"{number}.{form}"), "cedr": 7} for number in (0, 1)]
    sent = packed(paths, form=given, forgiving=True)
    assert set(said(stepped(sent))) == {"A"}


def test_what_cannot_be_read_is_told_once_and_the_rest_is_used(tmp_path: Path) -> None:
    """R39, R41: by the first bucket, in a batch of its own if need be; it does not count for h."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(line("A", "a", 1, 1) + "\n{nothing}\n" + line("A", "b", 2, 2) + "\n")
    bad.write_text('{"kind": "A", "id": "far", "time": "999", "key": 1}')
    sent = packed([{"path": str(path), "cedr": 7} for path in (good, bad)], forgiving=True)
    steps = stepped(sent)
    assert said(steps) == ["a", "b"]
    letters = [letter for step in steps for letter in step.letters]
    told = dead_letter_rows(OF, letters, 7).to_pylist()
    assert [(row["code"], row["Cs"]) for row in told] == [("unreadable-line", 7)] * 2
    assert "good.json, line 2, cannot be read" in told[1]["reason"]
    assert told[1]["message"] == "{nothing}"
    alone = packed([{"path": str(bad), "cedr": 8}], forgiving=True)
    (step, *_), heads = stepped(alone), [json.loads(each[0].head) for each in alone]
    assert (step.time, len(step.letters)) == (8, 1)
    assert ["letters" in head[0] for head in heads] == [True, False]
    table = Bucket(OF)
    assert [len(step.letters) for step in table.table(sent[0])][-1] == 2


def test_otherwise_it_is_an_error_that_names_file_and_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(line("A", "a", 1, 1) + "\n" + line("A", "b", 2, 2)[:-1])
    with pytest.raises(cedr.StreamError, match=r"(?s)unreadable-line.*bad\.json, line 2, cannot be read"):
        packed([{"path": str(bad), "cedr": 7}])
    for forgiving in (True, False):
        with pytest.raises(cedr.StreamError, match="unreadable-file"):  # nobody's file is at fault
            packed([{"path": str(tmp_path / "gone.json"), "cedr": 7}], forgiving=forgiving)


def test_a_column_told_by_a_folder_is_refused(tmp_path: Path) -> None:
    """Spark would take it from there; a worker does not know it."""
    path = tmp_path / "key=5" / "x.json"
    path.parent.mkdir()
    path.write_text(line("A", "a", 1, 1))
    rows = [{"path": str(path), "cedr": 7}]
    assert said(stepped(packed(rows, form=replace(FORM, base=str(path.parent))))) == ["a"]
    with pytest.raises(cedr.StreamError, match="told by the name of its folder"):
        packed(rows, form=replace(FORM, base=str(tmp_path)))
