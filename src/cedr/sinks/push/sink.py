"""The sink that pushes: batches go into the outbox, and from there, by a thread of its own, to the receiver."""

from __future__ import annotations

import sqlite3
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from os import PathLike
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep, time
from typing import Final

import pyarrow as pa

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import SinkError
from cedr.sinks.contract import Output
from cedr.sinks.errors import differs, failed
from cedr.sinks.push.envelopes import (
    ENVELOPES,
    Message,
    each_change,
    each_id,
    guarantee_in,
    last_of_each_key,
    message,
)
from cedr.sinks.push.outbox import Outbox, Waiting
from cedr.sinks.push.receivers import Receiver, Refused

_IDLE: Final = 0.05
_LONGEST: Final = 60.0
"""The longest pause between two tries."""


class Push:
    """A sink whose messages are delivered at least once, those about one id in order."""

    def __init__(
        self,
        receiver: Receiver,
        outbox: str | PathLike[str],
        *,
        envelope: str = "final",
        tries: int = 8,
        pause: float = 0.5,
        workers: int = 4,
        drain: float = 30.0,
    ) -> None:
        """``outbox`` is the file that keeps what is not delivered.

        A message is tried ``tries`` times, with a pause that doubles each time, before it is parked.  ``close`` waits
        up to ``drain`` seconds for what was not tried yet.
        """
        if envelope not in ENVELOPES:
            primary = f'there is no envelope "{envelope}"'
            raise SinkError(Diagnostic("bad-option", primary, detail=f"envelopes: {', '.join(ENVELOPES)}"))
        self._receiver, self._path, self._envelope = receiver, Path(outbox), envelope
        self._tries, self._pause, self._workers, self._drain = tries, pause, workers, drain
        self._place = f'the outbox "{self._path}"'
        self._output: Output | None = None
        self._batch: int | None = None
        self._outbox: Outbox | None = None
        self._ends, self._wakes = Event(), Event()
        self._thread: Thread | None = None

    @property
    def promise(self) -> str:
        """What is delivered how often."""
        return (
            "at least once, and once where the receiver honours the key; about one id in order; "
            f"parked after {self._tries} tries while the stream goes on"
        )

    def open(self, output: Output) -> None:
        """Open the outbox, and begin to deliver what it holds."""
        self._output, wanted = output, f"{self._envelope}: {output.schema}"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._outbox = Outbox(self._path, durable=True)
            known = self._outbox.known("output")
            if known is not None and known != wanted:
                raise differs(self._place, "its messages have another form")
            self._outbox.note("output", wanted)
            number = self._outbox.known("batch")
        except (sqlite3.Error, OSError) as error:
            raise failed(self._place, error) from None
        self._batch = None if number is None else int(number)
        self._ends.clear()
        self._thread = Thread(target=self._deliver, name=f"cedr push {output.name}", daemon=True)
        self._thread.start()

    def stored(self) -> int | None:
        """The last batch whose messages are in the outbox, or were."""
        return self._batch

    def write(self, batch: int, changes: pa.Table) -> None:
        """Put the messages of a batch into the outbox."""
        if self._batch is not None and batch <= self._batch:
            return
        outbox = self._open_outbox()
        try:
            outbox.begin()
            outbox.add(self._messages(outbox, batch, changes))
            outbox.note("batch", str(batch))
            outbox.commit()
        except (sqlite3.Error, OSError) as error:
            with suppress(sqlite3.Error):
                outbox.rollback()
            raise failed(self._place, error) from None
        except BaseException:
            outbox.rollback()
            raise
        self._batch = batch
        self._wakes.set()

    def close(self) -> None:
        """Try what was not tried yet, once; what fails stays for the next run."""
        if self._outbox is None:
            return
        since, until = time(), monotonic() + self._drain
        with suppress(sqlite3.Error):
            while self._alive() and self._outbox.untried(since) and monotonic() < until:
                self._wakes.set()
                sleep(_IDLE / 5)
        self._ends.set()
        self._wakes.set()
        if self._thread is not None:
            self._thread.join()
        self._outbox.close()
        self._outbox = self._thread = None

    def counts(self) -> dict[str, int]:
        """How many messages wait, are parked, and how many rows wait to be final."""
        return self._open_outbox().counts()

    def parked(self) -> list[tuple[str, str, str]]:
        """Key, body and last error of each message that was parked."""
        return self._open_outbox().parked()

    def try_parked_again(self) -> int:
        """Deliver what was parked; how many messages that is."""
        count = self._open_outbox().try_parked_again()
        self._wakes.set()
        return count

    # -- what goes in -------------------------------------------------------------------------------------------------

    def _messages(self, outbox: Outbox, batch: int, changes: pa.Table) -> list[Message]:
        assert self._output is not None
        if self._envelope == "changes":
            return each_change(self._output, batch, changes)
        if self._envelope == "upsert":
            return each_id(self._output, batch, changes)
        return self._when_final(outbox, batch, changes)

    def _when_final(self, outbox: Outbox, batch: int, changes: pa.Table) -> list[Message]:
        output = self._output
        assert output is not None
        held, gone = last_of_each_key(changes, output)
        outbox.hold(held)
        withdrawn = outbox.let_go(gone)
        told = guarantee_in(changes)
        if told is not None:
            outbox.note("guarantee", str(told))
        guarantee = told if told is not None else int(outbox.known("guarantee") or 0)
        settled = outbox.settled(guarantee) if told is not None or outbox.known("guarantee") else []
        if self._envelope == "final":
            return [message(output, batch, row["K"], "final", row) for row in settled]
        confirmed = {row["K"] for row in settled}
        early = (row for row in held if row.key not in confirmed)
        return [
            *(message(output, batch, f"{row['K']}/withdrawn", "withdrawn", row) for row in withdrawn),
            *(message(output, batch, f"{row.key}/{row.row['seq']}", "provisional", row.row) for row in early),
            *(message(output, batch, f"{row['K']}/confirmed", "confirmed", row) for row in settled),
        ]

    def _open_outbox(self) -> Outbox:
        if self._outbox is None:
            raise failed(self._place, "it is not open")
        return self._outbox

    # -- what goes out ------------------------------------------------------------------------------------------------

    def _alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _deliver(self) -> None:
        """What the thread does until the sink is closed; one that takes long keeps no other one waiting."""
        flying: dict[Future[Refused | None], Waiting] = {}
        with ThreadPoolExecutor(self._workers, thread_name_prefix="cedr push") as pool:
            outbox = Outbox(self._path, durable=False)
            try:
                while flying or not self._ends.is_set():
                    try:
                        moved = self._landed(outbox, flying) + self._started(outbox, pool, flying)
                    except sqlite3.Error:  # the disk is full, perhaps: what was delivered is delivered again
                        self._ends.wait(1.0)
                        continue
                    if not moved:
                        self._wakes.wait(_IDLE)
                        self._wakes.clear()
            finally:
                outbox.close()

    def _started(self, outbox: Outbox, pool: ThreadPoolExecutor, flying: dict[Future[Refused | None], Waiting]) -> int:
        """Send what is due, as far as there is room; how many messages that were."""
        room = 0 if self._ends.is_set() else self._workers - len(flying)
        if not room:
            return 0
        under_way = {each.number for each in flying.values()}
        due = [each for each in outbox.next(self._workers, time()) if each.number not in under_way][:room]
        for each in due:
            sent = pool.submit(self._tried, each)
            flying[sent] = each
            sent.add_done_callback(lambda _: self._wakes.set())
        return len(due)

    def _landed(self, outbox: Outbox, flying: dict[Future[Refused | None], Waiting]) -> int:
        """Note what has come of messages; how many there were."""
        done = [sent for sent in flying if sent.done()]
        answers = {sent: sent.result() for sent in done}
        outbox.delivered(flying[sent].number for sent, refused in answers.items() if refused is None)
        for sent, refused in answers.items():
            if refused is not None:
                self._refused(outbox, flying[sent], refused)
        for sent in done:
            del flying[sent]
        return len(done)

    def _tried(self, each: Waiting) -> Refused | None:
        try:
            self._receiver.take(each.key, each.body)
        except Refused as refused:
            return refused
        return None

    def _refused(self, outbox: Outbox, each: Waiting, refused: Refused) -> None:
        if refused.for_good or each.tries + 1 >= self._tries:
            outbox.park(each.number, str(refused))
            return
        pause = min(self._pause * 2**each.tries, _LONGEST)
        outbox.again(each.number, time() + max(pause, refused.after or 0.0), str(refused))
