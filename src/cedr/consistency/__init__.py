"""Consistency: what stands around the operators.

Paper: Sections 4 and 5.  It decides which messages are admitted and which rows are due (B), what is frozen and
forgotten (M), which guarantee leaves, and turns new results into inserts and retractions.
"""
