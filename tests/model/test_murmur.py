"""The hash under IDs is the published one.  Reading: R8."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.model.identity import digest, encode, idgen
from cedr.model.murmur import murmur


@pytest.mark.parametrize(
    ("message", "halves"),
    [
        (b"", "0000000000000000 0000000000000000"),
        (b"hello", "cbd8a7b341bd9b02 5b1e906a48ae1d19"),
        (b"hello, world", "342fac623a5ebc8e 4cdcbc079642414d"),
        (b"19 Jan 2038 at 3:14:07 AM", "b89e5988b737affc 664fc2950231b2cb"),
        (b"The quick brown fox jumps over the lazy dog.", "cd99481f9ee902c9 695da1a38987b6e7"),
    ],
)
def test_murmur3_x64_128(message: bytes, halves: str) -> None:
    assert " ".join(f"{half:016x}" for half in murmur(message)) == halves


@given(st.lists(st.text(max_size=3) | st.integers() | st.binary(max_size=3), max_size=4))
def test_an_id_is_the_hash_of_the_digests_of_its_parts(parts: list[str | int | bytes]) -> None:
    """Reading: R8."""
    message = b"".join(half.to_bytes(8, "little") for part in ("place", *parts) for half in murmur(encode(part)))
    high, low = murmur(message)
    assert idgen("place", *parts) == f"{high:016x}{low:016x}"
    assert all(digest(part) == murmur(encode(part)) for part in parts)
