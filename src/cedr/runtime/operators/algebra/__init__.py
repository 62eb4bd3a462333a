"""The operators of Section 6, on rows that matter while they are alive."""
