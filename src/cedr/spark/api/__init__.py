"""``cedr.query``, ``cedr.match``, ``cedr.files`` and the host ``spark``."""
