"""What was said, as columns of the result; measures."""
