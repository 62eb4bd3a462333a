"""The many ways in which the messages of a file may be delivered, all of them true to its guarantees.

Paper: Section 4: streams that are logically equivalent describe one history, "regardless of the order in which those
state updates arrive".  Readings: R3 (a guarantee speaks of all that is still to come), R40 (batches), R41 (what comes
twice, or before what it retracts).  Chance comes from a seed: a delivery can be had again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from cedr.model.event import Event
from cedr.model.intake import Intake
from cedr.model.lineage import lineages_of
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, LineageKey, Message, Retract
from cedr.model.sync import sync_of
from cedr.model.time import BEGINNING, FOREVER, Time

Batches = list[list[Message]]
"""Messages in the order of arrival; those of one batch have one CEDR time.  Reading: R40."""


@dataclass(frozen=True, slots=True)
class Told:
    """An insert or retraction of the file, and its Sync."""

    message: Insert | Retract
    sync: Time


@dataclass(frozen=True, slots=True)
class Story:
    """What a file tells: its usable messages, its guarantees, who sends them, and which must keep their order."""

    told: tuple[Told, ...]
    guarantees: tuple[Guarantee, ...]
    providers: tuple[str, ...]
    tied: tuple[tuple[int, ...], ...]
    """Numbers of messages that are only right in the order of the file: several rows of one ID and one Os (R41)."""
    end: Time
    """When all is decided: after the last time of the messages and whatever waits for it."""

    @property
    def span(self) -> Time:
        """How far the Syncs are apart."""
        syncs = [each.sync for each in self.told]
        return max(syncs, default=0) - min(syncs, default=0)


def story_of(messages: Sequence[Message], catalog: EventTypes, beyond: Time = 0) -> Story:
    """What the messages tell, without dead letters; the end lies ``beyond`` after their last time.

    The Ve of an event with several versions is said right from the start: whether two versions are one row (R10) can
    otherwise depend on an end that no guarantee covers yet.
    """
    providers = tuple(dict.fromkeys(m.provider for m in messages if m.provider is not None))
    kept = _settled(usable(messages, catalog, providers))
    rows = {m.lineage_key: m.event for m in kept if isinstance(m, Insert)}
    told = tuple(Told(m, _sync(m, rows)) for m in kept if not isinstance(m, Guarantee))
    guarantees = tuple(m for m in kept if isinstance(m, Guarantee) and m.time < FOREVER)
    return Story(told, guarantees, providers, _tied(told, rows), _end(rows.values(), kept) + beyond)


def usable(messages: Iterable[Message], catalog: EventTypes, providers: Sequence[str]) -> list[Message]:
    """The messages without those that are dead letters in this order, and what depended on them."""
    kept = list(messages)
    while True:
        dead = dead_positions(kept, catalog, providers)
        if not dead:
            return kept
        kept = [message for number, message in enumerate(kept, 1) if number not in dead]


def dead_positions(messages: Iterable[Message], catalog: EventTypes, providers: Sequence[str]) -> set[int]:
    """The places, from 1, of the messages that cannot be used in this order."""
    intake = Intake(catalog, providers)
    for message in messages:
        intake.receive(message)
    return {letter.position for letter in intake.dead_letters(final=True)}


def _settled(messages: Sequence[Message]) -> list[Message]:
    versions = Counter(m.event.reference for m in messages if isinstance(m, Insert))
    several = {m.lineage_key for m in messages if isinstance(m, Insert) and versions[m.event.reference] > 1}
    ends = {key: lineage.valid_end for key, lineage in lineages_of(messages).items() if key in several}
    rows = {m.lineage_key: m.event for m in messages if isinstance(m, Insert)}
    settled = (_with_end(m, ends, rows) for m in messages)
    return [message for message in settled if message is not None]


def _with_end(message: Message, ends: dict[LineageKey, Time], rows: dict[LineageKey, Event]) -> Message | None:
    if isinstance(message, Guarantee) or message.lineage_key not in ends:
        return message
    row, end = rows[message.lineage_key], ends[message.lineage_key]
    never = end <= row.valid_start < row.valid_end
    if isinstance(message, Insert):
        return message if never else replace(message, event=replace(row, valid_end=end))
    if message.valid_end is None:
        return message
    if never and message.valid_end <= row.valid_start:
        return Retract(message.lineage_key, provider=message.provider)
    return None if message.occurrence_end is None else replace(message, valid_end=None)


def _sync(message: Message, rows: dict[LineageKey, Event]) -> Time:
    assert not isinstance(message, Guarantee)
    return sync_of(rows[message.lineage_key], None if isinstance(message, Insert) else message)


def _tied(told: Sequence[Told], rows: dict[LineageKey, Event]) -> tuple[tuple[int, ...], ...]:
    places: dict[tuple[str, str, Time], list[int]] = {}
    for number, each in enumerate(told):
        row = rows[each.message.lineage_key]
        places.setdefault((*row.reference, row.occurrence_start), []).append(number)
    return tuple(
        tuple(numbers) for numbers in places.values() if len({told[n].message.lineage_key for n in numbers}) > 1
    )


def _end(rows: Iterable[Event], messages: Iterable[Message]) -> Time:
    times = [time for row in rows for time in (row.valid_start, row.valid_end, row.occurrence_start)]
    times += [message.time for message in messages if isinstance(message, Guarantee)]
    return max((time for time in times if time < FOREVER // 2), default=0)


# -- orders -----------------------------------------------------------------------------------------------------------


def delivery(story: Story, number: int, seed: int) -> Batches:
    """The delivery of a number: the simplest ones first, then whatever chance brings.

    The last batch promises that all is said.
    """
    chance = Random(f"{seed}/{number}")
    order = _order(story, number, chance)
    _tie(order, story.tied)
    simple = number < len(_SIMPLE)
    placed = _with_guarantees(story, order, Random(0) if simple else chance, spare=not simple)
    if not simple and chance.random() < 0.5:
        placed = _repeated(placed, chance)
    cut = (0.0 if number == _AT_ONCE else 1.0) if simple else chance.choice((1.0, 0.6, 0.2))
    batches: Batches = [[]]
    for message in placed:
        batches[-1].append(message)
        if chance.random() < cut:
            batches.append([])
    return [*(batch for batch in batches if batch), [Guarantee(story.end)]]


_SIMPLE = ("as in the file", "in the order of Sync", "all at once", "backwards")
_AT_ONCE = _SIMPLE.index("all at once")


def _order(story: Story, number: int, chance: Random) -> list[int]:
    """Numbers of messages in an order."""
    numbers = list(range(len(story.told)))
    by_sync = sorted(numbers, key=lambda n: (story.told[n].sync, n))
    if number < len(_SIMPLE):
        return {"in the order of Sync": by_sync, "backwards": by_sync[::-1]}.get(_SIMPLE[number], numbers)
    style = chance.choice(("shuffled", "delayed", "delayed", "one late", "one early"))
    if style == "shuffled":
        chance.shuffle(numbers)
        return numbers
    if style == "delayed":
        most = max(1, chance.choice((story.span // 20, story.span // 4, story.span)))
        return sorted(numbers, key=lambda n: story.told[n].sync + chance.randint(0, most))
    if by_sync:
        moved = by_sync.pop(chance.randrange(len(by_sync)))
        by_sync.insert(len(by_sync) if style == "one late" else 0, moved)
    return by_sync


def _tie(order: list[int], tied: Iterable[tuple[int, ...]]) -> None:
    """What must keep its order keeps it, in the places that chance has given it."""
    for group in tied:
        places = [place for place, number in enumerate(order) if number in group]
        for place, number in zip(places, group, strict=True):
            order[place] = number


def _with_guarantees(story: Story, order: Sequence[int], chance: Random, *, spare: bool) -> list[Message]:
    """The messages in their order with the guarantees of the file, each once it is true, and with more true ones.

    Reading: R3: a guarantee t comes after every message of its provider with Sync <= t.
    """
    after: dict[int, list[Guarantee]] = {}
    for guarantee in story.guarantees:
        bound = [place for place, n in enumerate(order) if _bound_by(story.told[n], guarantee)]
        first = max(bound, default=-1)
        late = chance.randint(0, 3) if spare else 0
        after.setdefault(min(first + late, len(order) - 1), []).append(guarantee)
    placed: list[Message] = [*after.pop(-1, ())]
    rest = _smallest_after(story, order)
    for place, number in enumerate(order):
        placed += [story.told[number].message, *after.get(place, ())]
        if rest[place] < FOREVER and (not spare or chance.random() < 0.4):
            promised = rest[place] - 1 - (chance.choice((0, 0, 1, story.span // 7)) if spare else 0)
            placed += [Guarantee(promised)] if promised > BEGINNING else []
    return placed


def _bound_by(told: Told, guarantee: Guarantee) -> bool:
    same = None in (guarantee.provider, told.message.provider) or guarantee.provider == told.message.provider
    return same and told.sync <= guarantee.time


def _smallest_after(story: Story, order: Sequence[int]) -> list[Time]:
    """For each place the smallest Sync that is still to come."""
    smallest, found = FOREVER, list[Time]()
    for number in reversed(order):
        found.append(smallest)
        smallest = min(smallest, story.told[number].sync)
    return found[::-1]


def _repeated(messages: Sequence[Message], chance: Random) -> list[Message]:
    """Some messages twice, the second time anywhere after the first.  Reading: R41."""
    result = list(messages)
    for message in messages:
        if not isinstance(message, Guarantee) and chance.random() < 0.15:
            result.insert(chance.randint(result.index(message) + 1, len(result)), message)
    return result
