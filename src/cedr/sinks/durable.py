"""Files that are there after a power failure: written aside, synced, renamed, and their folder synced."""

from __future__ import annotations

import os
from pathlib import Path


def write_durably(path: Path, content: bytes) -> None:
    """A file that has this content or, until then, what it had."""
    hidden = path.with_name(f".{path.name}.part")
    try:
        with hidden.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(hidden, path)
        sync_folder(path.parent)
    finally:
        hidden.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Which names a folder has is on the disk too; some systems cannot, and need not, do that."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
