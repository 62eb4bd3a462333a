"""idgen: IDs of outputs.

Paper: Section 3.3.2, "a pairing function idgen … different sets of input IDs will generate different output IDs".
Reading: R8.  Each part, in a prefix-free encoding, has a digest of 128 bits, and the ID is the digest of the digests:
the same on every machine and after every restart.  As all digests are equally long, the ID of a row follows from two
words per part, whatever the parts are, and the IDs of many rows can be computed column by column.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from cedr.model.event import Event, Payload, Value
from cedr.model.murmur import murmur


def idgen(place: str, *parts: Value) -> str:
    """The ID made of an operator's place in the query and an ordered list of parts.  Reading: R8.

    The text has the order of the two halves of the digest.

    >>> idgen("SEQUENCE", "a", "b") != idgen("SEQUENCE", "ab", ""), len(idgen("p"))
    (True, 32)
    """
    return "%016x%016x" % murmur(b"".join(map(_digest_bytes, (place, *parts))))  # noqa: UP031 - a pair as it comes


def idgen_of(place: str, contributors: Iterable[Event]) -> str:
    """The ID of a composite over its ordered contributors' streams and IDs.  Reading: R8."""
    return idgen(place, *(part for event in contributors for part in event.reference))


def digest(value: Value) -> tuple[int, int]:
    """The two 64-bit halves of a part's digest.  Reading: R8.

    >>> digest("a") == murmur(b"str:1:a")
    True
    """
    return murmur(encode(value))


def _digest_bytes(value: Value) -> bytes:
    return _text_digest_bytes(value) if type(value) is str else _packed(digest(value))


@lru_cache(maxsize=1 << 16)
def _text_digest_bytes(text: str) -> bytes:
    """Streams, places and IDs come again and again."""
    return _packed(digest(text))


def _packed(halves: tuple[int, int]) -> bytes:
    high, low = halves
    return high.to_bytes(8, "little") + low.to_bytes(8, "little")


def encode(value: Value) -> bytes:
    """A prefix-free encoding: type, length, content.  Equal values, and only those, have equal encodings."""
    if isinstance(value, tuple):
        body = b"".join(encode(item) for item in value)
    elif isinstance(value, Payload):
        body = b"".join(encode(name) + encode(value[name]) for name in sorted(value))
    elif isinstance(value, bytes):
        body = value
    else:
        body = str(value).encode("utf-8", "surrogatepass")
    tag = type(value).__name__.encode()
    return b"%s:%d:%s" % (tag, len(body), body)
