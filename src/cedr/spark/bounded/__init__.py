"""Bounded input: each bucket runs its pipeline once."""
