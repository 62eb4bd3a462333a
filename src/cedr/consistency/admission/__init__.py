"""Messages become rows of tables, or dead letters; h and g move."""
