"""The query language (Section 3): text to a checked tree, and back to text."""
