"""The host ``oracle``: the executable meaning of the language, slow, and right by definition.

Reading: R24.  It runs every query.  On a stream it evaluates everything again at each step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cedr.hosts.host import Answer, Job, Levels, StandingQuery, Stream, said_by, stream_of
from cedr.hosts.result import Track, untracked
from cedr.model.intake import Intake
from cedr.model.schema import EventTypes
from cedr.plan.logical import Node
from cedr.semantics.evaluate import Oracle as Denotation
from cedr.semantics.ties import tied


class Oracle:
    """Evaluates the denotation of a plan."""

    name: Final = "oracle"

    def evaluate(self, job: Job) -> Answer:
        """The denotation of the query on all that was received; with ``AS OF c``, what was emitted by then."""
        intake = Intake(job.types)
        for number, message in enumerate(job.messages, 1):
            intake.receive(message, number)

        known = Denotation(intake.rows())

        def changes(track: Track[object]) -> Stream:
            return stream_of(self, job, track)

        if job.query.as_of is None:
            rows = known.table(job.query.plan)
        else:
            rows = said_by(changes(untracked).changes, job.query.as_of)
        return Answer(rows, intake.dead_letters(final=True), changes, tied(job.query.plan, known))

    def start(self, plan: Node, levels: Levels, types: EventTypes, providers: Iterable[str] = ()) -> StandingQuery:
        """The naive engine."""
        from cedr.hosts.naive import Naive

        return Naive(plan, levels, types, providers)
