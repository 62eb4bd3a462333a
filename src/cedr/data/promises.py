"""Guarantees that rows give: by rows that are guarantees, by a column, or by a declared disorder.

Readings: R3, R39 (a bound on disorder).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cedr.data.batches import by_provider
from cedr.data.loading import KINDS, Loaded, Rows
from cedr.model.stream import Guarantee
from cedr.model.time import BEGINNING, Time, plus

INSERT, RETRACT, GUARANTEE = range(len(KINDS))


class Promises:
    """What some sources have promised so far."""

    def __init__(self) -> None:
        self._newest: dict[tuple[int, str | None], Time] = {}
        """The largest Sync of each source and provider."""

    def state(self) -> list[list[Any]]:
        """What to go on from, as plain data."""
        return [[number, provider, newest] for (number, provider), newest in self._newest.items()]

    def restore(self, state: Sequence[Sequence[Any]]) -> None:
        """Go on from what another run has promised."""
        self._newest = {(number, provider): newest for number, provider, newest in state}

    def after(self, sources: Sequence[Loaded], rows: Sequence[Rows]) -> Iterator[Guarantee]:
        """The guarantees that follow from further rows of each source, one for each provider."""
        times: dict[str | None, Time] = {}
        for number, (loaded, further) in enumerate(zip(sources, rows, strict=True)):
            for provider, own in by_provider(loaded.providers, further):
                if len(own):
                    promised = self._promised(loaded, number, provider, own)
                    times[provider] = max(times.get(provider, BEGINNING), promised)
        for provider, time in times.items():
            if time > BEGINNING:
                yield Guarantee(time, provider)

    def _promised(self, loaded: Loaded, number: int, provider: str | None, rows: Rows) -> Time:
        kinds = None if loaded.kinds is None else loaded.kinds[rows]
        given = [BEGINNING]
        if kinds is not None:
            given += loaded.times[rows[kinds == GUARANTEE]].tolist()
        if loaded.guarantees is not None:
            given.append(int(loaded.guarantees[rows].max()))
        bound = loaded.source.words.disorder
        if bound is not None:
            syncs = loaded.clocks.get("occurrence_start", loaded.times)[
                rows if kinds is None else rows[kinds == INSERT]
            ]
            if len(syncs):
                newest = max(self._newest.get((number, provider), BEGINNING), int(syncs.max()))
                self._newest[number, provider] = newest
                given.append(plus(newest, -bound - 1) if newest > BEGINNING else BEGINNING)
        return max(given)
