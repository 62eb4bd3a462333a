"""One bucket: a pipeline that takes the packed rows of a batch, steps, and emits changes.

Paper: Section 5, Figure 7.  Readings: R3, R33, R38, R40.  The same code serves streaming and bounded input.  A stream
calls ``run_step`` once for each bucket and batch; ``worker`` finds the pipeline before that and saves its state after.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from cedr.consistency.batch import EventBatch
from cedr.consistency.measures import Measures
from cedr.consistency.pipeline import Pipeline
from cedr.model.stream import Guarantee, Message
from cedr.model.time import FOREVER, Time, plus
from cedr.spark.layout.layout import Layout
from cedr.spark.layout.read_faults import Letter
from cedr.spark.map_task.unpack import Head, Packed, Received, messages_of, unpack
from cedr.spark.output.failures import describe_failures
from cedr.spark.output.measures import measure_level, measures_for_next_stage, with_earlier_stages
from cedr.spark.output.next_stage import StageRow, rows_for_next_stage
from cedr.spark.output.rows import EmittedColumns, LevelOutput, dead_letter_rows, header_read
from cedr.spark.output.step_output import StepOutput
from cedr.spark.sources.control import Switch, switches
from cedr.spark.state.pipeline_cache import MeasuredOutput, StepRequest, StepResult
from cedr.spark.state.segments import compress_segments


class Bucket:
    """The pipeline of one bucket, which reads packed rows."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.pipeline = Pipeline(layout.query.plan, layout.levels, layout.catalog, layout.providers)
        self.last_heard: dict[tuple[int, str | None], tuple[Time, Time]] = {}
        """For sources with ``idle``: the CEDR time of the last message of each provider, and its newest Sync."""

    # -- one batch ----------------------------------------------------------------------------------------------------

    def steps(self, packed: Iterable[Packed], last: Time = 0) -> Iterator[StepOutput]:
        """Step through a batch: once, or for each CEDR time of a recorded history.

        ``last`` is the CEDR time of the step before.  Read each output before you ask for the next one.
        """
        received = unpack(packed)
        if not self.layout.recorded:
            time = max(last + 1, *(time or 0 for time in received.heads))
            yield self._step(received.rows, received.joined_head(), time, self._stage_messages(received))
            return
        for time, head, rows in received.by_time():
            last = max(last + 1, time)
            yield self._step(rows, head, last)

    def _step(
        self, rows: pa.Table | None, head: Head, time: Time, from_stages: Sequence[Message | EventBatch] = ()
    ) -> StepOutput:
        """Switch levels, move h, receive messages and guarantees, emit."""
        for switch in switches(head.control):
            self._switch(switch)
        letters: list[Letter] = [*head.letters]
        messages = [*from_stages, *(() if rows is None else messages_of(rows, self.layout, letters))]
        self.pipeline.heartbeat(head.high)
        guarantees = [*self._guarantees(head), *self._guarantees_by_silence(head, time)]
        changes = self.pipeline.step([*messages, *guarantees], time)
        letters += self.pipeline.take_dead_letters()
        return StepOutput(time, changes, letters, head.high, guarantees, head.before)

    def _stage_messages(self, received: Received) -> list[Message | EventBatch]:
        """The changes that earlier stages emitted, as messages.  Reading: R32."""
        made = self.layout.stage_inputs
        return [
            message
            for stage, changes in received.changes.items()
            for message in self.pipeline.said_elsewhere(changes, made[stage])
        ]

    def _switch(self, switch: Switch) -> None:
        if switch.of < len(self.layout.levels):
            self.pipeline.switch(switch.level, of=switch.of, at_sync_point=switch.at_sync_point)

    # -- guarantees ---------------------------------------------------------------------------------------------------

    def _guarantees(self, head: Head) -> Iterator[Guarantee]:
        """Guarantees of providers, and those that follow from a declared ``disorder``."""
        promises = dict(head.promises)
        for (source, provider), high in head.highs.items():
            disorder = self.layout.sources[source].disorder
            if disorder is not None:
                time = plus(high, -disorder - 1)
                promises[provider] = max(promises.get(provider, time), time)
        for provider, time in promises.items():
            yield Guarantee(time, provider)

    def _guarantees_by_silence(self, head: Head, time: Time) -> list[Guarantee]:
        """Guarantees of providers that were silent for their ``idle``: each has sent all up to its newest event."""
        for (source, provider), high in head.highs.items():
            if self.layout.sources[source].idle is not None:
                newest = self.last_heard.get((source, provider), (time, high))[1]
                self.last_heard[source, provider] = (time, max(newest, high))
        return [
            Guarantee(high, provider)
            for (source, provider), (last, high) in self.last_heard.items()
            if time - last >= (self.layout.sources[source].idle or 0) and (source, provider) not in head.highs
        ]

    # -- bounded input ------------------------------------------------------------------------------------------------

    def table(self, packed: Iterable[Packed]) -> Iterator[StepOutput]:
        """Step once through all of a bounded input: what is emitted is the result.

        The rows come in several outputs, one for each range of time; the last output has the dead letters.
        """
        received = unpack(packed)
        messages = self._stage_messages(received)
        letters: list[Letter] = [letter for head in received.heads.values() for letter in head.letters]
        if not self.layout.recorded:
            messages += () if received.rows is None else messages_of(received.rows, self.layout, letters)
        else:  # a guarantee is about the messages after it
            for _, head, rows in received.by_time():
                messages += () if rows is None else messages_of(rows, self.layout, letters)
                messages += self._guarantees(head)
        for changes in self.pipeline.whole([*messages, Guarantee(FOREVER - 1)], 1):
            yield StepOutput(1, changes, [])
        yield self._with_unmatched(StepOutput(1, [], [*letters, *self.pipeline.take_dead_letters()]))

    def finish(self, time: Time) -> StepOutput:
        """Step a last time: no message will follow, so everything is final."""
        return self._with_unmatched(self._step(None, Head(promises={None: FOREVER - 1}), time))

    def _with_unmatched(self, output: StepOutput) -> StepOutput:
        """Add the retractions that still wait for their row to the dead letters.  Reading: R41."""
        output.letters.extend(self.pipeline.dead_letters())
        return output


