"""The runtime: plans evaluated on changes, in columns.

Paper: Section 6 (operators on streams of changes).  An operator is columnar and pure: rows in, rows out; it knows
neither its host nor its consistency level.  The meaning is that of ``cedr.semantics``, which this never imports.
"""
