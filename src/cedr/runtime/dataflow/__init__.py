"""A plan as operators in their order."""
