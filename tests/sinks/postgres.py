"""A real PostgreSQL server on loopback, in a temporary folder; where there is none, the reason."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
MISSING = "no PostgreSQL server here: apt-get install postgresql"


def binaries() -> Path | None:
    """The folder of initdb and pg_ctl."""
    on_path = shutil.which("pg_ctl")
    found = [Path(on_path).resolve().parent] if on_path else []
    return next(
        (each for each in (*found, *_FOLDERS) if (each / "initdb").exists() and (each / "pg_ctl").exists()), None
    )


@contextmanager
def server() -> Iterator[str]:
    """The connection string of a new server, which ends with the block."""
    folder = binaries()
    assert folder is not None
    place = Path(tempfile.mkdtemp(prefix="cedr-pg-"))
    who = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    if who:  # the server refuses to run as root
        shutil.chown(place, "nobody", "nogroup")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    data = place / "data"
    options = f"-h 127.0.0.1 -p {port} -k {place} -c fsync=off -c shared_buffers=32MB"

    def do(*command: str) -> None:
        subprocess.run([*who, *command], check=True, capture_output=True, cwd=place, timeout=120)

    control = str(folder / "pg_ctl")
    try:
        do(str(folder / "initdb"), "-D", str(data), "-U", "cedr", "-A", "trust", "--no-sync", "-E", "UTF8")
        do(control, "-D", str(data), "-w", "-l", str(place / "log"), "-o", options, "start")
        yield f"host=127.0.0.1 port={port} user=cedr dbname=postgres password=never-shown"
    finally:
        if (data / "postmaster.pid").exists():
            do(control, "-D", str(data), "-m", "immediate", "-w", "stop")
            time.sleep(0)
        shutil.rmtree(place, ignore_errors=True)
