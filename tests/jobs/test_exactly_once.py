"""A kill at any point of a batch: the next run goes on, and nothing is lost or doubled."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import cedr
from tests.jobs.cases import QUERY, Crash, Store, events, job_text, run, store, write_lines

__all__ = ["store"]

POINTS = (
    "begin",
    "plan",
    "planned",
    "read",
    "step",
    "store all",
    "stored all",
    "stored",
    "committed",
)
FILES = 'path = "in/"'
Whole = tuple[dict[str, list[dict[str, object]]], list[dict[str, object]]]


def crashing(point: str, time: int) -> Callable[[str], None]:
    """Fails when a point is reached for the so-manieth time."""
    seen = 0

    def reached(here: str) -> None:
        nonlocal seen
        seen += here == point
        if here == point and seen == time:
            raise Crash

    return reached


def folder_of_files(path: Path) -> None:
    rows = events()
    for number in range(4):
        write_lines(path / "in" / f"{number}.jsonl", rows[number::4] if number % 2 else rows[number::4][::-1])


def letters(folder: Path) -> list[dict[str, object]]:
    lines = (folder / "job.checkpoint" / "dead_letters.jsonl").read_text().splitlines()
    return [{**json.loads(line), "place": None} for line in lines]


@pytest.fixture
def whole(tmp_path: Path, store: Store) -> Whole:
    """What a run without any crash stores."""
    folder = tmp_path / "whole"
    folder_of_files(folder)
    run(folder, job_text(FILES, run='batch = 9\nmode = "once"'))
    found = dict(store.rows)
    store.rows, store.last = {}, {}
    return found, letters(folder)


def check(crashes: list[tuple[str, int]], folder: Path, whole: Whole, store: Store) -> None:
    """Run a job that crashes, again and again, and compare what was stored with a run that did not."""
    folder_of_files(folder)
    text = job_text(FILES, run='batch = 9\nmode = "once"')
    for point, time in crashes:
        with pytest.raises(Crash):
            run(folder, text, crashing(point, time))
    run(folder, text)
    assert store.rows == whole[0]
    assert letters(folder) == whole[1]


@pytest.mark.parametrize("time", [1, 4])
@pytest.mark.parametrize("point", POINTS)
def test_a_crash_at_any_point_loses_and_doubles_nothing(
    point: str, time: int, tmp_path: Path, whole: Whole, store: Store
) -> None:
    check([(point, time)], tmp_path / "crashed", whole, store)


@pytest.mark.parametrize("seed", range(3))
def test_neither_do_several(seed: int, tmp_path: Path, whole: Whole, store: Store) -> None:
    chance = Random(seed)
    crashes = [(chance.choice(POINTS), chance.randint(1, 3)) for _ in range(4)]
    check(crashes, tmp_path / "crashed", whole, store)


@pytest.mark.parametrize("query", ["Unanswered", "Busy"])
def test_the_table_of_a_job_is_that_of_the_oracle(query: str, tmp_path: Path, store: Store, whole: Whole) -> None:
    """Reading: R48"""
    store.rows = whole[0]
    path = write_lines(tmp_path / "all.jsonl", events())
    words = {"type": "kind", "time": "at", "id": "no", "bad_rows": 0.5}
    ideal = cedr.evaluate(QUERY, path, event=query, host="oracle", **words)
    expected = sorted((row.valid_start, row.valid_end, *row.payload.values()) for row in ideal.rows)
    endless = {None: cedr.FOREVER}
    found = sorted(
        (row["Vs"], endless.get(row["Ve"], row["Ve"]), row["ticket"], *([row["n"]] if query == "Busy" else []))
        for row in store.believed(query).values()
    )
    assert found == expected
    assert found


def test_new_files_are_taken_by_the_next_run(tmp_path: Path, store: Store) -> None:
    text = job_text(FILES, run='batch = 9\nmode = "available"')
    rows = events()
    for number in range(3):
        write_lines(tmp_path / "in" / f"{number}.jsonl", rows[number::3])
        running = run(tmp_path, text)
        assert running.loop.batch == store.last["Busy"]
    assert sum(inlet.rows for inlet in running.inlets) == len(rows)
    emitted = [row["id"] for row in store.rows["Unanswered"] if row["change"] == "insert"]
    assert len(emitted) == len(set(emitted)) > 3


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path, store: Store) -> None:
    path = write_lines(tmp_path / "in" / "a.jsonl", events())
    text = job_text(FILES, run='batch = 9\nmode = "once"')
    with pytest.raises(Crash):
        run(tmp_path, text, crashing("committed", 2))
    write_lines(path, events()[:40])
    with pytest.raises(cedr.StreamError, match="source-changed") as raised:
        run(tmp_path, text)
    assert "a.jsonl" in str(raised.value)
    write_lines(tmp_path / "in" / "a.jsonl", events())  # put back, but for its time
    with pytest.raises(cedr.StreamError, match="has changed while it was being read"):
        run(tmp_path, text)
    assert store.last["Busy"] == 2
