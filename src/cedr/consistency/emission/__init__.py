"""Rows that are due become inserts, shortenings and retractions."""
