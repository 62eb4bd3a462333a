"""Workers of a stream take the number of buckets from the state that they work on.

Reading: R38 (a query goes on from its checkpoint).  Spark fixes the number of partitions of a state when a stream first
starts, keeps it in the checkpoint, and tells it to every task of every batch.  A bucket for each of them is what is
fastest; and a stream that goes on has as many as before, whatever is the default by then.
"""

from __future__ import annotations

from typing import Final

from cedr.spark.layout.layout import Layout

_TOLD: Final = ("spark.sql.streaming.internal.stateStore.partitions", "spark.sql.shuffle.partitions")
"""The properties of a task that tell it: that of the checkpoint, and where a Spark has none, that of the session."""


def followed(layout: Layout) -> Layout:
    """The layout for as many buckets as the state of the stream has partitions."""
    if not layout.follows:
        return layout
    from pyspark import TaskContext

    context = TaskContext.get()
    found = None if context is None else next(filter(None, map(context.getLocalProperty, _TOLD)), None)
    return layout if found is None else layout.over(int(found))
