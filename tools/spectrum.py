"""What the consistency levels cost, measured: Figures 8 and 9 of the paper on streams that are made from a seed.

Counts, not seconds, so that they are the same everywhere.  Used by ``tools/generate_docs.py`` (the page and the
picture) and by ``tests/consistency/test_spectrum.py``, which asks for the orderings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from cedr.consistency.pipeline import Pipeline
from cedr.hosts.host import said_by
from cedr.model.event import Event, primitive
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.stream import Change, Guarantee, Message, insert
from cedr.model.time import FOREVER, Time
from cedr.plan.compile import compile_text
from cedr.semantics.evaluate import evaluate
from drawings import BLUE, GREEN, GREY, INK, PALE, RED, Canvas

TYPES = EventTypes({name: EventType(name, {"k": DataType.INTEGER}) for name in ("Order", "Payment", "Shipment")})
QUERY = "EVENT Unpaid WHEN NOT(Payment p, SEQUENCE(Order o, Shipment s, 12)) WHERE CorrelationKey(k, EQUAL)"
PLAN = compile_text(QUERY, TYPES).queries["Unpaid"].plan

SEED, ORDERS, LATEST, BATCH = 2007, 150, 18, 6
EVERY = 8
"""A guarantee after so many batches of the disorderly stream."""
BLOCKING = (0, 3, 6, 12, FOREVER)
MEMORY = (0, 3, 6, 12, FOREVER)


@dataclass(frozen=True)
class Stream:
    """A history, and the batches in which it arrives."""

    events: tuple[Event, ...]
    batches: tuple[tuple[Message, ...], ...]


@cache
def stream(*, orderly: bool) -> Stream:
    """An order at each instant, shipped after 4 to 10, most of them paid after 1 to 3; in order, or half of it late.

    A guarantee comes after every batch of the orderly stream, and after every eighth of the other.
    """
    random = Random(SEED)
    events = []
    for time in range(ORDERS):
        events.append(primitive("Order", f"o{time}", time, payload={"k": time}))
        events.append(primitive("Shipment", f"s{time}", time + random.randint(4, 10), payload={"k": time}))
        if random.random() < 0.8:
            events.append(primitive("Payment", f"p{time}", time + random.randint(1, 3), payload={"k": time}))
    delays = [0 if random.random() < 0.5 else random.randint(1, LATEST) for _ in events]
    arriving = sorted(
        range(len(events)), key=lambda n: (events[n].valid_start + (0 if orderly else delays[n]), events[n].id)
    )
    return Stream(tuple(events), tuple(_batches([events[n] for n in arriving], 1 if orderly else EVERY)))


def _batches(arriving: Sequence[Event], every: int) -> list[tuple[Message, ...]]:
    found = []
    for number, start in enumerate(range(0, len(arriving), BATCH), 1):
        batch: list[Message] = [insert(event) for event in arriving[start : start + BATCH]]
        rest = [event.valid_start for event in arriving[start + BATCH :]]
        if rest and number % every == 0:
            batch.append(Guarantee(min(rest) - 1))
        found.append(tuple(batch))
    return [*found, (Guarantee(ORDERS + 100),)]


@dataclass(frozen=True)
class Cost:
    """What one level cost on one stream."""

    level: ConsistencyLevel
    blocking: int
    """How many messages waited, summed over the steps."""
    state: int
    """The largest number of rows that the operators held, and messages that waited, at one time."""
    output: int
    """Inserts and retractions."""
    retractions: int
    wrong: tuple[Event, ...]
    """The rows that are said in the end and should not be, or should be and are not."""


def costs(levels: Sequence[ConsistencyLevel], stream: Stream) -> list[Cost]:
    """The columnar engine at each level alone: levels of one pipeline share operators."""
    engines = [Pipeline(PLAN, level, TYPES) for level in levels]
    blocking, state, output, retractions = ([0] * len(levels) for _ in range(4))
    told: list[list[Change]] = [[] for _ in levels]
    for time, batch in enumerate(stream.batches, 1):
        for of, engine in enumerate(engines):
            (changes,), (measures,) = engine.step(batch, time), engine.measures()
            told[of].extend(changes.to_changes())
            output[of] += changes.inserts + changes.retractions
            retractions[of] += changes.retractions
            blocking[of] += measures.held
            state[of] = max(state[of], measures.total_rows + measures.held)
    tables: dict[str, list[Event]] = {}
    for event in stream.events:
        tables.setdefault(event.stream, []).append(event)
    right = {row.id: row for row in evaluate(PLAN, tables)}
    wrong = []
    for of in range(len(levels)):
        said = {row.id: row for row in said_by(told[of], len(stream.batches))}
        wrong.append(tuple((said | right)[name] for name in sorted(said.keys() ^ right.keys())))
    return [Cost(level, blocking[n], state[n], output[n], retractions[n], wrong[n]) for n, level in enumerate(levels)]


def level(blocking: int, memory: int) -> ConsistencyLevel:
    return ConsistencyLevel(Bound(blocking), Bound(memory))


@cache
def grid() -> dict[tuple[int, int], Cost]:
    """The costs at every (B, M) on the disorderly stream."""
    points = [(b, m) for m in MEMORY for b in BLOCKING]
    return dict(zip(points, costs([level(*point) for point in points], stream(orderly=False)), strict=True))


@cache
def corners() -> dict[tuple[str, bool], Cost]:
    """The costs of the three named levels on either stream."""
    names = {"STRONG": STRONG, "MIDDLE": MIDDLE, "WEAK": WEAK}
    return {
        (name, orderly): cost
        for orderly in (True, False)
        for name, cost in zip(names, costs(list(names.values()), stream(orderly=orderly)), strict=True)
    }


def frozen_when_it_mattered(cost: Cost, row: Event, stream: Stream) -> bool:
    """Whether what would have repaired a wrong row came when the row had ended more than M ago.  Reading: R34."""
    memory, newest = cost.level.memory.duration, None
    for batch in stream.batches:
        line = None if newest is None or memory == FOREVER else newest - memory
        for message in batch:
            if isinstance(message, Guarantee):
                continue
            event = message.event  # type: ignore[union-attr]
            bears = event.payload["k"] == row.payload["o_k"]
            if bears and line is not None and row.valid_end < line:
                return True
        times = [m.time if isinstance(m, Guarantee) else m.event.valid_start for m in batch]  # type: ignore[union-attr]
        newest = max([*times, *([] if newest is None else [newest])])
    return False


# -- the page ---------------------------------------------------------------------------------------------------------


_PAGE = """# What the levels cost

