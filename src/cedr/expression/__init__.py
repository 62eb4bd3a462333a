"""Scalar expressions: the tree, its types, its functions and its value under SQL's three-valued logic."""
