"""What worker processes hold between two batches: the pipelines of buckets whose last step they made themselves.

A batch may be replayed, a task retried or run twice, and Spark gives a bucket to any process of its pool.  So a
pipeline is used again only if the checkpoint names the very step by which it came to be, and a process that does not
hold it asks the one that does, on the same machine, to make the step.  Who cannot be asked is not waited for: then the
pipeline is restored from the checkpoint.  What is held is never more than a copy of what was written there.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection, Listener
from typing import Any, Final

from cedr.diagnostics.exceptions import CedrError
from cedr.runtime.values.memory import give_back, resident, unsettle
from cedr.spark.layout.layout import Layout
from cedr.spark.output.rows import Columns
from cedr.spark.step.bucket import Bucket
from cedr.spark.step.shared_memory import LEAST, Ticket, hand, lasting, take
from cedr.spark.step.worker import Done, Spoke, Work, work

_IDLE: Final = 600.0
"""Seconds after which a pipeline that nobody asked for is let go."""
_CROWDED: Final = 20.0
"""The same where this process is large: of a query that has ended, nobody will ask."""
_LARGE: Final = 1 << 30
"""So many bytes are a large process."""


@dataclass
class Held:
    """The pipeline of a bucket, and the step that it made last."""

    bucket: Bucket
    nonce: str = ""
    used: float = field(default_factory=time.monotonic)


class Holder:
    """The pipelines that this process holds; answers other processes that ask for a step."""

    def __init__(self) -> None:
        self._held: dict[str, Held] = {}
        self._aside: dict[str, dict[Ticket, Columns]] = {}
        """What the last steps of each pipeline said, until somebody claims it."""
        self._let_go = False
        """Whether a pipeline was dropped since the last time that one was kept."""
        self._lock = threading.Lock()
        self._layouts: dict[str, Layout] = {}
        self._process = 0
        self._address: tuple[str, str] | None = None

    def take(self, lineage: str, nonce: str) -> Bucket | None:
        """The pipeline that made a step last; it is held no longer, as its next step may fail."""
        with self._lock:
            held = self._held.pop(lineage, None)
            if held is None or held.nonce == nonce:
                return None if held is None else held.bucket
            self._let_go = True
        return None

    def step(self, bucket: Bucket, todo: Work, layout: Layout) -> Done:
        """Make a step with a pipeline, and hold it; one whose step fails is not held."""
        try:
            done = work(bucket, todo, layout)
        except BaseException:
            self._let_go = True
            raise
        address = self.keep(todo.lineage, bucket, done.nonce)
        return done._replace(holder=address, said=self._set_aside(todo, done, address))

    def _set_aside(self, todo: Work, done: Done, address: tuple[str, str] | None) -> list[Spoke]:
        """Keep what is large for whoever makes rows of it: what is said there is a ticket.

        What the step before has said is kept too: in one batch there may be two, one of them about silence.
        """
        aside: dict[Ticket, Columns] = {}
        said = []
        for of, (measures, columns) in enumerate(done.said):
            found = columns
            if lasting() and address and isinstance(columns, Columns) and columns.told.rows.nbytes >= LEAST:
                found = Ticket(*address, todo.lineage, done.nonce, of)
                aside[found] = columns
            said.append(Spoke(measures, found))
        with self._lock:
            before = self._aside.get(todo.lineage, {})
            kept = {ticket: columns for ticket, columns in before.items() if ticket.nonce == todo.nonce}
            self._aside[todo.lineage] = kept | aside
        return said

    def keep(self, lineage: str, bucket: Bucket, nonce: str) -> tuple[str, str] | None:
        """Hold a pipeline, and let go of those that went elsewhere; where it can be asked for."""
        now = time.monotonic()
        idle = _CROWDED if resident() > _LARGE else _IDLE
        with self._lock:
            for other in [name for name, held in self._held.items() if now - held.used > idle]:
                del self._held[other]
                self._aside.pop(other, None)
                self._let_go = True
            let_go, self._let_go = self._let_go, False
            self._held[lineage] = Held(bucket, nonce, now)
            address = self._listening()
        if let_go:
            unsettle()
            give_back(_LARGE)
        return address

    # -- other processes ----------------------------------------------------------------------------------------------

    def _listening(self) -> tuple[str, str] | None:
        """The address of this process and the key to it; a thread answers there."""
        if self._process != os.getpid():
            self._process = os.getpid()
            name = f"cedr-{os.getpid()}-{uuid.uuid4().hex[:12]}"
            linux = sys.platform.startswith("linux")
            address = f"\0{name}" if linux else os.path.join(tempfile.gettempdir(), name)
            secret = uuid.uuid4().hex
            try:
                listener = Listener(address, "AF_UNIX", backlog=16, authkey=secret.encode())
            except OSError:
                self._address = None
                return None
            threading.Thread(target=self._listen, args=(listener,), name="cedr holder", daemon=True).start()
            self._address = (address, secret)
        return self._address

    def _listen(self, listener: Listener) -> None:
        while True:
            try:
                connection = listener.accept()
            except Exception:
                continue
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: Any) -> None:
        try:
            with connection:
                hand(connection, self._made(connection))
        except (EOFError, OSError):
            return

    def _made(self, connection: Any) -> Done | Columns | CedrError | None:
        """What was set aside, or the step that was asked for; None if that or the pipeline is not held."""
        asked: Ticket | tuple[Work, str] = take(connection)
        if isinstance(asked, Ticket):
            with self._lock:
                return self._aside.get(asked.lineage, {}).pop(asked, None)
        todo, digest = asked
        bucket = self.take(todo.lineage, todo.nonce)
        if bucket is None:
            return None
        if digest not in self._layouts:
            hand(connection, "layout")
            self._layouts = {digest: take(connection)}
        try:
            return self.step(bucket, todo, self._layouts[digest])
        except CedrError as error:
            return error


HOLDER: Final = Holder()


def asked(holder: tuple[str, str], todo: Work, layout: Layout) -> Done | None:
    """A step by the process that holds the pipeline; None if there is none.  Raises what the step raised."""
    address, secret = holder
    try:
        with Client(address, "AF_UNIX", authkey=secret.encode()) as connection:
            answer: Done | CedrError | None = _asked(connection, todo, layout)
    except (OSError, EOFError, pickle.PickleError, ValueError):
        return None
    if isinstance(answer, CedrError):
        raise answer
    return answer


def _asked(connection: Connection, todo: Work, layout: Layout) -> Any:
    digest = hashlib.sha256(pickle.dumps(layout)).hexdigest()
    hand(connection, (todo, digest))
    answer = take(connection)
    if isinstance(answer, str):
        hand(connection, layout)
        answer = take(connection)
    return answer
