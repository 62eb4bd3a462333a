"""A delivery that fails made as small as it gets: fewer messages, one at a time, in a simpler order.

Greedy: a change that keeps the promise broken and makes no dead letter stays; this goes on until no change helps, or
until enough was tried.
"""

from __future__ import annotations

from collections.abc import Iterator

from cedr.model.event import Event
from cedr.model.level import ConsistencyLevel
from cedr.model.stream import Guarantee, Insert, LineageKey, Message
from cedr.model.sync import sync_of
from cedr.model.time import Time
from cedr.testing.deliveries import Batches, dead_positions
from cedr.testing.promises import Broken, Setting, Truths

_MOST = 1_500
"""So many deliveries are tried at most."""


def smallest(setting: Setting, batches: Batches, broken: Broken) -> tuple[Batches, Broken]:
    """A small delivery that breaks a promise at the same level, and how."""
    search = _Search(setting, broken.level)
    if not search.improves(batches):  # only several levels together show it
        return batches, broken
    while search.tried < _MOST and any(search.improves(other) for other in _simpler(search.best)):
        pass
    return search.best, search.broken or broken


class _Search:
    """The smallest delivery so far."""

    def __init__(self, setting: Setting, level: ConsistencyLevel) -> None:
        self.setting, self.level = setting, level
        self.best: Batches = []
        self.broken: Broken | None = None
        self.tried = 0
        self._truths = Truths(setting.plan)

    def improves(self, batches: Batches) -> bool:
        """Whether a delivery fails too; then it is the smallest so far."""
        if self.tried >= _MOST or dead_positions(_flat(batches), self.setting.catalog, self.setting.providers):
            return False
        self.tried += 1
        broken = self.setting.judge(batches, [self.level], self._truths)
        if broken is None:
            return False
        self.best, self.broken = batches, broken
        return True


def _simpler(batches: Batches) -> Iterator[Batches]:
    """Deliveries that are simpler, the greatest gains first."""
    yield from _fewer_keys(batches)
    yield from _fewer_messages(batches)
    if any(len(batch) > 1 for batch in batches):
        yield [[message] for message in _flat(batches)]
        yield from _split(batches)
    yield from _straighter(batches)


def _fewer_keys(batches: Batches) -> Iterator[Batches]:
    """Without some of the rows and all that is said of them: half of them, a quarter, one by one."""
    keys = list(dict.fromkeys(m.lineage_key for m in _flat(batches) if not isinstance(m, Guarantee)))
    size = len(keys) // 2
    while size:
        for start in range(0, len(keys), size):
            gone = set(keys[start : start + size])
            yield _kept(batches, lambda m, gone=gone: isinstance(m, Guarantee) or m.lineage_key not in gone)
        size //= 2
    if len(keys) == 1:
        yield _kept(batches, lambda m: isinstance(m, Guarantee))


def _fewer_messages(batches: Batches) -> Iterator[Batches]:
    """Without one message: a retraction, a guarantee, something that came twice."""
    for place in range(len(_flat(batches))):
        left = iter(range(len(_flat(batches))))
        yield [kept for batch in batches if (kept := [m for m in batch if next(left) != place])]


def _split(batches: Batches) -> Iterator[Batches]:
    """One batch cut into single messages."""
    for number, batch in enumerate(batches):
        if len(batch) > 1:
            yield [*batches[:number], *([message] for message in batch), *batches[number + 1 :]]


def _straighter(batches: Batches) -> Iterator[Batches]:
    """Nearer to the order of Sync: two neighbours that stand the wrong way round changed places."""
    order = _flat(batches)
    syncs = _syncs(order)
    sizes = [len(batch) for batch in batches]
    for place in range(len(order) - 1):
        if syncs[place] > syncs[place + 1]:
            swapped = [*order[:place], order[place + 1], order[place], *order[place + 2 :]]
            yield _cut(swapped, sizes)


def _syncs(messages: list[Message]) -> list[Time]:
    rows: dict[LineageKey, Event] = {m.lineage_key: m.event for m in messages if isinstance(m, Insert)}
    return [
        m.time if isinstance(m, Guarantee) else sync_of(rows[m.lineage_key], None if isinstance(m, Insert) else m)
        for m in messages
    ]


def _cut(messages: list[Message], sizes: list[int]) -> Batches:
    left = iter(messages)
    return [[next(left) for _ in range(size)] for size in sizes]


def _kept(batches: Batches, wanted: object) -> Batches:
    assert callable(wanted)
    return [kept for batch in batches if (kept := [message for message in batch if wanted(message)])]


def _flat(batches: Batches) -> list[Message]:
    return [message for batch in batches for message in batch]
