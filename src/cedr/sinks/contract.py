"""What a sink is: it takes the change rows of a query batch by batch, and tells what it promises about them.

Reading: R48 (change rows), R40 (batches).  Batches have numbers that rise; after a crash those that were not stored,
and perhaps some that were, come again with the same number and the same rows.  A sink that can tell skips a batch that
it has stored; one that cannot says so in its promise.

    sink.open(output)                   # fails where the place does not fit what is to be stored there
    number = sink.stored()              # the last batch that is safe, None where there is none or nobody can know
    sink.write(number + 1, changes)     # whole or not at all
    sink.close()
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from cedr.model.time import FOREVER, Time
from cedr.sinks.errors import ahead, behind


@dataclass(frozen=True, slots=True)
class Output:
    """What is known of an output before its first row.

    ``cedr.sinks.output.output_of`` makes it of a query.
    """

    name: str
    """The name of the query."""
    schema: pa.Schema
    """The columns of its change rows: ``cedr.data.change_rows``."""
    open_ends: bool = True
    """Whether the Ve of a row may still be shortened once it was said.  Reading: R33."""
    revisable: Time = FOREVER
    """How long a row may still be closed by a modification of what it is made of, after its last clock.  Reading: R37.

    So a row is final once the guarantee has reached Os, and Ve where ends are open, and this much more.
    """


class Sink(Protocol):
    """A place where change rows go."""

    @property
    def promise(self) -> str:
        """What is delivered how often, whatever crashes: one sentence."""

    def open(self, output: Output) -> None:
        """Connect, and make what is missing.  Raises ``SinkError`` where what is there does not fit."""

    def stored(self) -> int | None:
        """The number of the last batch that is stored for good; None where none is, or where that cannot be known.

        A batch without any row may leave no trace.  A job keeps this with its checkpoint: ``check_stored``.
        """

    def write(self, batch: int, changes: pa.Table) -> None:
        """Store the change rows of a batch, all or none of them; skip a batch that is stored.

        The numbers of batches rise, and may leave some out.  Raises ``SinkError``; then nothing of it is stored, and it
        may be written again.
        """

    def close(self) -> None:
        """Let go of what is held.  What was written stays; what waits to be delivered is tried once more."""


def check_stored(place: str, stored: int | None, kept: int | None, planned: int | None) -> None:
    """That a sink goes on where its job does, and not where another one was.  Raises ``SinkError``.

    ``stored`` is what the sink says when it is opened, ``kept`` what it said when the checkpoint was made, and
    ``planned`` the largest number that the job has given to a batch so far.  A sink that has less than it had, has lost
    rows; one that has more than there were batches, has those of another run, and would skip ours.
    """
    if kept is not None and (stored is None or stored < kept):
        raise behind(place, stored, kept)
    if stored is not None and (planned is None or stored > planned):
        raise ahead(place, stored, planned)
