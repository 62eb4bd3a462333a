"""Measurements, each side by side in one run; results as JSON under .build/bench/."""
