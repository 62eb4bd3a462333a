"""Whole drawings: three of them as golden files, and what every one of them says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import cedr
from cedr.diagnostics.exceptions import StreamError
from cedr.drawing.picture import Drawing, draw
from cedr.model.event import Event, Payload, primitive
from cedr.model.stream import Guarantee, Retract, insert
from cedr.model.time import FOREVER
from tests.drawing.samples import A, B, classes, emitted, groups, parsed, retracted, row, tooltips, words

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


def machines() -> Drawing:
    """Timestamps, a late event, a retracted one, a row that is retracted and emitted again."""
    return cedr.evaluate(EXAMPLES / "machines.cedr", EXAMPLES / "machines.jsonl").draw()


def beliefs() -> Drawing:
    """Ticks, lifetimes of events, rows that are no longer believed, a row without an end."""
    return cedr.evaluate(EXAMPLES / "coupons.cedr", EXAMPLES / "coupons.jsonl").draw()


def average() -> Drawing:
    """Rows of another query, shortened rows, retracted rows without an end."""
    return cedr.evaluate(EXAMPLES / "trades.cedr", EXAMPLES / "trades.jsonl", event="MovingAverage").draw()


@pytest.mark.parametrize("case", [machines, beliefs, average], ids=lambda case: case.__name__)
def test_golden(case: Callable[[], Drawing], golden: Callable[[Path, str], None]) -> None:
    drawing = case()
    golden(HERE / "golden" / f"{case.__name__}.svg", drawing.svg)
    assert drawing == case()


def test_a_row_has_a_bar_a_label_an_id_and_links_to_its_events() -> None:
    drawing = draw([row("pair", 9, 15, A, B, n=2)], title="Pairs")
    (bar,) = groups(drawing, "row")
    assert [part.get("class") for part in bar if part.get("class")] == ["link", "bar stands"]
    assert {"Pairs", "1 row; 2 events", "A", "B", "a1", "b1", "pair", "n=2", "contributors"} <= set(words(drawing))
    assert tooltips(drawing, "row") == [
        "row pair of Q\nvalid [9, 15)\noccurrence [9, ∞)\nroot time 5\nn = 2\nmade of: A a1, B b1"
    ]
    assert tooltips(drawing, "event")[0] == "event a1 of A\nvalid [5, ∞)\noccurrence [5, ∞)\nk = 1"


def test_tooltips_tell_when_a_row_was_emitted_shortened_and_retracted() -> None:
    short, gone, stray = row("s", 1), row("g", 2, 4), row("w", 3, 4)
    changes = [
        emitted(short, 1),
        emitted(gone, 2),
        retracted(short, 3, valid_end=8),
        retracted(gone, 4),
        emitted(stray, 5),
    ]
    drawing = draw([row("s", 1, 8)], changes=changes)
    told = {tip.splitlines()[0]: tip.splitlines()[3:] for tip in tooltips(drawing, "row")}
    assert told == {
        "row s of Q": ["emitted at CEDR time 1", "shortened (valid until 8) at CEDR time 3"],
        "row g of Q": ["emitted at CEDR time 2", "retracted at CEDR time 4"],
        "row w of Q": ["emitted at CEDR time 5", "never retracted, but not in the result"],
    }
    assert {"stands", "retracted", "stray", "mark"} <= set(classes(drawing))
    assert drawing.note == "1 row, 1 retracted, 1 emitted but not in the result, 1 shortened"


def test_tooltips_tell_how_late_an_event_was_and_when_it_was_retracted() -> None:
    messages = [insert(primitive("A", "x", 9)), insert(primitive("A", "y", 4), "K"), Retract("K"), Guarantee(20)]
    drawing = draw([], messages=list(enumerate(messages, 1)))
    late = next(tip for tip in tooltips(drawing, "event") if tip.startswith("event y"))
    assert late.splitlines()[3:] == [
        "arrived at CEDR time 2",
        "retracted at CEDR time 3",
        "late by 5: a Sync of 9 had arrived before",
    ]
    assert {"late", "whisker", "hollow", "on-time"} <= set(classes(drawing))
    assert drawing.note == "0 rows; 2 events, 1 late, 1 retracted"
    assert {"input events", "no output rows"} <= set(words(drawing))


def test_rows_of_other_queries_that_no_message_brought_are_marked() -> None:
    average = primitive("Average", "m", 5, 9)
    drawing = draw([row("x", 9, 12, average, B)], messages=[(1, insert(B))])
    assert "derived" in set(classes(drawing))
    assert "row of another query" in words(drawing)
    assert drawing.note == "1 row; 1 event"


def test_an_end_moves_a_mark_and_forever_fades() -> None:
    drawing = draw([row("x", 1, v=1)])
    assert "url(#cedr-" in drawing.svg
    assert {"∞", "fades out: valid forever"} <= set(words(drawing))
    assert "∞" not in words(draw([row("x", 1, 5, v=1)]))


def test_an_end_beyond_the_picture_is_pointed() -> None:
    drawing = draw([*(row(f"r{i}", i, i + 3) for i in range(5)), row("far", 0, 10**9)])
    assert "ends later than shown" in words(drawing)


def test_no_more_rows_than_the_limit_the_first_in_valid_time() -> None:
    rows = [row(f"r{time}", time, time + 5, primitive("A", f"a{time}", time)) for time in range(1024)]
    drawing = draw(rows[::-1], limit=300)
    assert len(groups(drawing, "row")) == 300
    assert {tip.splitlines()[0] for tip in tooltips(drawing, "row")} == {f"row r{time} of Q" for time in range(300)}
    assert drawing.note.startswith("1,024 rows; ")
    assert drawing.note.endswith("300 shown of 1,024 rows")
    none = draw(rows, limit=0)
    assert (groups(none, "row"), none.note) == ([], "1,024 rows; 0 shown of 1,024 rows")


def test_no_more_events_than_a_few_for_each_row() -> None:
    messages = [(n, insert(primitive("A", f"a{n}", n))) for n in range(1_000)]
    drawing = draw([row("x", 500, 600, messages[999][1].event)], messages=messages, limit=10)  # type: ignore[union-attr]
    assert len(groups(drawing, "event")) == 40
    assert any(tip.startswith("event a999 ") for tip in tooltips(drawing, "event"))
    assert drawing.note == "1 row; 1,000 events; 40 shown of 1,000 events"


def test_nothing_to_draw_says_so() -> None:
    drawing = draw([])
    assert drawing.note == "0 rows"
    assert "There are no rows and no events to draw." in words(drawing)


def test_every_text_is_escaped() -> None:
    nasty = "<script>&\"'\x00\ud800]]>"
    event = primitive(nasty, nasty, 1, payload={nasty: nasty})
    drawing = draw([row(nasty, 1, 5, event, **{nasty: nasty})], messages=[(1, insert(event))], title=nasty)
    assert "<script>" not in drawing.svg
    assert any("<script>&\"'\ufffd\ufffd]]>" in text for text in words(drawing))
    drawing.svg.encode("utf-8")


def test_it_is_accessible_and_knows_dark_and_light() -> None:
    drawing = draw([row("x", 1, 5)], title="Pairs")
    svg = parsed(drawing)
    assert svg.get("role") == "img"
    named = {element.get("id"): element.text for element in svg if element.get("id")}
    title, description = (svg.get("aria-labelledby") or "").split()
    assert (named[title], named[description]) == ("Pairs", "1 row. Valid time from 1 to 5.")
    assert "prefers-color-scheme:dark" in drawing.svg


def test_notebooks_and_files_get_the_same(tmp_path: Path) -> None:
    drawing = draw([row("x", 1, 5, stadt="Zürich")])
    drawing.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text("utf-8") == drawing.svg == drawing._repr_svg_()
    assert repr(drawing) == "Drawing(note='1 row')"


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StreamError) as refused:
        draw([]).save(tmp_path / "no" / "where.svg")
    (problem,) = refused.value.diagnostics
    assert problem.code == "cannot-write"
    assert problem.primary == f'cannot write "{tmp_path / "no" / "where.svg"}": no such file or directory'


def test_times_are_as_asked_for() -> None:
    rows = [Event("Q", "x", 10**15, 10**15 + 10**6, 0, FOREVER, 0, (), Payload())]
    assert "valid time (UTC)" in words(draw(rows))
    assert "valid time (ticks)" in words(draw(rows, timestamps=False))
    assert "valid time (UTC)" in words(draw([row("x", 1, 5)], timestamps=True))


def test_a_result_draws_its_rows_changes_and_messages() -> None:
    messages = [
        {"insert": {"type": "OPEN", "id": "o1", "vs": 1}},
        {"insert": {"type": "OPEN", "id": "o2", "vs": 20}},
        {"insert": {"type": "CLOSE", "id": "c1", "vs": 4}},
    ]
    result = cedr.evaluate("EVENT Open WHEN UNLESS(OPEN AS o, CLOSE AS c, 10)", messages)
    drawing = result.draw()
    assert drawing.note == "1 row, 1 retracted; 3 events, 1 late"
    assert "Open at MIDDLE" in words(drawing)
    assert len(groups(result.draw(limit=1), "row")) == 1
