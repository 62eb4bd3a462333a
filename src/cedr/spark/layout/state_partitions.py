"""The number of buckets of a stream: one for each partition of its state.

Reading: R38 (a query continues from its checkpoint).  Spark fixes the number of partitions when a stream starts for the
first time, stores it in the checkpoint, and tells it to every task of every batch.  One bucket for each partition is
fastest, and a stream that continues has as many as before, whatever the default is then.
"""

from __future__ import annotations

from typing import Final

from cedr.spark.layout.layout import Layout

_PROPERTIES: Final = ("spark.sql.streaming.internal.stateStore.partitions", "spark.sql.shuffle.partitions")
"""The properties of a task that have the number: of the checkpoint, and for a Spark without it, of the session."""


def with_state_partitions(layout: Layout) -> Layout:
    """The layout with as many buckets as the state of the stream has partitions."""
    if not layout.buckets_from_state:
        return layout
    from pyspark import TaskContext

    context = TaskContext.get()
    number = None if context is None else next(filter(None, map(context.getLocalProperty, _PROPERTIES)), None)
    return layout if number is None else layout.with_buckets(int(number))
