"""What all pattern operators share: inputs, affected ranges, beliefs, choices."""
