"""Segments come back as they were."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cedr.spark.state.segments import compress_segments, decompress_segment


@pytest.mark.parametrize("segment", [b"", b"[1]", b"\xff\xff\xff\xff" + bytes(10_000), b"[" + b"1," * 5_000 + b"1]"])
def test_round_trip(segment: bytes) -> None:
    (written,) = compress_segments({"a": segment}).values()
    assert written is not None
    assert decompress_segment(written) == segment
    assert len(written) <= max(len(segment), 9)


def test_the_stored_form_stays() -> None:
    """Old checkpoints have it: short segments as they are, long ones after a letter and their length."""
    (short, long) = compress_segments({"a": b"[1]", "b": bytes(4_096)}).values()
    assert short == b"[1]"
    assert long is not None
    assert long[:9] == b"Z" + (4_096).to_bytes(8, "little")
    assert pa.Codec("zstd").decompress(long[9:], 4_096, asbytes=True) == bytes(4_096)


def test_what_is_dropped_stays_dropped() -> None:
    assert compress_segments({"a": None}) == {"a": None}
