"""Hypothesis strategies for whole runs: what arrives and how, at which levels, with what happening in between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate

from hypothesis import strategies as st

from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Message
from cedr.model.time import FOREVER
from cedr.testing import strategies as some
from cedr.testing.arrivals import Batches
from cedr.testing.histories import History
from tests.consistency.comparing import Course, Switch

PROVIDERS = ("A", "B")


def catalog(revisable: int = 0) -> EventTypes:
    """Two types only, so that parameters compete for the same events."""
    return some.small_catalog("A", "B", revisable=revisable)


PLAIN = catalog()


@dataclass(frozen=True)
class Arrival:
    """Messages in their batches, and what is declared of them."""

    catalog: EventTypes
    batches: Batches
    providers: tuple[str, ...] = ()


def bounds(longest: int = 8) -> st.SearchStrategy[Bound]:
    """Lengths of application time and of CEDR time."""
    corners = st.sampled_from((Bound(0), Bound(FOREVER)))
    return st.one_of(corners, st.builds(Bound, st.integers(0, longest), st.booleans()))


LEVELS = st.one_of(st.sampled_from((STRONG, MIDDLE, WEAK)), st.builds(ConsistencyLevel, bounds(), bounds()))
"""Any point (B, M), on either clock."""


# -- what arrives -----------------------------------------------------------------------------------------------------


def plain(largest: int = 7, max_time: int = 6) -> st.SearchStrategy[History]:
    return some.histories(PLAIN, min_size=4, max_size=largest, max_time=max_time)


def in_any_order(histories: st.SearchStrategy[History], known: EventTypes = PLAIN) -> st.SearchStrategy[Arrival]:
    """Inserts in any order and batches, true guarantees anywhere."""
    return histories.flatmap(some.arrivals).map(lambda batches: Arrival(known, batches))


def by_detours(
    histories: st.SearchStrategy[History], known: EventTypes = PLAIN, *, settled: bool = True
) -> st.SearchStrategy[Arrival]:
    """Shortenings, removals, wrong versions, repetitions; in any order, with true guarantees."""
    return histories.flatmap(lambda h: some.arrivals(h, revised=True, settled=settled)).map(
        lambda batches: Arrival(known, batches)
    )


def revised(revisable: int) -> st.SearchStrategy[Arrival]:
    """Modifications, closings, statements after the fact."""
    known = catalog(revisable)
    found = some.revised_histories(known, min_size=2, max_size=4, max_time=5)
    return st.one_of(in_any_order(found, known), by_detours(found, known))


@st.composite
def coming_again(draw: st.DrawFn) -> Arrival:
    """By detours, and then some of it again, when much of it is forgotten.  Readings: R37, R41."""
    arrival = draw(by_detours(plain(5)))
    sent = [message for batch in arrival.batches for message in batch if not isinstance(message, Guarantee)]
    again = draw(st.lists(st.sampled_from(sent), max_size=4)) if sent else []
    return Arrival(arrival.catalog, [*arrival.batches, *([message] for message in again)])


@st.composite
def promising_too_much(draw: st.DrawFn) -> Arrival:
    """Messages by detours with guarantees anywhere, true or not, under their default keys or others.  Reading: R39."""
    batches = draw(plain().flatmap(some.retraction_paths).flatmap(some.arrival_orders))
    if draw(st.booleans()):
        batches = [[replace(m, lineage_key=f"own {m.lineage_key}") for m in batch] for batch in batches]
    times = st.one_of(st.none(), st.none(), st.integers(0, 7))
    return Arrival(PLAIN, [[m for x in batch for m in _with(x, draw(times))] for batch in batches])


def _with(message: Message, time: int | None) -> list[Message]:
    return [message] if time is None else [message, Guarantee(time)]


@st.composite
def by_providers(draw: st.DrawFn) -> Arrival:
    """Each stream is a provider of its own that promises only for itself.  Reading: R33."""
    history = draw(plain())
    apart = []
    for name in PROVIDERS:
        own = tuple(row for row in history if row.stream == name)
        found = draw(some.arrivals(own, revised=True))
        apart.append([[_of_provider(m, name) for m in batch] for batch in found])
    turns = draw(st.permutations([number for number, batches in enumerate(apart) for _ in batches]))
    rest = [iter(batches) for batches in apart]
    return Arrival(PLAIN, [next(rest[number]) for number in turns], PROVIDERS if draw(st.booleans()) else ())


def _of_provider(message: Message, name: str) -> Message:
    """The message from a provider, under a key of its own.

    A provider that was not declared may come when others have promised already: then its events break that promise,
    and by a default key they would be taken for forgotten ones.
    """
    if isinstance(message, Guarantee):
        return replace(message, provider=name)
    return replace(message, provider=name, lineage_key=f"{name}:{message.lineage_key}")


ARRIVALS = st.one_of(
    in_any_order(plain()),
    in_any_order(plain(max_time=16)),
    by_detours(plain(5)),
    by_detours(plain(5, max_time=14)),
    revised(FOREVER),
    revised(3),
    by_providers(),
    promising_too_much(),
    coming_again(),
)
"""Everything that can come in."""


# -- what happens -----------------------------------------------------------------------------------------------------


@st.composite
def courses(draw: st.DrawFn, arrival: Arrival, levels: int) -> Course:
    """Switches, saved states, restarts, columns, and the server's clock."""
    steps = range(len(arrival.batches))

    def some_steps(of: int) -> frozenset[int]:
        return frozenset(n for n in steps if draw(st.integers(1, of)) == 1)

    def calm() -> bool:
        return draw(st.booleans())

    switch = st.builds(Switch, st.integers(0, levels - 1), LEVELS, st.booleans())
    return Course(
        switches={} if calm() else {n: [draw(switch)] for n in some_steps(4)},
        saved=frozenset() if calm() else some_steps(2),
        restarts=frozenset() if calm() else some_steps(4),
        columns=frozenset() if calm() else some_steps(2),
        times=None if calm() else list(accumulate(draw(st.sampled_from((1, 1, 2, 3))) for _ in steps)),
        providers=arrival.providers,
        compacts=not calm(),
    )


@dataclass(frozen=True)
class Scenario:
    """A whole run."""

    arrival: Arrival
    levels: tuple[ConsistencyLevel, ...]
    course: Course


@st.composite
def several_levels(draw: st.DrawFn, count: int) -> tuple[ConsistencyLevel, ...]:
    """Levels of one pipeline; often with one B, so that they share operators."""
    first = draw(LEVELS)
    alike = st.builds(ConsistencyLevel, st.just(first.blocking), bounds())
    return first, *(draw(st.one_of(LEVELS, alike)) for _ in range(count - 1))


@st.composite
def scenarios(draw: st.DrawFn, arrivals: st.SearchStrategy[Arrival] = ARRIVALS) -> Scenario:
    """Anything arriving, at one level or several, with anything happening."""
    arrival = draw(arrivals)
    levels = draw(several_levels(draw(st.sampled_from((1, 1, 2, 3)))))
    return Scenario(arrival, levels, draw(courses(arrival, len(levels))))
