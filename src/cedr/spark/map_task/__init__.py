"""What map tasks do: read, split by bucket, pack."""
