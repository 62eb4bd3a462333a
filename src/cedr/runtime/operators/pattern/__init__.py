"""The pattern operators, one stem for each."""
