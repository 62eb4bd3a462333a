"""A command as someone sees it who has started it on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Sequence
from pathlib import Path

_PATIENCE = 120
"""Seconds for a command to end once it has closed its terminal."""


def on_terminal(
    command: Sequence[str], folder: Path | None = None, columns: int = 120, *, errors_only: bool = False
) -> tuple[int, str]:
    """The status and what is printed: by standard error alone, or by standard output too."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "LINES": "40"}
    environment.pop("NO_COLOR", None)
    output = subprocess.DEVNULL if errors_only else follower
    with subprocess.Popen(command, cwd=folder, stdout=output, stderr=follower, env=environment) as process:
        os.close(follower)
        printed = b""
        try:
            while part := os.read(leader, 4096):
                printed += part
        except OSError:  # Linux says so when the other side is closed
            pass
        os.close(leader)
        return process.wait(timeout=_PATIENCE), printed.decode()
