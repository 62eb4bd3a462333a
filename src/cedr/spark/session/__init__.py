"""A Spark that has all that a query needs: Java, packages, sessions."""
