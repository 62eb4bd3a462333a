"""Event types, messages, modes and levels.  Readings: R3, R35, R37."""

from __future__ import annotations

import pytest

from cedr.model.event import primitive
from cedr.model.level import MIDDLE, NAMED_LEVELS, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.modes import Selection
from cedr.model.schema import TYPE_NAMES, DataType, EventType, EventTypes
from cedr.model.stream import Change, Guarantee, Insert, Retract, default_key, insert
from cedr.model.time import FOREVER, HOUR, MINUTE


def test_an_event_type_knows_its_attributes() -> None:
    """Reading: R37: undeclared revisions are none."""
    declared = EventType("A", {"x": DataType.INTEGER})
    assert (declared.attribute("x"), declared.attribute("y"), declared.revisable) == (DataType.INTEGER, None, 0)
    assert EventType("A", open=True).attribute("y") is DataType.ANY
    assert str(DataType.TIMESTAMP) == "TIMESTAMP"
    assert TYPE_NAMES["BIGINT"] is DataType.INTEGER


def test_a_catalog_knows_types_by_name() -> None:
    catalog = EventTypes()
    catalog.add(EventType("A"))
    catalog.add(EventType("A", revisable=3))
    assert [event_type.revisable for event_type in catalog] == [3]
    assert catalog.get("B") is None
    assert EventTypes(open=True).get("B") == EventType("B", open=True)


def test_messages() -> None:
    """Reading: R3: K defaults to (ID, Os); a retraction to neither end removes."""
    event = primitive("A", "a", 5)
    assert insert(event) == Insert(event, default_key(event))
    assert default_key(event) != default_key(primitive("A", "a", 5, occurrence_start=6))
    assert insert(event, "K", "p") == Insert(event, "K", "p")
    assert [Retract("K").removes, Retract("K", 3).removes, Retract("K", None, 3).removes] == [True, False, False]
    assert [Change(message, 1).kind for message in (insert(event), Retract("K"), Guarantee(3))] == [
        "insert",
        "retract",
        "guarantee",
    ]


def test_the_named_levels_are_the_corners_of_the_triangle() -> None:
    """Reading: R35; paper: Section 5."""
    assert NAMED_LEVELS == {"STRONG": STRONG, "MIDDLE": MIDDLE, "WEAK": WEAK}
    assert [str(level) for level in (STRONG, MIDDLE, WEAK)] == ["STRONG", "MIDDLE", "WEAK"]


def test_a_level_between() -> None:
    """Readings: R33, R34: bounds of application or CEDR time; a B beyond M acts as M."""
    level = ConsistencyLevel(Bound(2 * HOUR), Bound(5 * MINUTE))
    assert str(level) == "BLOCKING 2 hours MEMORY 5 minutes"
    assert level.effective_blocking == Bound(5 * MINUTE)
    mixed = ConsistencyLevel(Bound(2 * HOUR, cedr_time=True), Bound(5 * MINUTE))
    assert mixed.effective_blocking == mixed.blocking
    assert str(mixed.blocking) == "2 hours OF CEDR TIME"
    assert ConsistencyLevel(Bound(1), Bound(FOREVER)).effective_blocking == Bound(1)
    with pytest.raises(ValueError, match="M must not be negative"):
        ConsistencyLevel(Bound(0), Bound(-1))


def test_modes_are_the_words_of_the_language() -> None:
    """Reading: R25."""
    assert [mode.value for mode in Selection] == ["EACH", "FIRST", "LAST"]
