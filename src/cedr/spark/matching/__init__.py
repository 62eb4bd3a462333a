"""Events of Spark and the subscriptions that they match."""
