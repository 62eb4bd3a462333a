"""Sources of a job on the local host: rows by offsets, so that they can be read again after a crash.

``contract`` says what a source is, ``kinds`` has the table of them.  What only one of them needs is imported by it.
"""