<!-- Generated by `make docs` from tools/spectrum.py, which runs the streams. Do not edit. -->

This page helps you to choose a level by its cost. [Levels](levels.md) says what each level promises; here is what it
costs, as counts: how many messages wait, how many rows the query keeps (waiting messages included), and how many
changes it emits. All counts come from one query,

```cedr
TYPE Order (k INTEGER);
TYPE Payment (k INTEGER);
TYPE Shipment (k INTEGER);
{query}
```

on a stream that is generated from a seed: {orders} orders, one at each instant. Each is shipped 4 to 10 instants later,
and most are paid 1 to 3 instants after the order. The stream arrives in batches of {batch} messages.

## Figure 8, measured

The paper's Figure 8 has words: low, high, minimal. Here are numbers, for two streams. The stream *in order* has a
guarantee after each batch. The stream *out of order* is the same history, but half of its messages are up to {latest}
late, and it has a guarantee after every eighth batch.

| level | input | messages waiting × steps | most rows kept | changes | wrong in the end |
| --- | --- | ---: | ---: | ---: | ---: |
{table}

In order, the levels cost about the same. Out of order, STRONG waits and emits each row once. MIDDLE emits at once and
retracts what turns out to be wrong. WEAK retracts only rows that are still valid: it keeps the fewest rows, and older
wrong rows stay wrong.

## Between the corners

A level is a pair (B, M). The picture shows the stream out of order, {events} events, at 25 levels:

