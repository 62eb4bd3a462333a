"""Who evaluates.  A host takes a ``Job`` and gives an ``Answer``; all of them give the same rows.

The host ``oracle`` is the executable meaning of the language: slow, and right by definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from cedr.errors import Diagnostic, HostError
from cedr.evaluation.result import Track, untracked
from cedr.model.event import Event
from cedr.model.intake import DeadLetter, Intake
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import Catalog
from cedr.model.stream import Change, Guarantee, Insert, Message
from cedr.plan.compile import CompiledQuery
from cedr.semantics.evaluate import evaluate
from cedr.semantics.levels import Reference


@dataclass(frozen=True, slots=True)
class Job:
    """What a host is asked to do: one query, the messages in arrival order, the level, and the event types."""

    query: CompiledQuery
    messages: tuple[Message, ...]
    level: ConsistencyLevel
    types: Catalog


Said = tuple[Sequence[Change], Sequence[DeadLetter]]
"""A change stream, and what could not be used at its level."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host gives: the bitemporal table, what it could not use, and on demand the change stream.

    The position of a dead letter is that of its message in the job, from 1.
    """

    rows: Sequence[Event]
    dead_letters: Sequence[DeadLetter]
    changes: Callable[[Track[Message]], Said]


Host = Callable[[Job], Answer]


def oracle(job: Job) -> Answer:
    """The meaning of the query on all that was received; with ``AS OF c``, what was said by then.  Reading: R24."""
    intake = Intake(job.types)
    for number, message in enumerate(job.messages, 1):
        intake.receive(message, number)

    def changes(track: Track[Message]) -> Said:
        reference = Reference(job.query.plan, job.level, job.types)
        steps = enumerate(track(job.messages, "change stream"), 1)
        said = [change for cedr_time, message in steps for change in reference.step([message], cedr_time)]
        return said, reference.dead_letters

    if job.query.as_of is None:
        rows = evaluate(job.query.plan, intake.rows())
    else:
        rows = said_by(changes(untracked)[0], job.query.as_of)
    return Answer(rows, intake.dead_letters(final=True), changes)


HOSTS: dict[str, Host] = {"oracle": oracle}
"""Every host by its name."""


def host_named(name: str) -> Host:
    """The host of a name.  Raises ``HostError``."""
    if name not in HOSTS:
        raise HostError(Diagnostic("unknown-host", f'there is no host "{name}"', detail=f"hosts: {', '.join(HOSTS)}"))
    return HOSTS[name]


def said_by(changes: Iterable[Change], cedr_time: int) -> list[Event]:
    """The rows that a change stream amounts to at a CEDR time.  Reading: R24."""
    rows: dict[str, Event] = {}
    for change in changes:
        message = change.message
        if change.cedr_time > cedr_time or isinstance(message, Guarantee):
            continue
        if isinstance(message, Insert):
            rows[message.lineage_key] = message.event
            continue
        row = rows.pop(message.lineage_key)
        if not message.removes:
            oe, ve = message.occurrence_end, message.valid_end
            rows[message.lineage_key] = replace(
                row,
                occurrence_end=row.occurrence_end if oe is None else oe,
                valid_end=row.valid_end if ve is None else ve,
            )
    return list(rows.values())
