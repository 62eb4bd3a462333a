"""Where things go: bars share lines only where they do not touch, and labels never lie over anything on their line."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from cedr.drawing.choice import Shown, choose
from cedr.drawing.clock import Clock
from cedr.drawing.layout import ID_SIZE, Label, lines_of, picture_width, place_bars, place_lanes, scale_of
from cedr.drawing.story import bars_of, dots_of
from cedr.drawing.words import width
from cedr.model.event import Event, primitive
from cedr.model.stream import insert
from cedr.model.time import FOREVER
from tests.drawing.samples import row

TICKS = Clock(timestamps=False)


def shown_of(rows: list[Event], limit: int = 300) -> Shown:
    return choose(bars_of(rows, []), {}, limit)


def extent(label: Label, size: float) -> tuple[float, float]:
    x, anchor, text = label
    need = width(text, size)
    return (x, x + need) if anchor == "start" else (x - need, x)


def test_intervals_take_the_first_line_that_is_free() -> None:
    assert lines_of([(0, 5), (3, 8), (5, 6), (6, 9), (7, 9)]) == [0, 1, 0, 0, 2]
    assert lines_of([(0, 5), (1, 9), (2, 3)], most=2) == [0, 1, 0]


def test_one_far_end_does_not_squeeze_the_rest() -> None:
    rows = [row(f"r{i}", i, i + 4) for i in range(10)]
    near = scale_of(shown_of(rows), TICKS, 960)
    far = scale_of(shown_of([*rows, row("far", 0, 10**12)]), TICKS, 960)
    assert near.end == 13
    assert far.end <= 9 + 9 + 9 // 2
    assert far.x(10**12) == far.edge


def test_one_instant_has_time_around_it() -> None:
    scale = scale_of(shown_of([row("x", 5, 5)]), TICKS, 960)
    assert (scale.start, scale.end) == (4, 6)
    assert scale.left < scale.x(5) < scale.right


def test_few_rows_have_a_line_each_and_many_share_lines() -> None:
    few, many = ([row(f"r{i}", 20 * i, 20 * i + 5) for i in range(count)] for count in (30, 31))
    for rows, shared in ((few, False), (many, True)):
        shown = shown_of(rows)
        _, _, lines = place_bars(shown, scale_of(shown, TICKS, 960), TICKS, 0)
        assert (lines < len(rows)) == shared


def test_events_that_would_touch_are_below_each_other() -> None:
    events = [primitive("A", f"a{i}", 5) for i in range(3)]
    shown = choose([], dots_of(enumerate(map(insert, events))), 300)
    (lane,) = place_lanes(shown, scale_of(shown, TICKS, 960), 0)
    assert len({dot.y for dot in lane.dots}) == 3


ROWS = st.lists(
    st.builds(
        lambda number, start, length, words: row(
            f"r{number}", start, FOREVER if length is None else start + length, words=words
        ),
        st.integers(0, 1_000),
        st.integers(-500, 500),
        st.one_of(st.none(), st.integers(0, 60), st.integers(0, 1_000)),
        st.text(max_size=40),
    ),
    min_size=1,
    max_size=90,
)


@given(ROWS)
def test_on_a_line_nothing_lies_over_anything(rows: list[Event]) -> None:
    shown = shown_of(rows)
    across = picture_width(len(rows))
    scale = scale_of(shown, TICKS, across)
    bars, style, _ = place_bars(shown, scale, TICKS, 0)
    on_line: dict[float, list[tuple[float, float]]] = {}
    for bar in bars:
        assert scale.left <= bar.x < bar.end <= scale.edge + 4
        spans = on_line.setdefault(bar.y, [])
        spans.append((bar.x, bar.end))
        if bar.label is not None:
            start, end = extent(bar.label, style.font)
            assert start >= 0
            assert end <= across
            inside = bar.x < start < bar.end
            assert not inside or end <= bar.end
            if not inside:
                spans.append((start, end))
    for spans in on_line.values():
        assert all(before[1] <= after[0] for before, after in pairwise(sorted(spans)))


@given(st.lists(st.tuples(st.integers(0, 50), st.sampled_from([0, 0, 3, 30, None])), min_size=1, max_size=40))
def test_labels_of_events_lie_over_no_event(starts: list[tuple[int, int | None]]) -> None:
    events = [
        primitive("A", f"event {n}", start, FOREVER if length is None else start + length)
        for n, (start, length) in enumerate(starts)
    ]
    shown = choose([], dots_of(enumerate(map(insert, events))), 300)
    (lane,) = place_lanes(shown, scale_of(shown, TICKS, 960), 0)
    spans = []
    for dot in lane.dots:
        assert lane.top < dot.y < lane.top + lane.height
        if dot.label is None:
            continue
        right = max(end for end in (dot.x, dot.end, dot.high) if end is not None)
        start, end = extent(dot.label, ID_SIZE)
        spans.append((dot.y, min(start, dot.x), max(end, right)))
    for (y, start, end), (other, later, last) in combinations(spans, 2):
        assert y != other or end <= later or last <= start
