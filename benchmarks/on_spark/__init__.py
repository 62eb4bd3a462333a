"""How fast the Spark host is, beside pipelines that do nothing, the query by hand, and Spark's own operators."""
