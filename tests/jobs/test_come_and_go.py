"""Queries that come, change and go between two runs of a job: what R44 says, whatever crashes."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import cedr
from tests.jobs.cases import QUERY, Crash, Store, events, job_text, run, store, write_lines
from tests.jobs.test_exactly_once import POINTS, crashing

__all__ = ["store"]

STAYS = QUERY.partition(";")[0]
GOES = "EVENT Busy FROM OPEN AS o WINDOW MOVING 20 GROUP BY o.ticket OUTPUT o.ticket AS ticket, COUNT(*) AS n"
PAIR = """EVENT Pair WHEN SEQUENCE(OPEN AS o, CLOSE AS c, {})
WHERE CorrelationKey(ticket, EQUAL) OUTPUT o.ticket AS ticket"""
COMES = """EVENT Twice WHEN SEQUENCE(OPEN AS o, OPEN AS p, 30)
WHERE CorrelationKey(ticket, EQUAL) OUTPUT o.ticket AS ticket"""
BEFORE = ";\n".join((STAYS, PAIR.format(9), GOES))
AFTER = ";\n".join((STAYS, PAIR.format(25), COMES))
LANE = "EVENT Pair FROM OPEN AS o WHERE o.lane = 1 OUTPUT o.ticket AS ticket"
WORDS: dict[str, Any] = {"type": "kind", "time": "at", "id": "no", "bad_rows": 1.0}
Rows = list[dict[str, Any]]


def text(query: str, mode: str = "available", more: str = "") -> str:
    found = job_text('path = "in/"', query=query, run=f'batch = 9\nmode = "{mode}"')
    return found.replace("[queries]\n", f"[queries]\n{more}\n")


def halves() -> tuple[Rows, Rows]:
    rows = events()
    return rows[::2], rows[1::2]


def first_run(folder: Path, query: str = BEFORE) -> None:
    write_lines(folder / "in" / "0.jsonl", halves()[0])
    run(folder, text(query))


def second_run(folder: Path, crashes: list[tuple[str, int]], more: str = "") -> None:
    write_lines(folder / "in" / "1.jsonl", halves()[1])
    for point, time in crashes:
        with pytest.raises(Crash):
            run(folder, text(AFTER, "once", more), crashing(point, time))
    run(folder, text(AFTER, "once", more))


def table(store: Store, query: str) -> list[tuple[Any, ...]]:
    rows = store.believed(query).values()
    return sorted((row["Vs"], cedr.FOREVER if row["Ve"] is None else row["Ve"], *payload(row)) for row in rows)


def payload(row: dict[str, Any]) -> list[Any]:
    return [row[name] for name in ("ticket", "n") if name in row]


def ideal(folder: Path, rows: Rows, query: str, name: str) -> list[tuple[Any, ...]]:
    path = write_lines(folder / "ideal" / f"{name}.jsonl", rows)
    found = cedr.evaluate(query, path, event=name, host="oracle", **WORDS)
    return sorted((row.valid_start, row.valid_end, *row.payload.values()) for row in found.rows)


def later() -> Rows:
    """What the second run receives for the first time."""
    first, second = halves()
    known = {row["no"] for row in first if row["at"] != "never"}
    return [row for row in second if row["no"] not in known]


@pytest.fixture
def whole(tmp_path: Path, store: Store) -> dict[str, Rows]:
    """What two runs without any crash store."""
    first_run(tmp_path / "whole")
    second_run(tmp_path / "whole", [])
    found = dict(store.rows)
    store.rows, store.last = {}, {}
    return found


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_while_queries_come_and_go_changes_nothing(
    point: str, tmp_path: Path, whole: dict[str, Rows], store: Store
) -> None:
    """Reading: R44.  All of it happens once, whatever crashes."""
    first_run(tmp_path)
    second_run(tmp_path, [(point, 1), (point, 2)])
    assert store.rows == whole


def test_each_query_is_what_it_is_to_be(tmp_path: Path, whole: dict[str, Rows], store: Store) -> None:
    """Reading: R44"""
    store.rows = whole
    assert table(store, "Unanswered") == ideal(tmp_path, events(), STAYS, "Unanswered")
    assert table(store, "Pair") == ideal(tmp_path, events(), PAIR.format(25), "Pair")
    assert table(store, "Twice") == ideal(tmp_path, later(), COMES, "Twice") != []
    assert table(store, "Twice") != ideal(tmp_path, events(), COMES, "Twice")


def test_a_query_that_stays_and_one_that_goes_emit_what_they_would_have(
    tmp_path: Path, whole: dict[str, Rows], store: Store
) -> None:
    first_run(tmp_path)
    emitted = len(store.rows["Busy"])
    assert whole["Busy"][:emitted] == store.rows["Busy"]
    (last,) = whole["Busy"][emitted:]
    assert (last["change"], table(store, "Busy") != []) == ("guarantee", True)
    write_lines(tmp_path / "in" / "1.jsonl", halves()[1])
    run(tmp_path, text(BEFORE, "once"))
    assert whole["Unanswered"] == store.rows["Unanswered"]


def test_a_query_that_comes_begins_with_what_is_retained_if_the_file_says_so(tmp_path: Path, store: Store) -> None:
    """Reading: R44"""
    first_run(tmp_path)
    second_run(tmp_path, [("stored", 1)], "retained = true")
    assert table(store, "Twice") == ideal(tmp_path, events(), COMES, "Twice")


def test_a_change_needs_no_further_row(tmp_path: Path, store: Store) -> None:
    first_run(tmp_path)
    run(tmp_path, text(AFTER))
    assert table(store, "Pair") == ideal(tmp_path, halves()[0], PAIR.format(25), "Pair")
    batch = store.last["Pair"]
    run(tmp_path, text(AFTER))
    assert store.last["Pair"] == batch


def test_a_batch_that_was_begun_is_ended_by_the_queries_that_began_it(tmp_path: Path, store: Store) -> None:
    """Its changes may be stored already, in part."""
    write_lines(tmp_path / "in" / "0.jsonl", halves()[0])
    with pytest.raises(Crash):
        run(tmp_path, text(BEFORE), crashing("stored all", 4))
    with pytest.raises(cedr.HostError, match="job-changed") as raised:
        run(tmp_path, text(AFTER))
    assert "run.stop_after=1" in str(raised.value)
    run(tmp_path, text(BEFORE))
    second_run(tmp_path, [])
    assert table(store, "Pair") == ideal(tmp_path, events(), PAIR.format(25), "Pair")


@pytest.mark.parametrize(
    ("query", "types", "told"),
    [
        (LANE, "", '"lane" of "OPEN" was not read so far'),
        (PAIR.format(9), 'attributes = { ticket = "STRING" }\nrevisable = true', '"OPEN" may be revised'),
        (LANE, 'attributes = { ticket = "STRING", lane = "INTEGER" }', "not read all the time: OPEN.lane"),
    ],
)
def test_what_the_past_cannot_tell_is_refused(query: str, types: str, told: str, tmp_path: Path, store: Store) -> None:
    lanes = [{**row, "lane": place % 3} for place, row in enumerate(halves()[0])]
    write_lines(tmp_path / "in" / "0.jsonl", lanes)
    run(tmp_path, text(BEFORE))
    before = store.last["Pair"]
    with pytest.raises(cedr.HostError, match="job-changed") as raised:
        run(tmp_path, text(f"{STAYS};\n{query};\n{GOES}") + (types and f"\n[types.OPEN]\n{types}"))
    assert told in str(raised.value)
    run(tmp_path, text(BEFORE))
    assert store.last["Pair"] == before


def test_a_query_that_comes_may_read_what_nobody_has_read(tmp_path: Path, store: Store) -> None:
    """Reading: R44.  Its history begins now, so older events need not have it."""
    rows = [[{**row, "lane": place % 3} for place, row in enumerate(half)] for half in halves()]
    write_lines(tmp_path / "in" / "0.jsonl", rows[0])
    run(tmp_path, text(STAYS))
    lane = "EVENT Lane FROM OPEN AS o WHERE o.lane = 1 OUTPUT o.ticket AS ticket"
    types = '[types.OPEN]\nattributes = { ticket = "STRING", lane = "INTEGER" }'
    write_lines(tmp_path / "in" / "1.jsonl", rows[1])
    run(tmp_path, f"{text(f'{STAYS};{lane}', 'once')}\n{types}")
    new = {row["no"] for row in later()}
    expected = ideal(tmp_path, [row for row in rows[1] if row["no"] in new], lane, "Lane")
    assert table(store, "Lane") == expected != []


@pytest.mark.usefixtures("store")
def test_what_is_read_changes_between_files_only(tmp_path: Path) -> None:
    """A row that one query cannot use is no row of the file to it: its place in the file would be another."""
    rows = [{**row, "lane": "?" if place < 3 else place % 3} for place, row in enumerate(halves()[0])]
    write_lines(tmp_path / "in" / "0.jsonl", rows)
    run(tmp_path, text(STAYS).replace("batch = 9", "batch = 9\nstop_after = 2"))
    types = '[types.OPEN]\nattributes = { ticket = "STRING", lane = "INTEGER" }'
    with pytest.raises(cedr.HostError, match="job-changed") as raised:
        run(tmp_path, f"{text(f'{STAYS};{LANE}')}\n{types}")
    assert "is still to be read" in str(raised.value)
    run(tmp_path, text(STAYS))
    run(tmp_path, f"{text(f'{STAYS};{LANE}', 'once')}\n{types}")


def test_queries_wait_for_their_own_sources_only(tmp_path: Path, store: Store) -> None:
    """Reading: R33.  One that comes later knows what its sources have promised before."""
    source = '[sources.{0}]\npath = "{0}/"\ntype = "{1}"\ntime = "at"\nid = "no"\ndisorder = 5\n'
    names = (("open", "OPEN"), ("close", "CLOSE"))
    types = "".join(f'[types.{of}]\nattributes = {{ ticket = "STRING" }}\n' for _, of in names)
    more = '[outputs.all]\nkind = "memory"\n[run]\nclock = "batch"\nmode = "available"\n'

    def job(*queries: str) -> str:
        sources = "".join(source.format(*each) for each in names)
        listed = f"[queries]\ntext = '''{';'.join(queries)}'''\n"
        return f'consistency = "STRONG"\n{sources}{types}{listed}{more}'

    opened = "EVENT Opened FROM OPEN AS o OUTPUT o.ticket AS ticket"
    closed = "EVENT Closed FROM CLOSE AS c OUTPUT c.ticket AS ticket"
    for name, _ in names:
        (tmp_path / name).mkdir()
    write_lines(tmp_path / "open" / "a.jsonl", [{"at": at, "no": f"o{at}", "ticket": "T"} for at in (1, 50, 300)])
    run(tmp_path, job(opened))
    assert [row["Vs"] for row in store.believed("Opened").values()] == [1, 50]
    write_lines(tmp_path / "close" / "a.jsonl", [{"at": at, "no": f"c{at}", "ticket": "T"} for at in (2, 60, 90)])
    run(tmp_path, job(opened, closed))
    assert [row["Vs"] for row in store.believed("Closed").values()] == [2, 60]
    run(tmp_path, job(closed))
    assert store.rows["Opened"][-1]["change"] == "guarantee"
    write_lines(tmp_path / "close" / "b.jsonl", [{"at": 200, "no": "c200", "ticket": "T"}])
    run(tmp_path, job(closed))
    assert [row["Vs"] for row in store.believed("Closed").values()] == [2, 60, 90]


@pytest.mark.usefixtures("store")
def test_a_checkpoint_of_an_older_form_is_refused_by_name(tmp_path: Path) -> None:
    first_run(tmp_path)
    database = sqlite3.connect(tmp_path / "job.checkpoint" / "job.sqlite")
    database.execute("UPDATE facts SET value = '1' WHERE name = 'version'")
    database.commit()
    database.close()
    with pytest.raises(cedr.HostError, match="checkpoint-version") as raised:
        run(tmp_path, text(BEFORE))
    assert "has the form 1; this version of cedr reads 2" in str(raised.value)
