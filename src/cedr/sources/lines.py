"""Sources of lines: standard input and a socket, with a JSON object on each line.

What was read of them cannot be read again, so the lines of a chunk are kept by the checkpoint before they are used.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from collections.abc import Collection
from typing import Final

from cedr.data.files import DataFile
from cedr.data.json_files import JsonFiles
from cedr.data.origins import Origin
from cedr.sources.contract import Chunk, Offset, refused

_BLOCK: Final = 1 << 20
_PATIENCE: Final = 5.0
"""Seconds for a connection."""


class Lines:
    """Lines of a file descriptor, as far as they are there."""

    single = True
    pushed = True
    provider_column: str | None = None

    def __init__(self, name: str, shown: str, descriptor: int) -> None:
        self.name = name
        self._shown, self._descriptor = shown, descriptor
        self._held = b""
        self._ended = False
        self._lines = 0

    @property
    def finished(self) -> bool:
        """Once the other end was closed and all lines were taken."""
        return self._ended and not self._held

    def providers(self) -> None:
        """The source itself."""

    def resume(self, end: Offset, done: Collection[str]) -> None:  # noqa: ARG002 - the contract
        """Number the lines on; which ones come is up to the other end."""
        self._lines = end or 0

    def next(self, most: int) -> Chunk | None:
        """The lines that have come so far."""
        self._fill(most)
        cut = len(self._held) if self._ended else self._held.rfind(b"\n") + 1
        taken = self._held[:cut]
        pieces = taken.split(b"\n", most)
        if len(pieces) > most:
            taken = taken[: len(taken) - len(pieces[-1])]
        if not taken.strip():
            self._held = self._held[len(taken) :]
            return None
        self._held = self._held[len(taken) :]
        first, self._lines = self._lines, self._lines + taken.count(b"\n") + (not taken.endswith(b"\n"))
        return Chunk([first, self._lines], self._lines, kept=taken)

    def read(self, chunk: Chunk) -> Origin:
        """The lines that were kept."""
        assert chunk.kept is not None
        shown = f"{self._shown} from line {chunk.what[0] + 1:,}" if chunk.what[0] else self._shown
        return JsonFiles([DataFile(shown, "json", content=chunk.kept)])

    def close(self) -> None:
        """Standard input stays open."""

    def _fill(self, most: int) -> None:
        """Read what is there, without waiting for more."""
        while not self._ended and self._held.count(b"\n") < most:
            ready, _, _ = select.select([self._descriptor], [], [], 0)
            if not ready:
                return
            try:
                more = os.read(self._descriptor, _BLOCK)
            except OSError as error:
                raise refused(self.name, "cannot-read", f"{self._shown}: {error.strerror}") from None
            self._ended = not more
            self._held += more


class StandardInput(Lines):
    """The lines of standard input."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "standard input", sys.stdin.fileno())


class Socket(Lines):
    """The lines that a server sends: this is the client."""

    def __init__(self, name: str, host: str, port: int) -> None:
        try:
            self._socket = _connected(host, port)
        except OSError as error:
            hint = "is the server running, and is this its port?"
            primary = f"cannot connect to {host}:{port}: {error.strerror or error}"
            raise refused(name, "cannot-connect", primary, hint=hint) from None
        super().__init__(name, f"{host}:{port}", self._socket.fileno())

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


def _connected(host: str, port: int) -> socket.socket:
    """A connection; a server that is just starting is waited for."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return socket.create_connection((host, port), timeout=_PATIENCE)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
