"""Values in columns: arrays, texts, nested values, and the memory that they take."""
