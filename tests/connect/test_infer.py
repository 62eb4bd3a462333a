"""Event types inferred from messages.  Reading: R37."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cedr.connect.infer import widened
from cedr.connect.messages import take_messages
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.stream import Insert
from cedr.model.time import FOREVER


def given(id: str = "a", vs: int = 1, payload: Mapping[str, object] | None = None, **more: object) -> dict[str, object]:  # noqa: A002
    return {"insert": {"type": "A", "id": id, "vs": vs, "payload": payload or {}, **more}}


def inferred(*messages: dict[str, object]) -> EventType:
    found = take_messages(messages)
    assert found.dead_letters == []
    return found.types.types["A"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1], DataType.INTEGER),
        ([1, 2.5], DataType.FLOAT),
        ([2.5, 1], DataType.FLOAT),
        (["x"], DataType.STRING),
        ([True], DataType.BOOLEAN),
        ([True, 1], DataType.ANY),
        (["x", 1], DataType.ANY),
        (["x", None], DataType.STRING),
        ([None], DataType.ANY),
        ([[1]], DataType.LIST),
        ([{"y": 1}], DataType.STRUCT),
    ],
)
def test_an_attribute_has_the_type_of_its_values(values: list[object], expected: DataType) -> None:
    found = inferred(*(given(str(number), payload={"x": value}) for number, value in enumerate(values)))
    assert found.attributes == {"x": expected}
    assert not found.open


def test_null_is_of_any_type() -> None:
    assert widened(DataType.NULL, DataType.NULL) == DataType.NULL


def test_payloads_get_one_shape() -> None:
    """Missing attributes are NULL, and integers among floats are floats."""
    found = take_messages([given("a", payload={"x": 1}), given("b", payload={"y": "n", "x": 2.5})])
    payloads = [list(message.event.payload.items()) for _, message in found.messages if isinstance(message, Insert)]
    assert payloads == [[("x", 1.0), ("y", None)], [("x", 2.5), ("y", "n")]]
    assert isinstance(payloads[0][0][1], float)


def test_a_type_without_any_attribute_is_open() -> None:
    assert inferred(given()).open


def test_plain_events_are_not_revisable() -> None:
    """R37: undeclared is d = 0; removals and shortened validity are no revisions."""
    found = inferred(
        given("a", k="K"),
        given("a", k="K"),
        given("b", vs=2, os=1, k="L"),
        {"retract": {"k": "K", "ve": 3}},
        {"retract": {"k": "K", "oe": 1}},
        {"retract": {"k": "L"}},
        {"retract": {"k": "unknown", "oe": 7}},
    )
    assert found.revisable == 0


@pytest.mark.parametrize(
    "messages",
    [
        [given("a"), given("a", os=3, vs=5)],
        [given("a", vs=1, os=2)],
        [given("a", oe=9)],
        [given("a", k="K"), {"retract": {"k": "K", "oe": 3}}],
        [{"retract": {"k": "K", "oe": 3}}, given("a", k="K")],
    ],
    ids=["a second version", "stated after the fact", "closed", "closed later", "closed before it came"],
)
def test_revisions_in_the_file_make_a_type_revisable(messages: list[dict[str, object]]) -> None:
    """R37: a type inferred from a file that holds revisions is REVISABLE."""
    assert inferred(*messages).revisable == FOREVER


def test_what_is_declared_is_not_inferred() -> None:
    declared = EventType("A", {"x": DataType.DECIMAL}, revisable=7)
    found = take_messages([given("a", payload={"x": 1}), given("a", os=3)], EventTypes({"A": declared}))
    assert found.types.types == {"A": declared}
