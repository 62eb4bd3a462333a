"""``cedr.store``: what a query says about data, step by step, into sinks; exactly once where the sink promises it.

Readings: R40, R48.  The same data in the same batches give the same change rows under the same numbers: to call it
again after a crash goes on where the sinks are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, NamedTuple

from cedr.consistency.pipeline import Pipeline
from cedr.data.change_rows import change_rows
from cedr.data.rejected import SHARE, Rejected
from cedr.data.results import Shape
from cedr.hosts.declared_data import given_data
from cedr.hosts.host import sensible_batch
from cedr.hosts.preparing import prepare
from cedr.hosts.queries import AnyQuery, choose, folder_of, parse_level, parsed
from cedr.hosts.result import timestamps_in
from cedr.hosts.run import ready
from cedr.hosts.tabular import placed
from cedr.model.dead_letter import DeadLetter
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert
from cedr.model.time import FOREVER, Time
from cedr.plan.analyses.reads import types_read
from cedr.plan.compile import CompiledQuery
from cedr.sinks.contract import Sink
from cedr.sinks.letters import Letter, letter_rows, letters_output
from cedr.sinks.output import output_of


class _Source(NamedTuple):
    """What a query is asked of, in steps, and what of it cannot be used."""

    query: CompiledQuery
    types: EventTypes
    shape: Shape
    steps: Iterable[tuple[Time, Sequence[Any]]]
    unread: list[Letter]
    placed: Any
    """The letter of a message that the pipeline did not use."""


def store(  # noqa: PLR0913 - one for each choice
    query: AnyQuery,
    data: Any,
    sinks: Sink | Sequence[Sink],
    *,
    consistency: ConsistencyLevel | str | None = None,
    event: str | None = None,
    catalog: EventTypes | str | PathLike[str] | None = None,
    batch: int | None = None,
    dead_letters: Sink | None = None,
    complete: bool = True,
    **words: Any,
) -> int:
    """Run a query on data or messages, and write what it says into sinks; how many change rows that were.

    ``query``, ``data`` and ``words`` are as for ``cedr.evaluate``.  ``batch`` rows or messages are a step.  With
    ``complete`` the last step says that nothing more comes, so that all is final.  ``dead_letters`` takes what could
    not be used.  The sinks are opened and closed here.
    """
    source = _source(query, data, words, catalog, event, batch)
    level = parse_level(consistency) if isinstance(consistency, str) else consistency
    pipeline = Pipeline(source.query.plan, level or source.query.consistency or MIDDLE, source.types)
    each = [*sinks] if isinstance(sinks, Sequence) else [sinks]
    output = output_of(source.query.plan, source.shape)
    count = number = 0
    try:
        for sink in each:
            sink.open(output)
        for number, (cedr_time, messages) in enumerate(_ended(source.steps, complete=complete), 1):
            (emitted,) = pipeline.step(messages, cedr_time)
            rows = change_rows(number, cedr_time, emitted.to_arrow(), source.shape, guarantee=emitted.guarantee)
            count += rows.num_rows
            for sink in each:
                sink.write(number, rows)
    finally:
        for sink in each:
            sink.close()
    if dead_letters is not None:
        letters = [*source.unread, *map(source.placed, pipeline.dead_letters())]
        _bury(dead_letters, f"{output.name}_dead_letters", max(1, number), letters)
    return count


def _ended(steps: Iterable[tuple[Time, Sequence[Any]]], *, complete: bool) -> Iterator[tuple[Time, Sequence[Any]]]:
    last = 0
    for last, messages in steps:
        yield last, messages
    if complete:
        yield last + 1, [Guarantee(FOREVER - 1)]


def _bury(sink: Sink, name: str, batch: int, letters: list[Letter]) -> None:
    try:
        sink.open(letters_output(name))
        sink.write(batch, letter_rows(batch, letters))
    finally:
        sink.close()


def _source(
    query: AnyQuery,
    data: Any,
    words: dict[str, Any],
    catalog: EventTypes | str | PathLike[str] | None,
    event: str | None,
    batch: int | None,
) -> _Source:
    asked = parsed(query)
    bad_rows = words.pop("bad_rows", SHARE)
    given = given_data(asked, data, words, folder_of(query))
    if given is not None:
        prepared = prepare(asked, given, catalog, event, bad_rows)
        arriving = prepared.arriving
        steps = arriving.steps(arriving.cuts(batch or sensible_batch(arriving.count)))
        unread = [_letter(rejected) for rejected in prepared.rejects]
        return _Source(
            prepared.query, prepared.types, prepared.shape, steps, unread, lambda of: _letter(placed(of, arriving))
        )
    program, arrived = ready(query, data, catalog, words, event)
    chosen = choose(program, event)
    sent = [message for _, message in arrived.messages]
    clock = timestamps_in(message.event for message in sent if isinstance(message, Insert))
    shape = Shape(chosen.name, chosen.output, frozenset(types_read(chosen.plan)), clock)
    size = batch or sensible_batch(len(sent))
    cut = ((low // size + 1, sent[low : low + size]) for low in range(0, len(sent), size))
    unread = [
        Letter(each.code, each.primary, arrived.name, None if each.span is None else each.span.line, _text(each))
        for each in arrived.dead_letters
    ]

    def refused(letter: DeadLetter) -> Letter:
        position = arrived.messages[letter.position - 1][0]
        return Letter(letter.code, letter.reason, position.file, position.line, position.text)

    return _Source(chosen, arrived.types, shape, cut, unread, refused)


def _letter(rejected: Rejected) -> Letter:
    return Letter(rejected.code, rejected.reason, rejected.name, rejected.row, rejected.text)


def _text(diagnostic: Any) -> str:
    return "" if diagnostic.span is None else str(diagnostic.span.source.text)
