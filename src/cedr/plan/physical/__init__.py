"""The physical plan: which operators run, and on which keys.  ``choose`` makes it of a logical plan."""
