"""The current view: a table that is always equal to the latest belief of a query.  Readings: R10, R48.

``table`` has what all databases have in common: checks, the number of the last batch, one transaction for each batch.
"""
