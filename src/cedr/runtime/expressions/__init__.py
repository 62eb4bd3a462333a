"""Expressions over many rows at once."""
