"""Events as Spark columns: header, times, types; and what is said to a running query."""
