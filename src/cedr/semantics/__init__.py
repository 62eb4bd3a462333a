"""The oracle: the denotation of every operator on ideal history tables, written as the paper writes it.

Slow and obvious on purpose.  It shares nothing with any fast engine but ``model`` and ``expression``; every host is
tested against it.
"""
