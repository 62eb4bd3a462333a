"""Arithmetic on columns of time: saturating at both ends, absorbing at FOREVER.  Reading: R1."""

from __future__ import annotations

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.runtime.store.table import Rows


def later(times: Rows, duration: int) -> Rows:
    """``times + duration``, column by column what ``cedr.model.time.plus`` is for one time.

    >>> later(np.array([3, FOREVER]), 4).tolist() == [7, FOREVER]
    True
    """
    if duration == 0 or not len(times):
        return times
    if duration == FOREVER:
        return np.full(len(times), FOREVER)
    if duration > 0 and int(times.max()) <= FOREVER - duration:
        plainly: Rows = times + duration
        return plainly
    if duration > 0:
        moved: Rows = np.where(times > FOREVER - duration, FOREVER, times + min(duration, FOREVER))
        return moved
    if int(times.min()) >= BEGINNING - duration and int(times.max()) < FOREVER:
        back: Rows = times + duration
        return back
    reached = times < BEGINNING - duration
    return np.where(times == FOREVER, FOREVER, np.where(reached, BEGINNING, times - np.where(reached, 0, -duration)))


def earlier(times: Rows, duration: int) -> Rows:
    """``times - duration``; a duration without an end reaches back to the beginning."""
    return np.full(len(times), BEGINNING) if duration == FOREVER else later(times, -duration)


def until(times: Rows) -> Rows:
    """The last instant before some times; FOREVER has none."""
    if len(times) and int(times.max()) < FOREVER:
        before: Rows = times - 1
        return before
    return np.where(times == FOREVER, FOREVER, times - 1)


def until_before(line: Time, before: int) -> Time:
    """A line drawn earlier by a duration; one that is at the beginning, or without an end, leaves nothing behind it."""
    return BEGINNING if line == BEGINNING or before == FOREVER else plus(line, -before)
