"""Sends values from one process of a machine to another: large columns by shared memory, the rest by the connection.

A pickle copies each column several times, and a socket copies it again.  Here columns are written once, to memory
without a name that is gone when both processes have closed it, and the receiver reads them in place.
"""

from __future__ import annotations

import mmap
import os
import pickle
from collections.abc import Sequence
from multiprocessing.connection import Client, Connection
from multiprocessing.reduction import recv_handle, send_handle
from typing import Any, Final, NamedTuple

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError

_ALIGNED: Final = 64
"""Each column begins at a multiple of this many bytes."""
LEAST: Final = 1 << 18
"""Columns of fewer bytes go by the connection."""
HAS_UNNAMED_MEMORY: Final = hasattr(os, "memfd_create")
"""Whether this system has memory without a name."""


def outlives_its_task() -> bool:
    """Whether this process can still serve others when its task is done."""
    return HAS_UNNAMED_MEMORY and os.environ.get("SPARK_REUSE_WORKER") == "1"


class Ticket(NamedTuple):
    """Where the output of one level at one step can be claimed, once."""

    address: str
    secret: str
    lineage: str
    nonce: str
    level: int


def claim(ticket: Ticket) -> Any:
    """Get the output of a ticket.  Raises ``HostError`` where it is lost: the task fails, and Spark retries it."""
    try:
        with Client(ticket.address, "AF_UNIX", authkey=ticket.secret.encode()) as connection:
            send(connection, ticket)
            output = receive(connection)
    except (OSError, EOFError) as error:
        raise _lost(ticket) from error
    if output is None:
        raise _lost(ticket)
    return output


def _lost(ticket: Ticket) -> HostError:
    primary = f"the output of a step is gone, and so is the process that kept it (step {ticket.nonce})"
    return HostError(Diagnostic("said-is-gone", primary, hint="Spark makes the step again"))


def send(connection: Connection, value: Any) -> None:
    """Send a value; ``receive`` gets it at the other end."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(value, 5, buffer_callback=buffers.append)
    columns = [buffer.raw() for buffer in buffers]
    sizes = [column.nbytes for column in columns]
    if not HAS_UNNAMED_MEMORY or sum(sizes) < LEAST:
        connection.send((pickled, [column.tobytes() for column in columns], []))
        return
    file = os.memfd_create("cedr")
    try:
        _write(file, columns)
        connection.send((pickled, None, sizes))
        send_handle(connection, file, 0)
    finally:
        os.close(file)


def receive(connection: Connection) -> Any:
    """Receive a value that ``send`` sent."""
    pickled, columns, sizes = connection.recv()
    if columns is not None:
        return pickle.loads(pickled, buffers=columns)
    file = recv_handle(connection)
    try:
        shared = memoryview(mmap.mmap(file, sum(map(_room, sizes)), prot=mmap.PROT_READ))
    finally:
        os.close(file)
    columns, place = [], 0
    for size in sizes:
        columns.append(shared[place : place + size])
        place += _room(size)
    return pickle.loads(pickled, buffers=columns)


def _write(file: int, columns: Sequence[memoryview]) -> None:
    place = 0
    for column in columns:
        written = 0
        while written < column.nbytes:
            written += os.pwrite(file, column[written:], place + written)
        place += _room(column.nbytes)
    os.ftruncate(file, place)


def _room(size: int) -> int:
    """The bytes that a column takes, up to the next multiple of ``_ALIGNED``."""
    return -(-size // _ALIGNED) * _ALIGNED
