"""Segments of state as they lie in the checkpoint: packed tightly, since each passes a socket, a log and a disk.

What is short is left as it is.  A packed segment begins with a letter that neither Arrow nor JSON begins with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

_MARK: Final = b"Z"
_WIDTH: Final = 8
_SHORT: Final = 4_096


def tight(segments: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """Segments to be written; None where one is to be dropped."""
    return {name: None if segment is None else _packed(segment) for name, segment in segments.items()}


def loose(written: bytes) -> bytes:
    """A segment as it was."""
    if not written.startswith(_MARK):
        return written
    size = int.from_bytes(written[1 : 1 + _WIDTH], "little")
    found: bytes = pa.Codec("zstd").decompress(pa.py_buffer(written)[1 + _WIDTH :], size, asbytes=True)
    return found


def _packed(segment: bytes) -> bytes:
    if len(segment) < _SHORT:
        return segment
    packed: bytes = pa.Codec("zstd").compress(segment, asbytes=True)
    return _MARK + len(segment).to_bytes(_WIDTH, "little") + packed
