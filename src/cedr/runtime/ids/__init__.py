"""IDs of many rows at once, and what is known by them."""
