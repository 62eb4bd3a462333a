"""idgen: IDs of outputs.

Paper: Section 3.3.2, "a pairing function idgen … different sets of input IDs will generate different output IDs".
Reading: R8.  128 bits of BLAKE2b over a prefix-free encoding of the operator's place and its parts, so that the ID is
the same on every machine and after every restart.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from cedr.model.event import Event, Payload, Value


def idgen(place: str, *parts: Value) -> str:
    """The ID made of an operator's place in the query and an ordered list of parts.  Reading: R8.

    >>> idgen("SEQUENCE", "a", "b") != idgen("SEQUENCE", "ab", ""), len(idgen("p"))
    (True, 32)
    """
    digest = blake2b(digest_size=16)
    for part in (place, *parts):
        digest.update(encode(part))
    return digest.hexdigest()


def idgen_of(place: str, contributors: Iterable[Event]) -> str:
    """The ID of a composite over its ordered contributors' streams and IDs.  Reading: R8."""
    return idgen(place, *(part for event in contributors for part in event.reference))


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
