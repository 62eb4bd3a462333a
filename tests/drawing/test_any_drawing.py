"""Whatever there is to draw, the drawing is valid XML, has a bar for each shown row, and is bounded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

import cedr
from cedr.drawing.picture import Drawing, draw
from cedr.drawing.story import bars_of
from cedr.model.event import Event, Payload, Value, primitive
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract
from cedr.model.time import FOREVER
from cedr.testing.strategies import arrivals, levels, patterns, relations, revised_histories, small_catalog
from tests.drawing.samples import groups, parsed

CATALOG = small_catalog(revisable=3)
TIMES = st.one_of(st.integers(-10, 20), st.integers(-(2**63) + 1, FOREVER), st.just(FOREVER))
TEXTS = st.one_of(st.sampled_from(["a", "b"]), st.text(max_size=12))
SCALARS: st.SearchStrategy[Value] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.decimals(allow_nan=False),
    st.dates(),
    st.binary(max_size=4),
    TEXTS,
)
PAYLOADS = st.dictionaries(TEXTS, st.one_of(SCALARS, st.tuples(SCALARS, SCALARS)), max_size=3).map(Payload)
EVENTS = st.builds(Event, TEXTS, TEXTS, TIMES, TIMES, TIMES, TIMES, TIMES, st.just(()), PAYLOADS)
ROWS = st.lists(
    st.builds(
        lambda event, parts: Event("Q", *_header(event), tuple(parts), event.payload),
        EVENTS,
        st.lists(EVENTS, max_size=3),
    ),
    max_size=12,
)
KEYS = st.sampled_from(["K1", "K2", "K3"])
ENDS = st.one_of(st.none(), TIMES)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(Insert, EVENTS, KEYS), st.builds(Retract, KEYS, ENDS, ENDS), st.builds(Guarantee, TIMES)
)
CHANGES = st.builds(Change, MESSAGES, st.integers(0, 50), st.one_of(st.none(), EVENTS))

_COORDINATES = re.compile(r' (?:x|y|x1|x2|y1|y2|cx|cy|r|width|height|font-size|viewBox|d|transform)="([^"]*)"')
_NUMBER = re.compile(r"-?\d+(\.\d)?")


def _header(event: Event) -> tuple[str, int, int, int, int, int]:
    times = (event.valid_start, event.valid_end, event.occurrence_start, event.occurrence_end, event.root_time)
    return (event.id, *times)


def sound(drawing: Drawing, bars: int, events: int) -> None:
    """It can be parsed, every coordinate is a number within the picture, and its size follows what it shows."""
    svg = parsed(drawing)
    across, down = float(svg.get("width") or 0), float(svg.get("height") or 0)
    assert across <= 1_500
    assert down <= 500 + 60 * bars + 130 * events
    assert len(groups(drawing, "row")) == bars
    assert len(drawing.svg) < 12_000 + 12_000 * (bars + events)
    without_texts = re.sub(r">[^<]*<", "><", drawing.svg)
    for value in _COORDINATES.findall(without_texts):
        for word in re.sub(r"[A-Za-z()]", " ", value).split():
            assert _NUMBER.fullmatch(word), value
            assert -200 <= float(word) <= max(across, down), value


@given(
    rows=ROWS,
    changes=st.lists(CHANGES, max_size=8),
    messages=st.lists(st.tuples(st.integers(0, 50), MESSAGES), max_size=8),
    title=TEXTS,
    timestamps=st.one_of(st.none(), st.booleans()),
    limit=st.integers(-1, 15),
)
def test_anything_at_all(
    rows: list[Event],
    changes: list[Change],
    messages: list[tuple[int, Message]],
    title: str,
    timestamps: bool | None,
    limit: int,
) -> None:
    drawing = draw(rows, changes=changes, messages=messages, title=title, timestamps=timestamps, limit=limit)
    bars = len(bars_of(rows, changes))
    assert bars >= len(rows)
    sound(drawing, min(bars, max(0, limit)), len(groups(drawing, "event")))
    assert len(groups(drawing, "event")) <= max(40, 4 * limit)
    assert drawing == draw(rows, changes=changes, messages=messages, title=title, timestamps=timestamps, limit=limit)


@given(
    file=st.one_of(patterns(CATALOG), relations(CATALOG)),
    batches=revised_histories(CATALOG).flatmap(lambda history: arrivals(history, revised=True)),
    level=levels(),
)
def test_whatever_a_query_emits(
    file: object, batches: Sequence[Sequence[Message]], level: cedr.ConsistencyLevel
) -> None:
    messages = [message for batch in batches for message in batch]
    result = cedr.evaluate(file, messages, host="oracle", consistency=level, catalog=CATALOG)  # type: ignore[arg-type]
    bars = bars_of(result.rows, result.changes())
    drawing = result.draw()
    sound(drawing, len(bars), len(groups(drawing, "event")))
    drawn = [bar.event for bar in bars]
    assert all(row in drawn for row in result.rows)


@given(st.integers(0, 400), st.integers(1, 10**16), st.integers(1, 300))
def test_a_long_row_of_rows(count: int, step: int, limit: int) -> None:
    rows = [
        Event(
            "Q", f"{n}", n * step, (n + n % 7) * step, n * step, FOREVER, n * step, (primitive("A", f"a{n}", n * step),)
        )
        for n in range(count)
    ]
    sound(draw(rows, limit=limit), min(count, limit), min(count, limit))
