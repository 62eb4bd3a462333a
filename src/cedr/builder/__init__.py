"""Queries as Python expressions.

Paper: Section 3.  What is built here is the same tree that the language's text becomes, so it is checked, planned and
evaluated in the same way, and ``to_text()`` shows it as text.
"""
