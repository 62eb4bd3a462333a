"""CIDR07_Example, the paper's own query (Section 3.1), from text to output with hand-made events."""

from __future__ import annotations

import pytest

from tests.semantics.running import matches, result, values

EXAMPLE = """
EVENT CIDR07_Example
WHEN UNLESS(SEQUENCE(INSTALL x, SHUTDOWN AS y, 12 hours), RESTART AS z, 5 minutes)
WHERE {x.Machine_Id = y.Machine_Id} AND {x.Machine_Id = z.Machine_Id}
"""

BY_KEY = """
EVENT SameByKey
WHEN UNLESS(SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 12 hours), RESTART AS z, 5 minutes)
WHERE CorrelationKey(Machine_Id, EQUAL)
"""

QUERIES = pytest.mark.parametrize("query", [EXAMPLE, BY_KEY], ids=["parameterised", "correlation key"])

BASE = """
INSTALL  i1 06:00 Machine_Id=m1
SHUTDOWN s1 17:00 Machine_Id=m1
"""


@QUERIES
def test_install_then_shutdown_without_restart(query: str) -> None:
    """Section 3.1."""
    assert matches(query, BASE) == {"i1 s1"}


@QUERIES
@pytest.mark.parametrize(
    ("restart", "found"),
    [("17:00", True), ("17:00:01", False), ("17:04:59", False), ("17:05", True), ("16:59", True)],
)
def test_restart_at_the_edges_of_five_minutes(query: str, restart: str, found: bool) -> None:
    """R15: strictly after the shutdown and strictly before five minutes are over; at exactly five it is too late."""
    assert bool(matches(query, BASE + f"RESTART r1 {restart} Machine_Id=m1")) is found


@QUERIES
@pytest.mark.parametrize(("shutdown", "found"), [("17:59:59", True), ("18:00", True), ("18:00:01", False)])
def test_shutdown_at_the_edge_of_twelve_hours(query: str, shutdown: str, found: bool) -> None:
    """R11: at exactly twelve hours it is still a sequence."""
    events = f"INSTALL i1 06:00 Machine_Id=m1\nSHUTDOWN s1 {shutdown} Machine_Id=m1"
    assert bool(matches(query, events)) is found


@QUERIES
def test_equal_timestamps_never_follow_each_other(query: str) -> None:
    """R11, R15: a shutdown at the very time of the install is no sequence; a restart with the shutdown no cancel."""
    events = """
        INSTALL  i1 06:00 Machine_Id=m1
        SHUTDOWN s1 06:00 Machine_Id=m1
        SHUTDOWN s2 07:00 Machine_Id=m1
        RESTART  r1 07:00 Machine_Id=m1
    """
    assert matches(query, events) == {"i1 s2"}


@QUERIES
def test_a_restart_on_another_machine_does_not_count(query: str) -> None:
    """R21, R22: the predicate on z is part of "there does not exist"."""
    assert matches(query, BASE + "RESTART r1 17:01 Machine_Id=m2") == {"i1 s1"}


@QUERIES
def test_a_shutdown_of_another_machine_does_not_count(query: str) -> None:
    """R21."""
    assert matches(query, BASE.replace("17:00 Machine_Id=m1", "17:00 Machine_Id=m2")) == set()


@QUERIES
def test_machines_are_independent_and_every_pair_counts(query: str) -> None:
    """R11: EACH is the default: all pairs of one machine."""
    events = """
        INSTALL  i1 06:00 Machine_Id=m1
        INSTALL  i2 07:00 Machine_Id=m1
        INSTALL  i3 07:30 Machine_Id=m2
        SHUTDOWN s1 08:00 Machine_Id=m1
        SHUTDOWN s2 09:00 Machine_Id=m2
        SHUTDOWN s3 10:00 Machine_Id=m1
        RESTART  r1 08:03 Machine_Id=m1
    """
    assert matches(query, events) == {"i1 s3", "i2 s3", "i3 s2"}


@QUERIES
def test_a_machine_without_a_name_matches_nothing(query: str) -> None:
    """R22: a NULL agrees with nothing."""
    assert matches(query, BASE.replace("m1", "null")) == set()


def test_the_output_has_the_lifetime_of_unless_and_all_payloads() -> None:
    """R15, R23."""
    (row,) = result(
        "TYPE INSTALL (Machine_Id TEXT); TYPE SHUTDOWN (Machine_Id TEXT); TYPE RESTART (Machine_Id TEXT);" + EXAMPLE,
        BASE,
    )
    assert row.valid_end - row.valid_start == 5 * 60 * 1_000_000
    assert values([row]) == [{"x_Machine_Id": "m1", "y_Machine_Id": "m1"}]
