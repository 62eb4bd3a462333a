"""The state of a bucket between two batches: in Spark's checkpoint, and as a pipeline that a worker process keeps."""
