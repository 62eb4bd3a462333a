"""Real sinks of a job: the view is the latest belief; one that is not of this checkpoint is refused."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

import cedr
from cedr.model.time import FOREVER
from tests.jobs.cases import QUERY, events, job_text, run, write_lines

ONCE = 'batch = 9\nmode = "once"'
OUTPUTS = 'kind = "sqlite"\npath = "answers.db"\nqueries = ["Unanswered"]'


def ids(folder: Path) -> list[str]:
    connection = sqlite3.connect(folder / "answers.db")
    found = [id_ for (id_,) in connection.execute("SELECT id FROM Unanswered ORDER BY id")]
    connection.close()
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lines(tmp_path / "in" / "a.jsonl", events())
    return tmp_path


def test_the_view_of_a_job_is_the_result(folder: Path) -> None:
    run(folder, job_text('path = "in/"', outputs=OUTPUTS, run=ONCE))
    words = {"type": "kind", "time": "at", "id": "no", "bad_rows": 1.0}
    wanted = cedr.evaluate(QUERY, folder / "in" / "a.jsonl", event="Unanswered", host="oracle", **words)
    assert ids(folder) == sorted(row.id for row in wanted if row.occurrence_end == FOREVER)


def test_a_view_of_another_checkpoint_is_refused(folder: Path) -> None:
    """Without this its batches would be taken for ours, and ours would be skipped."""
    text = job_text('path = "in/"', outputs=OUTPUTS, run=ONCE)
    run(folder, text)
    shutil.rmtree(folder / "job.checkpoint")
    with pytest.raises(cedr.SinkError, match="sink-ahead"):
        run(folder, text)


def test_a_view_that_is_gone_is_missed(folder: Path) -> None:
    text = job_text('path = "in/"', outputs=OUTPUTS, run=ONCE)
    run(folder, text)
    for path in folder.glob("answers.db*"):
        path.unlink()
    with pytest.raises(cedr.SinkError, match="sink-behind"):
        run(folder, text)
