"""Segments come back as they were."""

from __future__ import annotations

import pytest

from cedr.spark.state.segments import compress_segments, decompress_segment


@pytest.mark.parametrize("segment", [b"", b"[1]", b"\xff\xff\xff\xff" + bytes(10_000), b"[" + b"1," * 5_000 + b"1]"])
def test_round_trip(segment: bytes) -> None:
    (written,) = compress_segments({"a": segment}).values()
    assert written is not None
    assert decompress_segment(written) == segment
    assert len(written) <= max(len(segment), 9)


def test_what_is_dropped_stays_dropped() -> None:
    assert compress_segments({"a": None}) == {"a": None}
