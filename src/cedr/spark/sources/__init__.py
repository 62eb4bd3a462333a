"""Events as Spark columns: header, times, types; and control messages for a running query."""
