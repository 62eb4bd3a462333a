"""What leaves a bucket: rows of the result, rows for the next stage, measures, errors."""
