"""The operators and their contract."""
