"""Makes the layout of a query on given events: key, stages, slices of time, columns."""
