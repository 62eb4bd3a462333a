"""SNOOP's four contexts as corners of the grid of selection and consumption, on one worked example.

Paper: Section 3.2, "Instance Selection and Consumption", and reference [6].  Reading: R26: "recent = LAST A;
chronicle = FIRST A CONSUME, B CONSUME; continuous = A CONSUME, FIRST B; unrestricted = the default".

    time   1   2   3   4   5   6   7
    A      a1  a2      a3
    B              b1      b2      b3      (b3 finds a fresh a4 at 6)

The pairs are written out by hand from the definitions of the contexts.
"""

from __future__ import annotations

import pytest

from tests.semantics.running import lifetimes, matches, result

EVENTS = """
    A a1 1
    A a2 2
    B b1 3
    A a3 4
    B b2 5
    A a4 6
    B b3 7
"""


def sequence(first: str, second: str, scope: int = 100, tail: str = "") -> str:
    return f"EVENT Q WHEN SEQUENCE({first}, {second}, {scope}) {tail}"


def pairs(query: str, events: str = EVENTS) -> set[str]:
    return matches(query, events)


def test_unrestricted() -> None:
    """R26: every A with every later B."""
    assert pairs(sequence("A", "B")) == {
        "a1 b1",
        "a2 b1",
        "a1 b2",
        "a2 b2",
        "a3 b2",
        "a1 b3",
        "a2 b3",
        "a3 b3",
        "a4 b3",
    }


def test_recent() -> None:
    """R25, R26: a newer A replaces the one before it as initiator; it may initiate again and again."""
    assert pairs(sequence("LAST A", "B")) == {"a2 b1", "a3 b2", "a4 b3"}
    # no new A between two Bs: the recent one serves both
    assert pairs(sequence("LAST A", "B"), "A a1 1\nA a2 2\nB b1 3\nB b2 4") == {"a2 b1", "a2 b2"}


def test_chronicle() -> None:
    """R26: the oldest A with the oldest B, each used once: b1 takes a1, b2 takes a2, b3 takes a3; a4 waits."""
    assert pairs(sequence("FIRST A CONSUME", "B CONSUME")) == {"a1 b1", "a2 b2", "a3 b3"}


def test_continuous() -> None:
    """R25, R26: every A opens a window of its own, the first B closes all that are open."""
    assert pairs(sequence("A CONSUME", "FIRST B")) == {"a1 b1", "a2 b1", "a3 b2", "a4 b3"}


def test_cumulative() -> None:
    """R27: SNOOP's cumulative context gathers all As up to a B, uses them up, and begins anew after the B.

    As one instance per pair that is the continuous context; that nothing of the past contributes again is DISJOINT: one
    detection, with the first of the As that it used up.
    """
    assert pairs(sequence("A CONSUME", "FIRST B")) == {"a1 b1", "a2 b1", "a3 b2", "a4 b3"}
    assert pairs(sequence("A", "B", tail="DISJOINT")) == {"a1 b1", "a3 b2", "a4 b3"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (sequence("A", "B", 2), {"a1 b1", "a2 b1", "a3 b2", "a4 b3"}),
        (sequence("LAST A", "B", 2), {"a2 b1", "a3 b2", "a4 b3"}),
        (sequence("FIRST A CONSUME", "B CONSUME", 2), {"a1 b1", "a3 b2", "a4 b3"}),  # a2 is too old for b2
        (sequence("A CONSUME", "FIRST B", 2), {"a1 b1", "a2 b1", "a3 b2", "a4 b3"}),
    ],
)
def test_with_a_scope_that_snoop_does_not_have(query: str, expected: set[str]) -> None:
    """Paper: Section 3.2: "Most event processing systems, such as SNOOP [6], do not support scope".  R26."""
    assert pairs(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (sequence("LAST A", "B"), {"a1 b1", "a3 b2", "a4 b3"}),
        (sequence("FIRST A CONSUME", "B CONSUME"), {"a1 b1", "a3 b2", "a4 b3"}),
        (sequence("A CONSUME", "FIRST B"), {"a1 b1", "a3 b2", "a4 b3"}),
        (sequence("A", "B", tail="DISJOINT"), {"a1 b1", "a3 b2", "a4 b3"}),
    ],
)
def test_choices_are_made_again_when_an_event_is_withdrawn(query: str, expected: set[str]) -> None:
    """R28: without a2 every context chooses as if it had never been there."""
    without = "\n".join(line for line in EVENTS.splitlines() if " a2 " not in line)
    assert pairs(query, without) == expected


def test_detections_have_the_lifetime_of_the_sequence() -> None:
    """R11, R26: the context chooses among instances; what an instance is does not change."""
    assert lifetimes(result(sequence("LAST A", "B", 10), EVENTS)) == [
        ("a2 b1", 3, 12),
        ("a3 b2", 5, 14),
        ("a4 b3", 7, 16),
    ]
