"""``cedr.events``: data, and which of its columns are the header of an event; on Spark or in this process.

Paper: Section 3.3.1 (the header).  Readings: R2 (what may be left out), R3 (messages), R50 (units of time).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from cedr.data.opening import LocalEvents, local_events


def events(data: Any, **words: Any) -> Any:
    """Rows of data, or of data for each event type, as messages.

    ``data`` is a DataFrame of Spark, for ``cedr.query``; or, for ``cedr.evaluate`` and ``cedr.run``, a path, a data
    frame of pandas or polars, an Arrow table, or rows as dictionaries.  A dictionary has data by event type.  Join two
    with ``|``.

    ``type`` is the column that tells the type of an event, or, where no column has that name, the type of all rows.
    ``time`` is Vs; ``time_unit`` (s, ms, us, ns, ticks) is the unit of times that are whole numbers, ``time_format``
    how they are written as text, ``zone`` the zone of those that have none.  Without ``id`` an event is known by all
    its values.  ``valid_end``, ``occurrence_start``, ``occurrence_end`` and ``key`` are columns too; what is left out,
    or NULL, has its default (R2).

    ``change`` tells "insert" (or NULL), "retract" and "guarantee" apart (R3).  ``guarantee`` is a column in which every
    row carries one; ``disorder`` says that no event is later than this behind the newest one of its source.
    ``provider`` is a column, or with quotes around it (``"'plant 1'"``) the name of one.  ``arrival`` is the CEDR time
    of a recorded history.  ``attributes`` names the columns that are attributes, by default all others.

    Raises ``StreamError`` for what is no data, and for words that do not fit it.
    """
    some = next(iter(data.values()), None) if isinstance(data, Mapping) else data
    if hasattr(some, "sparkSession"):
        return import_module("cedr.spark.sources.events").events(data, **words)  # by name: the hosts stand below Spark
    found: LocalEvents = local_events(data, {name: value for name, value in words.items() if value is not None})
    for source in found.sources:
        source.header()
    return found
