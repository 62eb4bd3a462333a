"""One step of a stream.

operator  what the driver asks of Spark: a stateful operator, one group for each bucket
worker    what a Python worker does in a batch: find the pipeline of each bucket, step, save its state
bucket    what a step is: packed rows in, changes and segments of state out
"""
