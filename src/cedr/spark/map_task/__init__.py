"""Map tasks: read files, split rows by bucket, pack them; and the inverse, for the buckets."""
