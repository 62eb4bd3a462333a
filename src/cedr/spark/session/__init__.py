"""Starts and checks Spark: Java, packages, sessions."""
