"""A kill at any point of a batch: the next run goes on, and nothing is lost or doubled."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import cedr
from cedr.jobs.file.reading import read_job
from cedr.jobs.starting import start
from cedr.model.time import BEGINNING
from tests.jobs.cases import QUERY, Crash, Store, Watching, events, job_text, run, store, write_lines

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


@pytest.mark.usefixtures("store")
def test_what_comes_after_the_end_is_not_left_out_silently(tmp_path: Path) -> None:
    write_lines(tmp_path / "in" / "a.jsonl", events())
    text = job_text(FILES, run='batch = 50\nmode = "once"')
    run(tmp_path, text)
    run(tmp_path, text)
    write_lines(tmp_path / "in" / "b.jsonl", events())
    with pytest.raises(cedr.StreamError, match="source-ended"):
        run(tmp_path, text)


def test_a_silent_source_is_waited_for_until_it_is_idle(tmp_path: Path, store: Store) -> None:
    """Reading: R33"""
    write_lines(tmp_path / "open" / "a.jsonl", [{"at": at, "no": f"o{at}", "ticket": "T"} for at in (1, 50, 300)])
    (tmp_path / "close").mkdir()
    source = '[sources.{0}]\npath = "{0}/"\ntype = "{1}"\ntime = "at"\nid = "no"\ndisorder = 5\n{2}\n'
    text = "\n".join(
        [
            'consistency = "STRONG"',
            source.format("open", "OPEN", ""),
            source.format("close", "CLOSE", 'idle = "1 minute"\ntime_unit = "ticks"'),
            '[types.CLOSE]\nattributes = { ticket = "STRING" }',
            '[types.OPEN]\nattributes = { ticket = "STRING" }',
            "[queries]\ntext = '''EVENT Unanswered WHEN UNLESS(OPEN AS o, CLOSE AS c, 10)",
            "WHERE CorrelationKey(ticket, EQUAL)'''",
            '[outputs.all]\nkind = "memory"\n[run]\nclock = "batch"',
        ]
    )
    (tmp_path / "job.toml").write_text(text)
    now = [0.0]
    watching = Watching()
    running = start(read_job(tmp_path / "job.toml", environment={}), watching, clock=lambda: now[0])
    assert running.loop.one()
    assert not running.loop.one()
    assert store.believed("Unanswered") == {}
    assert watching.reports[-1].guarantees == {"open": 294, "close": BEGINNING}
    now[0] = 61.0
    assert running.loop.one()
    assert sorted(row["Vs"] for row in store.believed("Unanswered").values()) == [1, 50]
    write_lines(tmp_path / "close" / "late.jsonl", [{"at": 52, "no": "c", "ticket": "T"}])
    assert running.loop.one()
    running.loop.close()
    (letter,) = letters(tmp_path)
    assert (letter["code"], letter["source"]) == ("broken-guarantee", "close")


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
