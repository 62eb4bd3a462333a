"""The three applications of the paper's introduction on one feed, each at its level.

Paper: Section 1 (moving average at a trader's desk, news and market indicators, compliance).  Reading: R35.
"""

from __future__ import annotations

from collections import Counter

import pytest

import cedr
import desk

Rows = Counter[tuple[object, ...]]


@pytest.fixture(scope="module")
def rows() -> list[desk.Row]:
    return desk.day()


def standing(said: desk.Said) -> Rows:
    """The rows that stand."""
    return Counter((start, end, *row.values()) for start, end, row in said.rows)


def meant(rows: list[desk.Row], event: str) -> Rows:
    """The latest belief of the oracle on the whole feed."""
    found = cedr.evaluate(desk.TEXT, map(desk.message, rows), event=event, host="oracle")
    times = ((desk.instant(row.valid_start), desk.instant(row.valid_end), row) for row in found.rows)
    return Counter(
        (start, end, *row.payload.values()) for start, end, row in times if row.occurrence_end == cedr.FOREVER
    )


def test_the_feed_has_everything_that_goes_wrong(rows: list[desk.Row]) -> None:
    """Late ticks, corrections that are stated after the fact, retractions; the same each time."""
    assert rows == desk.day()
    ticks = [row["vs"] for row in rows if row.get("type") == "TICK" and row["change"] == "insert"]
    assert ticks != sorted(ticks)
    assert sum("os" in row for row in rows) > 1
    assert sum(row["change"] == "retract" for row in rows) > 1


@pytest.mark.parametrize("event", ["Reaction", "Breach"])
def test_what_stands_is_what_the_whole_feed_means(rows: list[desk.Row], event: str) -> None:
    """Reading: R35: with M = FOREVER the end does not depend on how the feed arrived."""
    assert standing(desk.on_local(rows, event)) == meant(rows, event)


def test_each_level_does_what_it_is_for(rows: list[desk.Row]) -> None:
    """WEAK says most and repairs little, MIDDLE takes back what was wrong, STRONG takes nothing back."""
    portfolio, reaction, breach = (desk.on_local(rows, event) for event in desk.QUERIES)
    assert breach.taken_back == 0
    assert reaction.taken_back > len(reaction.rows)
    assert portfolio.taken_back < portfolio.emitted / 10
    now = max(start for start, _, _ in portfolio.rows)
    assert any(start == now for start, *_ in meant(rows, "Portfolio"))
