"""Generated messages as lines, as columns and as files: each says the same, the same seed the same bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

from cedr.connect.delivery import Delivery, Disorder
from cedr.connect.generated import SCHEMA, Rendering
from cedr.connect.machines import Fleet, Story
from cedr.connect.messages import read_messages
from cedr.connect.writing import FORMATS, Pace, format_of, write_file, write_folder, write_lines
from cedr.diagnostics.exceptions import StreamError
from cedr.model.stream import Guarantee, Insert, Message, Retract, default_key
from cedr.model.time import FOREVER, HOUR, MINUTE

STORY = Story(events=3_000, machines=40, seed=5)
DISORDER = Disorder(0.1, HOUR, 0.01, 0.05, 0.04, 0.03, 20 * MINUTE)


def delivery(story: Story = STORY, disorder: Disorder = DISORDER) -> Delivery:
    return Delivery(Fleet(story), disorder)


def from_columns(table: pa.Table) -> list[tuple[object, ...]]:
    """What the rows of a table say, as plain values."""
    table = table.set_column(3, "vs", _ticks(table, "vs")).set_column(4, "os", _ticks(table, "os"))
    table = table.set_column(5, "guarantee", _ticks(table, "guarantee"))
    said: list[tuple[object, ...]] = []
    for row in table.to_pylist():
        if row["change"] == "guarantee":
            said.append(("guarantee", FOREVER if row["guarantee"] is None else row["guarantee"]))
        elif row["change"] == "retract":
            said.append(("retract", f"{row['type']}/{row['id']}@{row['os']}"))
        else:
            said.append(tuple(row[name] for name in SCHEMA.names if name != "guarantee"))
    return said


def _ticks(table: pa.Table, name: str) -> pa.ChunkedArray:
    return table.column(name).cast(pa.timestamp("us", "UTC")).cast(pa.int64())


def from_messages(messages: list[Message]) -> list[tuple[object, ...]]:
    said: list[tuple[object, ...]] = []
    for message in messages:
        if isinstance(message, Guarantee):
            said.append(("guarantee", message.time))
        elif isinstance(message, Retract):
            said.append(("retract", message.lineage_key))
        else:
            event = message.event
            assert message.lineage_key == default_key(event)
            times = (event.valid_start, event.occurrence_start)
            said.append(("insert", event.stream, event.id, *times, event.payload["Machine_Id"], event.payload["Load"]))
    return said


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    path = tmp_path_factory.mktemp("said") / "m.jsonl"
    write_file(delivery(), path, "jsonl")
    found = read_messages(path)
    assert found.dead_letters == []
    assert {type(message) for _, message in found.messages} == {Insert, Retract, Guarantee}
    return from_messages([message for _, message in found.messages])


def test_columns_say_what_lines_say(said: list[tuple[object, ...]]) -> None:
    """R3."""
    made = delivery()
    codes = np.concatenate(list(made.codes()))
    table = Rendering(made).table(codes)
    assert table.schema == SCHEMA
    assert from_columns(table) == said


def test_a_row_that_retracts_repeats_what_it_retracts() -> None:
    made = delivery(disorder=Disorder(retracted=0.2))
    table = Rendering(made).table(np.concatenate(list(made.codes()))).to_pylist()
    inserted = {row["id"]: row for row in table if row["change"] == "insert"}
    retracted = [row for row in table if row["change"] == "retract"]
    assert len(retracted) > 500
    assert all(row == {**inserted[row["id"]], "change": "retract"} for row in retracted)


READ: dict[str, Callable[[Path], pa.Table]] = {
    "csv": lambda path: pa_csv.read_csv(path).cast(SCHEMA),
    "parquet": pa_parquet.read_table,
}


@pytest.mark.parametrize("form", READ)
def test_files_of_columns_say_what_lines_say(form: str, said: list[tuple[object, ...]], tmp_path: Path) -> None:
    path = tmp_path / f"m.{form}"
    write_file(delivery(), path, form)
    assert from_columns(READ[form](path)) == said


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_seed_gives_the_same_bytes(form: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_file(delivery(), tmp_path / name, form)
    write_file(delivery(replace(STORY, seed=6)), tmp_path / "other", form)
    one, two, other = ((tmp_path / name).read_bytes() for name in ("one", "two", "other"))
    assert one == two
    assert one != other


def test_the_bytes_are_those_of_every_machine_and_version() -> None:
    """If this fails, every seed has another meaning than before: users' files are not theirs any more."""
    stream = io.BytesIO()
    write_lines(delivery(), stream)
    assert sha256(stream.getvalue()).hexdigest() == "9858e811851b6a4376f58e649f5de637bb3414f3bfa081e4e5ce041e437d4c9c"


