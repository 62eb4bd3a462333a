"""``cedr.write_to``: a query on a stream of Spark, into sinks; exactly once where the sink promises it.

Readings: R40, R48.  Spark gives each batch a number, and after a crash the last one again, with the same rows.  The
rows of a batch come to the driver, which stores them and the number in one transaction of the sink, or skips a batch
that is stored.  ``seq`` is made of the number of the batch, the bucket and the place of a row in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.sinks.contract import Sink
from cedr.sinks.errors import ahead, behind
from cedr.sinks.letters import Letter, letter_rows, letters_output
from cedr.spark.api.guarded import Run
from cedr.spark.output.change_rows import Received, Told, change_rows_of
from cedr.spark.output.rows import DEAD_LETTER

if TYPE_CHECKING:
    from cedr.spark.sources.events import DataFrame

_AT = "cedr_at"


def write_to(
    result: DataFrame,
    sinks: Sink | Sequence[Sink],
    *,
    checkpoint: str | PathLike[str],
    dead_letters: Sink | None = None,
    trigger: Mapping[str, Any] | None = None,
) -> Any:
    """Start a streaming query that writes what ``cedr.query`` gives into sinks; Spark's running query.

    ``trigger`` is that of Spark, such as ``{"availableNow": True}``.  ``dead_letters`` takes what could not be used;
    the query is then made with ``dead_letters=True``.  The sinks are opened here; they are of this process alone.

    Raises ``HostError`` for a DataFrame that is no stream of changes, ``SinkError`` where a sink cannot be opened.
    """
    told = _told(result)
    each = [*sinks] if isinstance(sinks, Sequence) else [sinks]
    for sink in each:
        sink.open(told.output)
    if dead_letters is not None:
        dead_letters.open(letters_output(f"{told.output.name}_dead_letters"))
    writing = _Writing(told, each, dead_letters)
    writer = result.writeStream.foreachBatch(writing.batch).option("checkpointLocation", fspath(checkpoint))
    return writer.trigger(**dict(trigger or {})).start()


def _told(result: DataFrame) -> Told:
    run: Run | None = result.__dict__.get("_cedr_run")
    told = None if run is None else run.told
    if told is None or not result.isStreaming:
        primary = "sinks take the change stream of a streaming query, with one level and all its columns"
        hint = "give what cedr.query(…) gives for a stream, without columns= and with one level"
        raise HostError(Diagnostic("not-streaming", primary, hint=hint))
    return told


class _Writing:
    """What is done with each batch."""

    def __init__(self, told: Told, sinks: Sequence[Sink], letters: Sink | None) -> None:
        self._received, self._sinks, self._letters = Received(told), sinks, letters
        self._begun = False

    def batch(self, frame: Any, number: int) -> None:
        """Store a batch in every sink."""
        self._check(number)
        rows = frame.withColumn(_AT, F.monotonically_increasing_id()).toArrow()
        if "code" in rows.column_names:
            rows = self._without_letters(rows, number)
        changes = change_rows_of(self._received, rows, number, _AT)
        for sink in self._sinks:
            sink.write(number, changes)

    def _without_letters(self, rows: Any, number: int) -> Any:
        kinds = rows.column("change").to_pylist()
        if DEAD_LETTER not in kinds:
            return rows
        if self._letters is not None:
            told = (row for row in rows.to_pylist() if row["change"] == DEAD_LETTER)
            found = [Letter(row["code"], row["reason"], "", None, row["message"]) for row in told]
            self._letters.write(number, letter_rows(number, found))
        return rows.filter([kind != DEAD_LETTER for kind in kinds])

    def _check(self, number: int) -> None:
        """Before the first batch of this run: what the sinks have stored is what this checkpoint has made."""
        if self._begun:
            return
        for sink in self._sinks:
            stored, place = sink.stored(), f"a sink ({type(sink).__name__})"
            if stored is not None and stored > number:
                raise ahead(place, stored, number)
            if stored is None and number > 0 and not getattr(sink, "traceless", False):
                raise behind(place, stored, number - 1)
        self._begun = True
