"""Compresses segments of state for the checkpoint: each passes a socket, a log and a disk.

A short segment stays as it is.  A compressed segment begins with a letter with which neither Arrow nor JSON begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

_MARK: Final = b"Z"
_WIDTH: Final = 8
"""Bytes of the number after the mark: the length of the segment before compression."""
_SHORT: Final = 4_096
"""A segment with fewer bytes is not compressed."""


def compress_segments(segments: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """Compress segments before they are saved; None marks a segment that is to be deleted."""
    return {name: None if segment is None else _compressed(segment) for name, segment in segments.items()}


def decompress_segment(stored: bytes) -> bytes:
    """Undo the compression of one segment."""
    if not stored.startswith(_MARK):
        return stored
    size = int.from_bytes(stored[1 : 1 + _WIDTH], "little")
    segment: bytes = pa.Codec("zstd").decompress(pa.py_buffer(stored)[1 + _WIDTH :], size, asbytes=True)
    return segment


def _compressed(segment: bytes) -> bytes:
    if len(segment) < _SHORT:
        return segment
    compressed: bytes = pa.Codec("zstd").compress(segment, asbytes=True)
    return _MARK + len(segment).to_bytes(_WIDTH, "little") + compressed
