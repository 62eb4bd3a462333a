"""The guarantees of several providers, and the one that follows from them.

Paper: Section 5, "a CEDR operator accepts occurrence time guarantees on subsequent inputs".  Readings: R3 (a guarantee
speaks for its provider), R33 (of several providers the smallest), R39.
"""

from __future__ import annotations

from collections.abc import Iterable

from cedr.model.time import BEGINNING, Time


class Providers:
    """Who sends, and what each has promised.  Messages without a provider are held to what all have promised.

    The overall guarantee never goes back: what was said up to it is final.  So a provider that nobody announced joins
    at the present guarantee, and whatever it has to say about the time before is too late.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._own: dict[str, Time] = dict.fromkeys(names, BEGINNING)
        self._of_all: Time = BEGINNING
        self._smallest: Time = BEGINNING

    @property
    def guarantee(self) -> Time:
        """The smallest guarantee of the known providers; a guarantee without provider covers all of them."""
        return max(self._smallest, self._of_all)

    def join(self, name: str | None) -> None:
        """Know a provider from now on."""
        if name is not None and name not in self._own:
            self._own[name] = self.guarantee

    def of(self, name: str | None) -> Time:
        """What holds for the messages of a provider; without a name, what all have promised."""
        return self.guarantee if name is None else max(self._own.get(name, BEGINNING), self._of_all)

    def promise(self, name: str | None, time: Time) -> None:
        """Every later message of the provider has Sync > time; without a name: of every provider."""
        if name is None:
            self._of_all = max(self._of_all, time)
        else:
            self._own[name] = max(self._own[name], time)
            self._smallest = min(self._own.values())
