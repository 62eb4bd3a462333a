"""A source that makes events of machines from a seed: the same ones each time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from cedr.connect.delivery import Delivery
from cedr.connect.generated import Rendering
from cedr.data.frames import frame_of
from cedr.data.origins import Origin
from cedr.data.words import Words
from cedr.sources.contract import Chunk, Offset

WORDS: Final = Words(type="type", time="vs", id="id", occurrence_start="os", change="change", guarantee="guarantee")
"""What its columns are."""


class Generated:
    """The messages of a delivery in the order of arrival."""

    single = False
    pushed = False
    provider_column: str | None = None

    def __init__(self, name: str, delivery: Delivery) -> None:
        self.name = name
        self._codes = np.concatenate([*delivery.codes()])
        self._rendering = Rendering(delivery)
        self._next = 0

    @property
    def finished(self) -> bool:
        """Once all were given."""
        return self._next >= len(self._codes)

    def providers(self) -> None:
        """The source itself."""

    def resume(self, end: Offset, done: Collection[str]) -> None:  # noqa: ARG002 - the contract
        """Go on after so many messages."""
        self._next = end or 0

    def next(self, most: int) -> Chunk | None:
        """So many further messages."""
        if self.finished:
            return None
        first, self._next = self._next, min(self._next + most, len(self._codes))
        return Chunk([first, self._next], self._next)

    def read(self, chunk: Chunk) -> Origin:
        """These messages as rows."""
        first, end = chunk.what
        return frame_of(self._rendering.table(self._codes[first:end]))

    def close(self) -> None:
        """Nothing is held."""