@pytest.mark.parametrize("form", FORMATS)
def test_files_of_a_folder_are_the_one_file_in_pieces(form: str, tmp_path: Path) -> None:
    folder, single = tmp_path / "folder", tmp_path / "single"
    count = write_folder(delivery(), folder, form, per_file=500)
    write_file(delivery(), single, form)
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"part-{number:06}.{form}" for number in range(1, count + 1)]
    assert count == 7
    if form == "jsonl":
        assert b"".join(file.read_bytes() for file in files) == single.read_bytes()
        assert [len(file.read_bytes().splitlines()) for file in files[:-1]] == [500] * 6
    else:
        assert pa.concat_tables(map(READ[form], files)).combine_chunks() == READ[form](single).combine_chunks()


def test_the_size_of_pieces_does_not_change_the_lines() -> None:
    streams = [io.BytesIO(), io.BytesIO()]
    write_lines(delivery(), streams[0])
    pace = Pace(30, clock=lambda: 0.0, wait=lambda _: None)
    write_lines(delivery(), streams[1], pace=pace)
    assert streams[0].getvalue() == streams[1].getvalue()


class Sip(io.RawIOBase):
    """A stream that takes less than it is given, as an unbuffered pipe may."""

    def __init__(self) -> None:
        self.taken = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.taken += bytes(data[:1_000])
        return min(len(data), 1_000)


def test_a_stream_that_takes_little_at_a_time_gets_everything() -> None:
    sip, whole = Sip(), io.BytesIO()
    write_lines(delivery(), sip)  # type: ignore[arg-type]
    write_lines(delivery(), whole)
    assert bytes(sip.taken) == whole.getvalue()


class Clock:
    """A clock that only goes when someone waits."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("per_second", [100.0, 2_500.0])
def test_a_pace_is_kept_by_files_that_appear(per_second: float, tmp_path: Path) -> None:
    clock = Clock()
    seen: list[tuple[float, int]] = []
    folder = tmp_path / "stream"
    pace = Pace(per_second, clock, clock.wait)
    made = delivery()
    write_folder(
        made,
        folder,
        "jsonl",
        per_file=250,
        pace=pace,
        done=lambda _: seen.append((clock.now, sum(1 for _ in folder.iterdir()))),
    )
    files = -(-made.counts.messages // 250)
    due = [min(250 * number, made.counts.messages) / per_second for number in range(1, files + 1)]
    assert [time for time, _ in seen] == pytest.approx(due)
    assert [count for _, count in seen] == list(range(1, files + 1))


def test_a_pace_is_kept_by_lines() -> None:
    clock, stream, times = Clock(), io.BytesIO(), []
    write_lines(
        delivery(), stream, pace=Pace(1_000, clock, clock.wait), done=lambda _: times.append((clock.now, stream.tell()))
    )
    lines = stream.getvalue().splitlines()
    assert times[-1] == (pytest.approx(len(lines) / 1_000), len(stream.getvalue()))
    assert len(times) == -(-len(lines) // 100)


def test_progress_is_told() -> None:
    told: list[int] = []
    write_lines(delivery(), io.BytesIO(), done=told.append)
    assert told[-1] == 3_000


# -- what cannot be written -------------------------------------------------------------------------------------------


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(StreamError) as caught:
        call()
    return caught.value.diagnostics[0].code


def test_nothing_is_written_over_unasked(tmp_path: Path) -> None:
    path, folder = tmp_path / "m.csv", tmp_path / "f"
    path.write_text("mine")
    folder.mkdir()
    (folder / "part-000001.csv").write_text("mine")
    assert refused(lambda: write_file(delivery(), path, "csv")) == "already-there"
    assert refused(lambda: write_folder(delivery(), folder, "csv")) == "already-there"
    assert path.read_text() == (folder / "part-000001.csv").read_text() == "mine"
    write_file(delivery(), path, "csv", replace=True)
    write_folder(delivery(), folder, "csv", replace=True)
    assert path.read_bytes() == (folder / "part-000001.csv").read_bytes() != b"mine"


def test_an_interrupted_run_leaves_no_half_file(tmp_path: Path) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(delivery(), tmp_path / "m.csv", "csv", done=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert refused(lambda: write_file(delivery(), tmp_path / "nowhere" / "m.csv", "csv")) == "cannot-write"
    assert refused(lambda: write_folder(delivery(), tmp_path / "file" / "folder", "csv")) == "cannot-write"
    assert refused(lambda: write_folder(delivery(), tmp_path / "f", "csv", per_file=0)) == "bad-count"
    assert refused(lambda: format_of("m.xlsx")) == "unknown-format"
    assert refused(lambda: format_of("m.csv", "xlsx")) == "unknown-format"
    assert [refused(lambda pace=pace: Pace(pace)) for pace in (0, -1, float("nan"), float("inf"))] == ["bad-pace"] * 4


def test_formats_are_told_by_the_ending() -> None:
    assert [format_of(f"a.b{ending}") for ending in (".jsonl", ".JSON", ".csv", ".parquet")] == [
        "jsonl",
        "jsonl",
        "csv",
        "parquet",
    ]
    assert format_of("m.txt", "csv") == "csv"


def test_lines_are_strict_json() -> None:
    stream = io.BytesIO()
    write_lines(delivery(), stream)
    assert all(isinstance(json.loads(line), dict) for line in stream.getvalue().splitlines())
