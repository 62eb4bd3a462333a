"""The denotation of every plan by brute force, on plain tables."""

from __future__ import annotations

from tests.properties import brute_patterns, brute_relations
from tests.properties.denoting import meaning

__all__ = ["brute_patterns", "brute_relations", "meaning"]
