"""What one process of a machine hands to another: large columns by shared memory, all the rest through a connection.

A pickle in which columns are copied is made of several copies, and through a socket there are more.  Here columns are
written once, to memory that has no name and is gone when both processes have closed it, and read where they lie.
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
"""Columns begin at multiples of this."""
LEAST: Final = 1 << 18
"""Fewer bytes than this are not worth a file."""
SHARES: Final = hasattr(os, "memfd_create")
"""Whether this system has memory without a name."""


def lasting() -> bool:
    """Whether what this process sets aside can be claimed by others, also when its task is done."""
    return SHARES and os.environ.get("SPARK_REUSE_WORKER") == "1"


class Ticket(NamedTuple):
    """Where what was said at a step can be claimed, once."""

    address: str
    secret: str
    lineage: str
    nonce: str
    of: int
    """Of which level."""


def claimed(ticket: Ticket) -> Any:
    """What was set aside for a ticket.  Raises ``HostError`` where it is gone: then the task fails, and is retried."""
    try:
        with Client(ticket.address, "AF_UNIX", authkey=ticket.secret.encode()) as connection:
            hand(connection, ticket)
            found = take(connection)
    except (OSError, EOFError) as error:
        raise _lost(ticket) from error
    if found is None:
        raise _lost(ticket)
    return found


def _lost(ticket: Ticket) -> HostError:
    primary = f"what a step has said is gone, and so is the process that held it (step {ticket.nonce})"
    return HostError(Diagnostic("said-is-gone", primary, hint="Spark makes the step again"))


def hand(connection: Connection, thing: Any) -> None:
    """To be taken by ``take`` at the other end."""
    buffers: list[pickle.PickleBuffer] = []
    told = pickle.dumps(thing, 5, buffer_callback=buffers.append)
    columns = [buffer.raw() for buffer in buffers]
    sizes = [column.nbytes for column in columns]
    if not SHARES or sum(sizes) < LEAST:
        connection.send((told, [column.tobytes() for column in columns], []))
        return
    file = os.memfd_create("cedr")
    try:
        _write(file, columns)
        connection.send((told, None, sizes))
        send_handle(connection, file, 0)
    finally:
        os.close(file)


def take(connection: Connection) -> Any:
    """What was handed over."""
    told, columns, sizes = connection.recv()
    if columns is not None:
        return pickle.loads(told, buffers=columns)
    file = recv_handle(connection)
    try:
        shared = memoryview(mmap.mmap(file, sum(map(_room, sizes)), prot=mmap.PROT_READ))
    finally:
        os.close(file)
    columns, at = [], 0
    for size in sizes:
        columns.append(shared[at : at + size])
        at += _room(size)
    return pickle.loads(told, buffers=columns)


def _write(file: int, columns: Sequence[memoryview]) -> None:
    at = 0
    for column in columns:
        done = 0
        while done < column.nbytes:
            done += os.pwrite(file, column[done:], at + done)
        at += _room(column.nbytes)
    os.ftruncate(file, at)


def _room(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
