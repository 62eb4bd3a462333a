"""``cedr.query``, ``cedr.files`` and the host ``spark``."""
