"""A query on rows of files and data frames, in columns all the way.

Readings: R10 (the latest belief), R24 (AS OF), R33 (once nothing more can come everything is due), R39, R41.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from cedr.consistency.emission.changes import Changes
from cedr.consistency.measures import Measures
from cedr.consistency.pipeline import Pipeline
from cedr.data.arriving import Arriving
from cedr.data.change_log import ChangeLog, Step
from cedr.data.rejected import Rejected, Rejects
from cedr.data.results import standing
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.choice import DEFAULT, host_named
from cedr.hosts.host import Host, Job, LiveHost, in_order, said_by, sensible_batch
from cedr.hosts.local import Local
from cedr.hosts.noticing import of_ties, on_stream
from cedr.hosts.preparing import Prepared
from cedr.hosts.result import ChangeStream, Result, Track, believed, untracked
from cedr.model.dead_letter import DeadLetter
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.stream import Change
from cedr.model.time import FOREVER, Time
from cedr.plan.splitting import split_of

_LOCAL = Local()


def evaluate_rows(prepared: Prepared, level: ConsistencyLevel | None, host: str | None, batch: int | None) -> Result:
    """The result of a query on rows; by the columnar runtime where no host is named."""
    chosen = _Level(prepared, level or prepared.query.consistency or MIDDLE, batch)
    if prepared.query.as_of is not None and not prepared.arriving.recorded:
        primary = "AS OF asks what was known at a CEDR time: that needs a column of arrival times"
        raise HostError(Diagnostic("no-history", primary, hint="name it: arrival"))
    asked = host_named(DEFAULT if host is None else host)
    return chosen.by_columns() if isinstance(asked, Local) else chosen.by_messages(asked)


class _Level:
    """A query on rows at one level."""

    def __init__(self, prepared: Prepared, level: ConsistencyLevel, batch: int | None) -> None:
        self._prepared, self._level = prepared, level
        self._batch = batch or sensible_batch(prepared.arriving.count)

    def by_columns(self) -> Result:
        """In columns.  At STRONG nothing is retracted, and once nothing more can come all levels say the same."""
        prepared, query = self._prepared, self._prepared.query
        if query.as_of is not None:
            stream = self._stream(untracked, until=query.as_of)
            prepared.warnings.extend(of_ties(0 if stream.measures is None else stream.measures.ties))
            return self._result(
                Rejects(), rows=believed(said_by(stream.changes, query.as_of), bitemporal=query.bitemporal)
            )
        split = split_of(query.plan, stable_key=False)
        arriving, _ = prepared.arriving, prepared.shape  # the shape is asked of rows that may be gone after this
        rejected: list[Rejected] = []
        duplicates = ties = 0

        def emitted() -> Iterator[pa.RecordBatch]:
            nonlocal duplicates, ties
            for share in arriving.whole(None if split.whole else split.by):
                pipeline = Pipeline(query.plan, STRONG, prepared.types, all_streams=False)
                for changes in pipeline.whole(share, 1):
                    yield from (each.to_arrow() for each in changes)
                rejected.extend(placed(letter, arriving) for letter in pipeline.dead_letters())
                measures = pipeline.measures()[0]
                duplicates, ties = duplicates + measures.duplicates, ties + measures.ties
                del pipeline, changes, share
                gc.collect(1)
                pa.default_memory_pool().release_unused()

        raw = standing(emitted(), bitemporal=query.bitemporal)
        self._tell_duplicates(duplicates)
        prepared.warnings.extend(of_ties(ties))
        return self._result(Rejects([*prepared.rejects.rows, *rejected]), raw=raw)

    def by_messages(self, host: Host) -> Result:
        """By a host that takes messages one by one."""
        prepared = self._prepared
        messages = tuple(prepared.arriving.messages())
        answer = host.evaluate(Job(prepared.query, messages, self._level, prepared.types, self._batch))
        letters = self._letters(answer.dead_letters)
        prepared.warnings.extend(of_ties(answer.ties))

        def stream(track: Track[object]) -> ChangeStream:
            if isinstance(host, LiveHost):
                return self._stream(track, host)
            found = answer.changes(track)
            return self._spoken(
                ChangeLog(prepared.shape, found.changes, level=self._level), found.dead_letters, found.measures
            )

        return self._result(letters, rows=believed(answer.rows, bitemporal=prepared.query.bitemporal), stream=stream)

    def _result(self, rejects: Rejects, **parts: Any) -> Result:
        prepared = self._prepared
        return Result(
            prepared.shape,
            self._level,
            bitemporal=prepared.query.bitemporal,
            dead_letters=rejects.diagnostics(),
            summary=tuple(rejects.summary()),
            warnings=tuple(prepared.warnings),
            stream=parts.pop("stream", self._stream),
            messages=lambda rows: prepared.arriving.made_of(rows, self._batch),
            **parts,
        )

    def _stream(self, track: Track[Any], host: LiveHost = _LOCAL, until: Time = FOREVER) -> ChangeStream:
        """What the level emits, batch by batch."""
        prepared, arriving = self._prepared, self._prepared.arriving
        running = host.start(prepared.query.plan, self._level, prepared.types)
        steps: list[Step] = []
        changes: list[Change] = []
        for cedr_time, messages in arriving.steps(track(arriving.cuts(self._batch), "change stream")):
            if cedr_time > until:
                break
            (emitted,) = running.step(messages, cedr_time)
            if isinstance(emitted, Changes):
                steps += [Step(cedr_time, emitted.to_arrow(), emitted.guarantee)] if len(emitted) else []
            else:
                changes += in_order(emitted.to_changes())
        log = ChangeLog(prepared.shape, None if isinstance(host, Local) else changes, steps, self._level)
        return self._spoken(log, running.dead_letters(), running.measures()[0])

    def _spoken(self, log: ChangeLog, letters: Iterable[DeadLetter], measures: Measures | None) -> ChangeStream:
        rejects = self._letters(letters)
        told = tuple(on_stream(self._prepared.arriving, self._level))
        return ChangeStream(log, rejects.diagnostics(), measures, told, tuple(rejects.summary()))

    def _letters(self, letters: Iterable[DeadLetter]) -> Rejects:
        """Rows that were not used, those that could not be read included."""
        return Rejects([*self._prepared.rejects.rows, *(placed(letter, self._prepared.arriving) for letter in letters)])

    def _tell_duplicates(self, count: int) -> None:
        if count:
            many = f"{count:,} rows repeat" if count > 1 else "1 row repeats"
            primary = f"{many} an earlier one and {'are' if count > 1 else 'is'} ignored"
            self._prepared.warnings.append(Diagnostic("duplicates", primary, severity="note"))


def placed(letter: DeadLetter, arriving: Arriving) -> Rejected:
    """A message that was not used as the row of data that it was made of."""
    name, row = arriving.place(letter.position)
    kind = _REASONS.get(letter.code, letter.reason)
    return Rejected(letter.code, kind, letter.reason if letter.code == "broken-guarantee" else kind, name, row)


_REASONS = {
    "null-id": "the row has no ID",
    "broken-guarantee": "the event is later than the guarantee of its source",
    "second-live-row": "another row with the same ID says something else",
    "key-reused": "another row with the same key says something else",
    "valid-end-before-start": "the event ends before it starts",
    "occurrence-end-before-start": "the event ends before it starts",
    "retraction-without-insert": "a retraction has no row that it retracts",
    "revision-too-late": "another row has the same ID and another time: a revision, which the type does not allow",
}
