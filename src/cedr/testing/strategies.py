"""Hypothesis strategies for events, histories, how these arrive, and queries over them.

    small_catalog       the event types A, B, C with the attributes k, v, s
    events, histories   plain events; plain histories of them
    revised_histories   with modifications, closings and statements after the fact
    messages_of         the ideal messages of a history
    retraction_paths    other messages that amount to the same history
    arrival_orders      any order, any batches
    guaranteed          guarantees put in where they are true
    arrivals            all of these at once
    patterns            files of one WHEN query
    relations           files of one FROM query
    compositions        files of queries that use each other by name
    files               files of everything that the language has
    levels              consistency levels

Paper: Section 4 (logically equivalent streams), Definition 6.  Queries compile against the catalog by construction.
Needs the extra ``testing``.
"""

from __future__ import annotations

from cedr.testing.arrivals import (
    arrival_orders,
    arrivals,
    batched,
    guaranteed,
    messages_of,
    nearly_ordered,
    retraction_paths,
    syncs_of,
)
from cedr.testing.histories import (
    events,
    histories,
    payloads,
    revised_histories,
    small_catalog,
    tables_of,
)
from cedr.testing.patterns import pattern_bodies
from cedr.testing.queries import compositions, files, levels, patterns, relations, slices
from cedr.testing.relations import relation_bodies

__all__ = [
    "arrival_orders",
    "arrivals",
    "batched",
    "compositions",
    "events",
    "files",
    "guaranteed",
    "histories",
    "levels",
    "messages_of",
    "nearly_ordered",
    "pattern_bodies",
    "patterns",
    "payloads",
    "relation_bodies",
    "relations",
    "retraction_paths",
    "revised_histories",
    "slices",
    "small_catalog",
    "syncs_of",
    "tables_of",
]
