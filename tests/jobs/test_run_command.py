"""``cedr run`` as a process: a job that is stopped, killed, run twice at once, or changed."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

import cedr
from tests.jobs.cases import Store, events, job_text, run, started, store, write_lines
from tests.terminal import on_terminal

__all__ = ["store"]
OUTPUT = 'kind = "jsonl"\npath = "{query}.jsonl"'
TEXT = job_text('path = "in/"', outputs='kind = "console"')


def command(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "cedr.cli.main", "run", "job.toml", *arguments]
    return subprocess.run(
        whole, cwd=folder, input=stdin.decode(), capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.slow
def test_a_job_runs_from_standard_input_and_says_how_it_went(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(job_text('kind = "stdin"', outputs='kind = "console"'))
    lines = "".join(json.dumps(each) + "\n" for each in events()).encode()
    done = command(tmp_path, "--log", "json", stdin=lines)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("+ [") > 10
    logged = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert logged[-1]["held_back_by"] is None
    assert "dead letters, each with its reason" in done.stderr
    again = command(tmp_path, stdin=b"")
    assert again.returncode == 0
    assert "goes on after batch" in again.stderr


@pytest.mark.slow
def test_on_a_terminal_there_is_a_view_that_names_who_holds_back(tmp_path: Path) -> None:
    write_lines(tmp_path / "in" / "a.jsonl", events())
    (tmp_path / "job.toml").write_text(TEXT.replace("disorder = 200", "").replace('kind = "console"', OUTPUT))
    whole = [sys.executable, "-m", "cedr.cli.main", "run", "job.toml", "--available"]
    status, shown = on_terminal(whole, tmp_path, 140, errors_only=True)
    assert status == 0
    assert "Unanswered waits for tickets: it promises nothing; disorder = says how late its rows may be" in shown
    assert "job: ended, batch 12" in shown


@pytest.mark.slow
def test_ctrl_c_ends_after_the_batch_and_the_next_run_goes_on(tmp_path: Path) -> None:
    write_lines(tmp_path / "in" / "a.jsonl", events())
    (tmp_path / "job.toml").write_text(TEXT.replace('path = "in/"', 'path = "in/"\nidle = "1 hour"'))
    whole = [sys.executable, "-m", "cedr.cli.main", "run", "job.toml", "--metrics-port", "0", "--log", "text"]
    with subprocess.Popen(whole, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        assert job.stderr is not None
        port = next(found[1] for line in job.stderr if (found := re.search(r"127.0.0.1:(\d+)/metrics", line)))
        batch = next(line for line in job.stderr if " batch=11 " in line)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            measures = answer.read().decode()
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/other")
        other = command(tmp_path)
        os.kill(job.pid, signal.SIGINT)
        _, told = job.communicate(timeout=60)
        assert job.returncode == 0
    assert "query=Unanswered" in batch
    assert 'cedr_inserts_total{job="job",query="Unanswered",level="MIDDLE"}' in measures
    assert 'cedr_held_back{job="job",query="Busy",level="MIDDLE",source="tickets"} 1' in measures
    assert "stopped, the next run goes on from here" in told
    assert other.returncode == 1
    assert "checkpoint-in-use" in other.stderr
    assert f"process {job.pid}" in other.stderr
    again = command(tmp_path, "--once")
    assert "goes on after batch" in again.stderr
    assert "ended; 0 rows" in again.stderr


@pytest.mark.slow
def test_a_kill_loses_and_doubles_nothing(tmp_path: Path, store: Store) -> None:
    rows = events(300)
    for number in range(6):
        write_lines(tmp_path / "in" / f"{number}.jsonl", rows[number::6])
    text = TEXT.replace("batch = 9", 'batch = 9\nmode = "once"')
    (tmp_path / "job.toml").write_text(text)
    whole = [sys.executable, "-m", "cedr.cli.main", "run", "job.toml", "--log", "text"]
    for batch in (4, 12, 25):
        with subprocess.Popen(whole, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as job:
            assert job.stderr is not None
            next(line for line in job.stderr if f" batch={batch} " in line)
            job.kill()
    printed = command(tmp_path)
    assert printed.returncode == 0, printed.stderr
    (tmp_path / "whole").mkdir()
    (tmp_path / "in").rename(tmp_path / "whole" / "in")
    run(tmp_path / "whole", text.replace("console", "memory"))
    kept = json.dumps(sorted(store.believed("Busy")))
    assert json.loads(kept)
    assert letters(tmp_path) == letters(tmp_path / "whole")


def letters(folder: Path) -> list[tuple[int, str]]:
    lines = (folder / "job.checkpoint" / "dead_letters.jsonl").read_text().splitlines()
    return [(each["batch"], each["row"]) for each in map(json.loads, lines)]


@pytest.mark.slow
def test_a_changed_job_is_refused_with_what_has_changed(tmp_path: Path, store: Store) -> None:
    write_lines(tmp_path / "in" / "a.jsonl", events())
    text = job_text('path = "in/"', run='batch = 9\nmode = "available"')
    run(tmp_path, text)
    for before, after, told in (
        ("disorder = 200", "disorder = 50", 'the source "tickets" has changed: disorder'),
        ('clock = "batch"', 'clock = "system"', "run.clock"),
        ("sources.tickets", "sources.others", 'the source "tickets" is gone'),
    ):
        with pytest.raises(cedr.HostError, match="job-changed") as raised:
            run(tmp_path, text.replace(before, after))
        assert told in str(raised.value)
    write_lines(tmp_path / "in" / "b.jsonl", [{"kind": "OPEN", "at": 200, "no": "x", "ticket": "T1"}])
    levels = text.replace("[run]", '[levels]\nBusy = "STRONG"\n[run]')
    run(tmp_path, levels)
    assert [row["K"] for row in store.rows["Busy"] if row["change"] == "level"] == ["MIDDLE", "STRONG"]


def test_a_checkpoint_that_cannot_be_written_is_a_clear_error(tmp_path: Path, store: Store) -> None:
    write_lines(tmp_path / "in" / "a.jsonl", events())
    running = started(tmp_path, job_text('path = "in/"'))
    running.loop.one()
    database = running.loop._checkpoint._database
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.execute(f"PRAGMA max_page_count = {pages}")  # as a disk that is full: SQLite says the same
    with pytest.raises(cedr.HostError, match="full") as raised:
        running.loop.run(lambda _: None)
    assert "make room, then run the job again" in str(raised.value)
    running.loop.close()
    stored = store.last["Busy"]
    run(tmp_path, job_text('path = "in/"', run='batch = 9\nmode = "once"'))
    assert store.last["Busy"] > stored
    again = started(tmp_path, job_text('path = "in/"'))
    again.loop._checkpoint._database.execute("PRAGMA query_only = 1")
    write_lines(tmp_path / "in" / "b.jsonl", events())
    for inlet in again.inlets:
        inlet.ended = False
    with pytest.raises(cedr.HostError, match="allow writing there"):
        again.loop.one()
    again.loop.close()
    (tmp_path / "file").write_text("")
    with pytest.raises(cedr.HostError, match="checkpoint-failed"):
        started(tmp_path, 'checkpoint = "file"\n' + job_text('path = "in/"'))


def test_a_socket_is_read_and_a_missing_server_is_told(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(json.dumps(each) + "\n" for each in events()).encode()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def send() -> None:
            connection, _ = server.accept()
            with connection:
                for start in range(0, len(lines), 700):
                    connection.sendall(lines[start : start + 700])
                    time.sleep(0.002)

        sender = threading.Thread(target=send)
        sender.start()
        running = started(tmp_path, job_text(f'address = "127.0.0.1:{port}"'))
        running.loop.run()
        running.loop.close()
        sender.join()
    assert sum(inlet.rows for inlet in running.inlets) == len(events())
    assert len(store.believed("Unanswered")) > 10
    monkeypatch.setattr("cedr.sources.lines._PATIENCE", 0.05)
    with pytest.raises(cedr.StreamError, match=r"cannot connect to 127\.0\.0\.1"):
        started(tmp_path / "job.checkpoint", job_text(f'address = "127.0.0.1:{port}"'))


@pytest.mark.usefixtures("store")
def test_a_file_with_other_columns_stops_the_job_and_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("kind,at,no,ticket\nOPEN,1,o1,T1\nOPEN,3,o2,T2\n")
    text = job_text('path = "in/"', run='batch = 9\nmode = "available"')
    run(tmp_path, text)
    (tmp_path / "in" / "b.csv").write_text("kind,at,no,issue\nOPEN,5,o3,T3\n")
    with pytest.raises(cedr.StreamError, match="schema-changed") as raised:
        run(tmp_path, text)
    assert 'no column "ticket"' in str(raised.value)
    (tmp_path / "in" / "b.csv").unlink()
    (tmp_path / "in" / "c.csv").write_text("kind,at,no,ticket\nOPEN,5,o3,T3\n")
    with pytest.raises(cedr.StreamError, match="is gone before all of it was read"):
        run(tmp_path, text)