![Changes, waiting, rows kept and wrong rows at each B and M](../images/spectrum.svg)

- Upwards B grows: fewer changes, more waiting. A row that is emitted later is retracted less often.
- To the right M grows: more rows kept, fewer wrong rows.
- Above the diagonal nothing changes: a B larger than M acts as M.
- Rows that are wrong in the end are old: the message that would have corrected such a row arrived more than M after the
  end of the row.
"""


def spectrum_page() -> str:
    """docs/explanation/spectrum.md."""
    lines = []
    for name in ("STRONG", "MIDDLE", "WEAK"):
        for orderly in (True, False):
            cost, order = corners()[name, orderly], "in order" if orderly else "out of order"
            counts = (cost.blocking, cost.state, cost.output, len(cost.wrong))
            lines.append(f"| {name} | {order} | {' | '.join(f'{count:,}' for count in counts)} |")
    return _PAGE.format(
        query=QUERY,
        orders=ORDERS,
        batch=BATCH,
        latest=LATEST,
        table="\n".join(lines),
        events=len(stream(orderly=False).events),
    )


# -- the picture ------------------------------------------------------------------------------------------------------

_CELL, _GAP, _LEFT, _TOP = 52, 96, 70, 64


def spectrum_picture() -> str:
    """docs/images/spectrum.svg: four grids of M and B, darker where there is more.  Paper: Figure 9."""
    side = _CELL * len(MEMORY)
    canvas = Canvas(_LEFT + 2 * side + _GAP + 30, _TOP + 2 * side + _GAP + 66, "What each level costs, by B and M")
    canvas.text((16, 22), "one stream out of order at 25 levels: M to the right, B upwards", GREY)
    panels = (
        ("changes", BLUE, lambda cost: cost.output),
        ("messages waiting × steps", RED, lambda cost: cost.blocking),
        ("most rows kept", GREEN, lambda cost: cost.state),
        ("wrong rows in the end", INK, lambda cost: len(cost.wrong)),
    )
    for number, (title, colour, measure) in enumerate(panels):
        corner = (_LEFT + (side + _GAP) * (number % 2), _TOP + (side + _GAP) * (number // 2))
        canvas.text((corner[0], corner[1] - 10), title, colour, size=14)
        _panel(canvas, corner, colour, {point: measure(cost) for point, cost in grid().items()})
    note = "Pale figures: B is larger than M and acts as M."
    canvas.text((16, canvas.height - 14), note, GREY, size=12)
    return str(canvas)


def _panel(canvas: Canvas, corner: tuple[int, int], colour: str, values: dict[tuple[int, int], int]) -> None:
    largest = max(1, *values.values())
    for column, memory in enumerate(MEMORY):
        for row, blocking in enumerate(BLOCKING):
            x, y = corner[0] + _CELL * column, corner[1] + _CELL * (len(BLOCKING) - 1 - row)
            value = values[blocking, memory]
            canvas.box((x, y), (_CELL, _CELL), _mixed(colour, 0.55 * value / largest), PALE)
            ink = GREY if blocking > memory else INK
            canvas.text((x + _CELL / 2, y + _CELL / 2 + 5), f"{value}", ink, "middle", 11 if blocking > memory else 13)
    bottom = corner[1] + _CELL * len(BLOCKING)
    for number, (memory, blocking) in enumerate(zip(MEMORY, BLOCKING, strict=True)):
        canvas.text((corner[0] + _CELL * (number + 0.5), bottom + 18), _time(memory), GREY, "middle", 12)
        canvas.text((corner[0] - 8, bottom - _CELL * (number + 0.5) + 4), _time(blocking), GREY, "end", 12)
    canvas.text((corner[0] + _CELL * len(MEMORY), bottom + 36), "M", GREY, "end", 12)
    canvas.text((corner[0] - 8, corner[1] - 2), "B", GREY, "end", 12)


def _time(time: Time) -> str:
    return "∞" if time == FOREVER else str(time)


def _mixed(colour: str, share: float) -> str:
    """A colour thinned with white."""
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in parts)
