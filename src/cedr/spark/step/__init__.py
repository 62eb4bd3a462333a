"""One step of one bucket: the stateful operator, the worker, the pipeline."""
