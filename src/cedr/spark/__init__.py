"""The Spark host: DataFrame in, DataFrame out.  The only folder that imports pyspark.

Paper: Section 5, Figure 7, once for each bucket of keys.  Spark distributes, checkpoints and recovers; the pipeline of
``cedr.consistency`` decides what is true.  The path of an event:

    sources/events     which columns of a DataFrame are the header of an event
    plan/columns       the header as Spark columns; what the query does not read goes no further
    map_task/pack      rows of a map task become one Arrow blob for each bucket, with what all buckets must know; of
                       bounded input one for each share of a bucket
    step/bucket        the pipeline of one bucket: blobs in, what is said out
    step/bounded       one bucket for each partition, once, share by share
    step/chaining      where a query needs several keys: from the buckets of one stage to those of the next
    api/streaming      one bucket for each key of a stateful operator, batch after batch
    step/stepping      one batch of one bucket: the pipeline is found or restored, steps, and is written
    step/unpack        what the stateful operator gave, as rows again
    output/rows        what was said, as columns of the result
    api/guarding       what the result raises when a worker fails: our error, not Spark's

``session`` starts a Spark that has all that is needed, and looks whether another one has.

Only the public DataFrame API is used, so that all of it works under Spark Connect too.
"""

from __future__ import annotations

from cedr.spark.extra import check_imports

check_imports()