# -- a stream: one step as it was requested ---------------------------------------------------------------------------


def run_step(bucket: Bucket, request: StepRequest, layout: Layout) -> StepResult:
    """Make the requested step; give what it emitted, and the segments of state that changed."""
    with describe_failures(layout, request.number):
        bucket.layout = layout
        _switch_levels(bucket, request.asked)
        bucket.last_heard = {(source, provider): (time, high) for source, provider, time, high in request.heard}
        (output,) = bucket.steps(request.received, request.time)
        measures = bucket.pipeline.measures()
        levels: list[MeasuredOutput] = []
        rows: list[StageRow] = []
        if layout.destination is None:
            levels = [_level_output(bucket, output, level, each, request) for level, each in enumerate(measures)]
        else:
            rows = _stage_rows(bucket, output, measures[0], request)
        heard = [[*who, *when] for who, when in bucket.last_heard.items()]
        segments = compress_segments(bucket.pipeline.state())
        return StepResult(uuid.uuid4().hex, output.time, levels, rows, segments, heard)


def _switch_levels(bucket: Bucket, asked: Sequence[str]) -> None:
    """Switch to the levels that the query asks for now; ``asked`` are those of the step before.  Reading: R38."""
    for number, (before, level) in enumerate(zip(asked, bucket.layout.levels, strict=True)):
        if before != level.name:
            bucket.pipeline.switch(level, of=number)


def _stage_rows(bucket: Bucket, output: StepOutput, measures: Measures, request: StepRequest) -> list[StageRow]:
    """The changes of a stage that is not the last, as rows for the buckets that read them."""
    guarantee = bucket.pipeline.guarantee[0]
    own = measure_level(0, measures, output.changes[0], guarantee, len(output.letters))
    passed = measures_for_next_stage(own, output.before)
    return [*rows_for_next_stage(bucket.layout, output, request.number, guarantee, passed)]


def _level_output(
    bucket: Bucket, output: StepOutput, level: int, measures: Measures, request: StepRequest
) -> MeasuredOutput:
    """What one level emitted, and its measures; the first level also gives the dead letters."""
    layout, changes = bucket.layout, output.changes[level]
    guarantee, letters = bucket.pipeline.guarantee[level], output.letters if level == 0 else []
    own = with_earlier_stages(measure_level(level, measures, changes, guarantee, len(letters)), output.before)
    letter_rows = dead_letter_rows(layout, letters, output.time) if letters and layout.letters else None
    if letter_rows is None and not len(changes):
        return MeasuredOutput(own, None)
    rows = changes.to_arrow(header_read(layout))
    columns = EmittedColumns(changes.level_name, changes.cedr_time, changes.guarantee, rows)
    return MeasuredOutput(own, LevelOutput(columns, guarantee, request.number, letter_rows))
