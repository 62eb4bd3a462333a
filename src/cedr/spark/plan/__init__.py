"""From a query and events to a layout: keys, stages, slices, columns."""
