"""The host ``local``: the columnar runtime in this process.

Readings: R24, R33.  The pipeline is loaded when it is needed, because it takes longer to load than a small query runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cedr.hosts.host import Answer, Job, Levels, StandingQuery, Stream, said_by, stream_of
from cedr.hosts.result import Track, untracked
from cedr.model.level import MIDDLE
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee
from cedr.model.time import FOREVER
from cedr.plan.logical import Node


class Local:
    """Runs the pipeline of operators in columns."""

    name: Final = "local"

    def evaluate(self, job: Job) -> Answer:
        """The same rows as the oracle's.

        The table is what is emitted at MIDDLE once nothing more can come: then every row and every end is due (R33).
        """
        running = self.start(job.query.plan, MIDDLE, job.types)
        batches = (job.messages, (Guarantee(FOREVER - 1),))
        emitted = [
            change for number, batch in enumerate(batches, 1) for change in running.step(batch, number)[0].to_changes()
        ]

        def changes(track: Track[object]) -> Stream:
            return stream_of(self, job, track)

        end = FOREVER
        if job.query.as_of is not None:
            emitted, end = list(changes(untracked).changes), job.query.as_of
        ties = running.measures()[0].ties
        return Answer(said_by(emitted, end), running.dead_letters(), changes, ties)

    def start(self, plan: Node, levels: Levels, types: EventTypes, providers: Iterable[str] = ()) -> StandingQuery:
        """The pipeline of operators."""
        from cedr.consistency.pipeline import Pipeline

        return Pipeline(plan, levels, types, providers)
