"""What driver and workers agree on: the columns of messages, the tokens of buckets, faults of files."""
