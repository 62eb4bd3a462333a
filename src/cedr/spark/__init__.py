"""The Spark host: DataFrame in, DataFrame out.  The only folder that imports pyspark.

Paper: Section 5, Figure 7, once for each bucket of keys.  Spark distributes, checkpoints and recovers; the pipeline of
``cedr.consistency`` decides what to emit.  The path of an event:

    sources/events       describes which columns of a DataFrame are the header of an event
    plan/columns         makes the columns of the layout; drops what the query does not read
    map_task/pack        packs the rows of a map task: one Arrow blob for each bucket, and a head for all of them
    step/operator        the stateful operator of a stream: one group for each bucket
    step/worker          a Python worker in a batch: finds the pipeline of a bucket, steps, saves its state
    step/bucket          one step: packed rows in, changes and segments of state out
    state                the state of a bucket between two batches: in the checkpoint, and in worker processes
    bounded/run          bounded input: runs each bucket once
    matching/match_events matches events with subscriptions: no state, no shuffle
    output/next_stage    sends the changes of a stage to the buckets of the stage that reads them
    output/result_rows   makes rows of the result of what the stateful operator gave
    api/guarded          raises our error, not Spark's, when a worker fails

``session`` starts Spark with the settings that a query needs, and checks a session that the user made.

Only the public DataFrame API is used, so that all of it works under Spark Connect too.
"""

from __future__ import annotations

from cedr.spark.extra import check_imports

check_imports()
