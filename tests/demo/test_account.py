"""What a level has said, from its changes.  Readings: R3, R5, R8."""

from __future__ import annotations

from dataclasses import replace

from cedr.model.event import Event, primitive
from cedr.model.stream import Retract
from cedr.model.time import FOREVER
from cedr_demo.account import Account, Told


def said(id_: str, start: int, key: str | None = None) -> Told:
    return Told("MIDDLE", True, key or id_, primitive("Alert", id_, start, start + 5))


def retracted(told: Told, **ends: int) -> Told:
    return told._replace(inserted=False, event=replace(told.event, **ends))


def test_rows_that_are_removed_are_gone_and_rows_that_are_closed_stay() -> None:
    account = Account()
    for told in (said("a", 1), said("b", 2), said("c", 3)):
        account.take(told, 0)
    account.take(retracted(said("a", 1), occurrence_end=1), 0)
    account.take(retracted(said("b", 2), occurrence_end=4), 0)
    assert (account.said, account.removed, account.closed, account.changes) == (3, 1, 1, 5)
    assert {(row.id, row.occurrence_end) for row in account.table()} == {("b", 4), ("c", FOREVER)}


def test_a_row_that_comes_again_is_not_swallowed() -> None:
    """R8: K holds the CEDR time, so that reduction does not take the second for a repetition of the first."""
    account = Account()
    first, again = said("a", 1, "a@1/1"), said("a", 1, "a@1/2")
    account.take(first, 0)
    account.take(retracted(first, occurrence_end=1), 0)
    account.take(again, 0)
    assert len(account.table().reduced()) == 1


def test_waits_are_those_of_inserts() -> None:
    account = Account()
    account.take(said("a", 1), 4)
    account.take(said("b", 1), 8)
    account.take(retracted(said("a", 1), occurrence_end=1), 100)
    assert (account.usual_wait, account.longest) == (6, 8)
    assert Account().usual_wait == 0


def test_a_retraction_as_a_message_names_the_ends_that_moved() -> None:
    before: Event = said("a", 1).event
    assert retracted(said("a", 1), occurrence_end=1).as_change(9, before).message == Retract("a")
    assert retracted(said("a", 1), occurrence_end=3).as_change(9, before).message == Retract("a", 3, None)
    assert retracted(said("a", 1), valid_end=3).as_change(9, before).message == Retract("a", None, 3)
    assert said("a", 1).as_change(9, before).kind == "insert"
