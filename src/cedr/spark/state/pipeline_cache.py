"""Keeps pipelines in worker processes between two batches, so that they need not be restored.

Spark may replay a batch, retry a task or run it twice, and gives a bucket to any process of its pool.  So a process
uses a pipeline again only if the checkpoint names the very step that the pipeline made last.  A process without the
pipeline asks the process that has it, on the same machine, to make the step.  If that process does not answer, the
pipeline is restored from the checkpoint.  A cached pipeline is never more than a copy of what the checkpoint has.
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection, Listener
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeGuard, TypeVar

from cedr.diagnostics.exceptions import CedrError
from cedr.model.time import Time
from cedr.runtime.values.memory import give_back, resident, unsettle
from cedr.spark.layout.layout import Layout
from cedr.spark.state.shared_memory import LEAST, Ticket, outlives_its_task, receive, send

_IDLE: Final = 600.0
"""Seconds after which the cache drops a pipeline that nobody used."""
_IDLE_IN_LARGE_PROCESS: Final = 20.0
"""The same for a large process: nobody asks for the pipelines of a query that has ended."""
_LARGE: Final = 1 << 30
"""A process with more bytes than this is large."""

Address = tuple[str, str]
"""The socket of a process, and the secret that opens it."""
B = TypeVar("B")
"""A bucket with its pipeline."""


class StepRequest(NamedTuple):
    """A step that a process is asked to make."""

    lineage: str
    """Names the bucket of one checkpoint."""
    nonce: str
    """Names the step that the pipeline must have made last."""
    asked: list[str]
    """The levels of that step."""
    time: Time
    """The CEDR time of that step."""
    received: Sequence[Any]
    """What map tasks sent to the bucket."""
    number: int
    """The number of the bucket."""
    heard: list[list[Any]]
    """When each provider was last heard of, for sources with ``idle``."""


class Output(Protocol):
    """What one level emitted."""

    @property
    def nbytes(self) -> int:
        """The bytes of its columns."""


class MeasuredOutput(NamedTuple):
    """The measures of one level at one step, and what it emitted."""

    measures: dict[str, Any]
    output: Output | Ticket | None
    """A ticket where the output stays with the process that made it; None where nothing was emitted."""


class StepResult(NamedTuple):
    """What a step gives."""

    nonce: str
    """Names the step."""
    time: Time
    levels: list[MeasuredOutput]
    """One for each level; none in a stage that is not the last."""
    stage_rows: Sequence[Any]
    """Rows for the buckets of later stages."""
    segments: dict[str, bytes | None]
    """The segments of state that changed; None marks one that was dropped."""
    heard: list[list[Any]]
    holder: Address | None = None
    """The process that keeps the pipeline now."""


@dataclass
class _Entry(Generic[B]):
    """A bucket, the step that it made last, and when that was."""

    bucket: B
    nonce: str = ""
    used: float = field(default_factory=time.monotonic)


class PipelineCache(Generic[B]):
    """The pipelines of this process; makes steps for other processes too."""

    def __init__(self, run_step: Callable[[B, StepRequest, Layout], StepResult]) -> None:
        self._run_step = run_step
        self._entries: dict[str, _Entry[B]] = {}
        self._unclaimed: dict[str, dict[Ticket, Output]] = {}
        """What the last steps of each bucket emitted, until somebody claims it."""
        self._dropped = False
        """Whether a pipeline was dropped since the last call of ``keep``."""
        self._lock = threading.Lock()
        self._layouts: dict[str, Layout] = {}
        self._process = 0
        self._address: Address | None = None

    def take(self, lineage: str, nonce: str) -> B | None:
        """Remove and return the bucket that made this step last; a bucket whose next step fails is not used again."""
        with self._lock:
            entry = self._entries.pop(lineage, None)
            if entry is None or entry.nonce == nonce:
                return None if entry is None else entry.bucket
            self._dropped = True
        return None

    def step(self, bucket: B, request: StepRequest, layout: Layout) -> StepResult:
        """Make a step and keep the bucket; a bucket whose step fails is dropped."""
        try:
            result = self._run_step(bucket, request, layout)
        except BaseException:
            self._dropped = True
            raise
        address = self.keep(request.lineage, bucket, result.nonce)
        return result._replace(holder=address, levels=self._with_tickets(request, result, address))

    def _with_tickets(self, request: StepRequest, result: StepResult, address: Address | None) -> list[MeasuredOutput]:
        """Keep large outputs here until they are claimed, and give tickets for them.

        The outputs of the step before are kept too: one batch may have two steps, the second about silence.
        """
        unclaimed: dict[Ticket, Output] = {}
        levels = []
        for level, (measures, output) in enumerate(result.levels):
            if address is None or not outlives_its_task() or not _is_large(output):
                levels.append(MeasuredOutput(measures, output))
                continue
            ticket = Ticket(*address, request.lineage, result.nonce, level)
            unclaimed[ticket] = output
            levels.append(MeasuredOutput(measures, ticket))
        with self._lock:
            before = self._unclaimed.get(request.lineage, {})
            kept = {ticket: output for ticket, output in before.items() if ticket.nonce == request.nonce}
            self._unclaimed[request.lineage] = kept | unclaimed
        return levels

    def keep(self, lineage: str, bucket: B, nonce: str) -> Address | None:
        """Keep a bucket, drop those that nobody used for long; give the address at which it can be asked for."""
        now = time.monotonic()
        idle = _IDLE_IN_LARGE_PROCESS if resident() > _LARGE else _IDLE
        with self._lock:
            for other in [name for name, entry in self._entries.items() if now - entry.used > idle]:
                del self._entries[other]
                self._unclaimed.pop(other, None)
                self._dropped = True
            dropped, self._dropped = self._dropped, False
            self._entries[lineage] = _Entry(bucket, nonce, now)
            address = self._listening()
        if dropped:
            unsettle()
            give_back(_LARGE)
        return address

    # -- requests of other processes ----------------------------------------------------------------------------------

    def _listening(self) -> Address | None:
        """The address of this process; a thread answers there.  None where no socket can be opened."""
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
            threading.Thread(target=self._listen, args=(listener,), name="cedr pipelines", daemon=True).start()
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
                send(connection, self._reply(connection))
        except (EOFError, OSError):
            return

    def _reply(self, connection: Any) -> StepResult | Output | CedrError | None:
        """The output of a ticket, or the result of a requested step; None if this process does not have it."""
        request: Ticket | tuple[StepRequest, str] = receive(connection)
        if isinstance(request, Ticket):
            with self._lock:
                return self._unclaimed.get(request.lineage, {}).pop(request, None)
        step, digest = request
        bucket = self.take(step.lineage, step.nonce)
        if bucket is None:
            return None
        if digest not in self._layouts:
            send(connection, "layout")
            self._layouts = {digest: receive(connection)}
        try:
            return self.step(bucket, step, self._layouts[digest])
        except CedrError as error:
            return error


def _is_large(output: Output | Ticket | None) -> TypeGuard[Output]:
    """Whether an output is worth a ticket."""
    return output is not None and not isinstance(output, Ticket) and output.nbytes >= LEAST


def request_step(address: Address, request: StepRequest, layout: Layout) -> StepResult | None:
    """Ask the process that has the pipeline for a step; None if it does not answer.  Raises what the step raised."""
    socket, secret = address
    try:
        with Client(socket, "AF_UNIX", authkey=secret.encode()) as connection:
            answer: StepResult | CedrError | None = _answered(connection, request, layout)
    except (OSError, EOFError, pickle.PickleError, ValueError):
        return None
    if isinstance(answer, CedrError):
        raise answer
    return answer


def _answered(connection: Connection, request: StepRequest, layout: Layout) -> Any:
    """Send a request with the digest of the layout; the layout itself follows only if the other process asks for it."""
    digest = hashlib.sha256(pickle.dumps(layout)).hexdigest()
    send(connection, (request, digest))
    answer = receive(connection)
    if isinstance(answer, str):
        send(connection, layout)
        answer = receive(connection)
    return answer
