"""What is known: tables of rows, relations over them, sorted stores, key codes."""
