"""What a test of streams and queries needs, shipped with the package.

- ``tables``: history tables as text in the paper's own notation, read and written (``grid``: the notation itself);
- ``difference``: equality of tables, with a difference that can be read;
- ``order``: is a query the same in every order of arrival?  (``deliveries``, ``promises``, ``smaller`` are its parts);
- everything else: Hypothesis strategies, which need the extra ``testing``.
"""
