"""Events, payloads and the IDs of outputs.  Paper: Section 3.3.1.  Readings: R2, R4, R8."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.model.event import EMPTY, Event, Payload, Value, freeze, primitive, primitive_contributors
from cedr.model.identity import encode, idgen, idgen_of
from cedr.model.time import FOREVER, Interval


def test_a_time_is_enough() -> None:
    """Reading: R2: Vs = time, Ve = FOREVER, Os = Vs, Oe = FOREVER, Rt = Vs, no contributors."""
    event = primitive("A", "a1", 5)
    assert event == Event("A", "a1", 5, FOREVER, 5, FOREVER, 5, (), EMPTY)
    assert (event.valid, event.occurrence) == (Interval(5, FOREVER), Interval(5, FOREVER))
    assert event.reference == ("A", "a1")


def test_versions_have_one_content_where_only_occurrence_differs() -> None:
    """Reading: R9."""
    one, other = primitive("A", "a", 5), primitive("A", "a", 5, occurrence_start=7, occurrence_end=9)
    assert one.content == other.content
    assert one.content != primitive("A", "a", 6).content


def test_contributors_are_flattened_in_pattern_order() -> None:
    """Paper: Section 3.3.1, cbt[]."""
    a, b, c = (primitive("A", name, 1) for name in "abc")
    inner = Event("Q", "q", 1, 2, 1, 2, 1, (b, a))
    assert primitive_contributors(Event("R", "r", 1, 2, 1, 2, 1, (inner, c))) == (b, a, c)
    assert primitive_contributors(a) == (a,)


def test_a_payload_is_immutable_and_compares_by_content() -> None:
    payload = Payload({"a": 1, "b": [2, {"c": 3}]})
    assert payload == Payload([("b", (2, Payload({"c": 3}))), ("a", 1)])
    assert hash(payload) == hash(Payload({"b": [2, {"c": 3}], "a": 1})) == hash(payload)
    assert payload != {"a": 1}
    assert (len(payload), list(payload), payload["a"]) == (2, ["a", "b"], 1)
    assert repr(payload) == "Payload(a=1, b=(2, Payload(c=3)))"
    assert freeze(payload) is payload
    assert primitive("A", "a", 1, payload=payload).payload is payload


def test_a_payload_says_what_it_cannot_hold() -> None:
    with pytest.raises(TypeError, match="of type set"):
        Payload({"a": {1}})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.decimals(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(), inner, max_size=3).map(Payload),
    max_leaves=6,
)


def spelled(value: Value) -> str:
    """A value with its types, so that 1, True and Decimal(1) differ."""
    if isinstance(value, Payload):
        return "{" + ",".join(f"{name!r}:{spelled(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, tuple):
        return "(" + ",".join(map(spelled, value)) + ")"
    return f"{type(value).__name__}:{value!r}"


@given(st.lists(values, max_size=3), st.lists(values, max_size=3))
def test_different_parts_have_different_ids(one: list[Value], other: list[Value]) -> None:
    """Reading: R8; paper: "different sets of input IDs will generate different output IDs"."""
    same = [spelled(value) for value in one] == [spelled(value) for value in other]
    assert (idgen("place", *one) == idgen("place", *other)) == same


def test_ids_are_the_same_everywhere_and_for_ever() -> None:
    """Reading: R8: on every machine and after every restart; if this changes, running queries lose their past."""
    a, b = primitive("A", "x", 1), primitive("B", "x", 2)
    assert idgen("SEQUENCE", "a", "b") == "3e6333c95adfc11540beca6ae7227f8a"
    assert len(idgen("p")) == 32
    assert idgen_of("p", (a, b)) == idgen("p", "A", "x", "B", "x")
    assert len({idgen_of("p", (a, b)), idgen_of("p", (b, a)), idgen_of("q", (a, b))}) == 3


def test_encoding_is_prefix_free() -> None:
    """Reading: R8."""
    assert encode("ab") == b"str:2:ab"
    assert encode((1, b"\x00")) != encode((1, "\x00"))
    assert encode(Payload({"a": 1, "b": 2})) == encode(Payload({"b": 2, "a": 1}))
    assert encode(Decimal(1)) != encode(1)
    assert encode("\ud800")  # half a surrogate pair is no reason to fail
